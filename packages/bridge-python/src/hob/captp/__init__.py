"""CapTP in the dialect `hob.1` (docs/wire.md): one end of a connection, over anything that carries frames.

- `connection`: how calls and answers pass through a connection. `fence` keeps a fault of ours to it.
- `dialect`, `encode`, `decode`, `structure`, `bigints`: frames and values.
- `exports` and `export_table`, `import_table` and `imports`, `answers` and `answer`, `questions`: the tables.
- `outbound`, `limits`: frames that leave, memory, the end. `flush`: order. `streams`: streams of ours that a
  peer holds.

The names are those of `packages/vat/src/captp`.
"""
