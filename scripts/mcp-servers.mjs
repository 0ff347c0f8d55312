/**
 * Programs of others that speak MCP, for tests: servers that a test runs as caps, in `.toolchain/mcp-servers` (pinned by
 * `packages/mcp/test/real`), and the conformance suite and the inspector, in `.toolchain/mcp-checkers` (pinned by
 * `packages/mcp/test/checkers`).
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

/** Where the conformance suite and the inspector are installed. */
export const MCP_CHECKERS = join(ROOT, '.toolchain', 'mcp-checkers');

export const { missing: mcpCheckersMissing, setUp: setUpMcpCheckers } = npmFolder({
  what: 'the conformance suite and the inspector of MCP',
  from: join(ROOT, 'packages', 'mcp', 'test', 'checkers'),
  to: MCP_CHECKERS,
  lock: 'mcp-checkers-lock',
  size: '150 MB',
  how: 'npm run test:deep installs them',
});
