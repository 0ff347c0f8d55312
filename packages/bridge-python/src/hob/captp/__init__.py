"""CapTP in the dialect `hob.1` (docs/wire.md): one end of a connection, over anything that carries frames.

What is said and heard (`speech`, `hearing`, `values`, `structure`), the tables (`giving` and `exports`, `imports` and `remote`, `answer_table` and
`answers`, `waiting`), what all of them share (`line`, `limits`), and how calls and answers pass through (`connection`).
"""
