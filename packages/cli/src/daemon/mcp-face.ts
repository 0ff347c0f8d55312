/** The path `/mcp` of a served host: sessions over Streamable HTTP. */
import type { HttpFace } from '@hob/host';
import { version } from '@hob/host/line';

/**
 * Makes the face of one host. The face finds a session by its id. Sessions of two tenants of a process may have the
 * same id, so each host needs a face of its own.
 */
export function mcpFace(): HttpFace {
  let made: Promise<HttpFace> | undefined;
  // The library is loaded with the first request. A host without MCP clients needs no memory for it.
  return async (request, session) => {
    made ??= import('@hob/mcp/http').then(({ mcpOverHttp }) => mcpOverHttp({ version }));
    return await (await made)(request, session);
  };
}
