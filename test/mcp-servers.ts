/** Where the MCP servers of others lie, for tests of packages. The need `mcpServers` says whether they are there. */
export { MCP_SERVERS } from '../scripts/mcp-servers.mjs';
