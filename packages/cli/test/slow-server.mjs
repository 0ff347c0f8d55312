/** Delays the MCP server of `hob` by 6 s, as on a busy machine. By default Claude Code does not wait for it. */
if (process.argv[2] === 'mcp') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000);
