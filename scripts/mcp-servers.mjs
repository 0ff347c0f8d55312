/**
 * MCP servers of others that a test runs as caps, in `.toolchain/mcp-servers`. Pinned by `packages/mcp/test/real`.
 *
 * Plain JavaScript for Node 18.
 */
import { join } from 'node:path';
import { npmFolder } from './npm-folder.mjs';
import { ROOT } from './setup.mjs';

/** Where they are installed. */
export const MCP_SERVERS = join(ROOT, '.toolchain', 'mcp-servers');

export const { missing: mcpServersMissing, setUp: setUpMcpServers } = npmFolder({
  what: 'the MCP servers of others',
  from: join(ROOT, 'packages', 'mcp', 'test', 'real'),
  to: MCP_SERVERS,
  lock: 'mcp-servers-lock',
  size: '50 MB',
  how: 'npm run test:deep installs them',
});
