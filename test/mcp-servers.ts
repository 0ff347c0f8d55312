/** Where the MCP servers and checkers of others lie, for tests. The needs `mcpServers` and `mcpCheckers` say whether they are there. */
export { MCP_CHECKERS, MCP_SERVERS } from '../scripts/mcp-servers.mjs';
