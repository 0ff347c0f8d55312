"""The verdicts of the real Hermes, one JSON line at a time: `python3 -m hob.hermes_shim`.

A line `{"op": …}` comes back with `"verdict"` added. Every rule is Hermes' own: the modules of the installed
`hermes-agent` are called, and nothing of them is copied here. It is an oracle for comparisons (the
bisimulation, an audit). Nothing that grants authority imports it.
"""
