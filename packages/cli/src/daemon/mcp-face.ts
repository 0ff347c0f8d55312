/** The path `/mcp` of a served host: sessions over Streamable HTTP. */
import type { HttpFace } from '@hob/host';
import { version } from '@hob/host/line';

/**
 * The face of one host. It knows sessions by their ids. Those of two tenants of a process may be equal, so each host has
 * a face of its own.
 */
export function mcpFace(): HttpFace {
  let made: Promise<HttpFace> | undefined;
  // The library is loaded with the first request: a host that nobody reaches so does without its memory.
  return async (request, session) => {
    made ??= import('@hob/mcp/http').then(({ mcpOverHttp }) => mcpOverHttp({ version }));
    return await (await made)(request, session);
  };
}
