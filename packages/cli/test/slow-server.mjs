/** Delays the MCP server of `hob` by 12 s, as on a busy machine. By default Claude Code waits for 5 s, if at all. */
if (process.argv[2] === 'mcp') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 12_000);
