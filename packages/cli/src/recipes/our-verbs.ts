/** The verbs that Hob’s MCP server may offer (docs/mcp.md). `fetch` and `code` are offered by some sessions only. */
export const VERBS: readonly string[] = [
  ...[
    'caps',
    'read',
    'write',
    'edit',
    'list',
    'search',
    'run',
    'job',
    'fetch',
    'code',
    'call',
    'request_cap',
    'wait_for',
  ],
];
