/** Loaded before `hob`: its server of MCP starts as on a busy machine, after 6 s. Claude Code waits 5 s by itself. */
if (process.argv[2] === 'mcp') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000);
