"""What the real Hermes says and does, one JSON line at a time: `python3 -m hob.hermes_shim`.

A line `{"op": …}` comes back with `"verdict"` added. Every rule is Hermes' own: the modules of the installed `hermes-agent` are called, and
nothing of them is copied here. It is an oracle for comparing (the bisimulation, an audit): nothing that grants authority imports it.
"""
