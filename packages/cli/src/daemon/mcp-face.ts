/** The path `/mcp` of a served host: sessions over Streamable HTTP. */
import type { HttpFace } from '@hob/host';
import { version } from '@hob/host/line';

let made: Promise<HttpFace> | undefined;

/** The library is loaded with the first request: a host that nobody reaches so does without its memory. */
export const mcpFace: HttpFace = async (request, session) => {
  made ??= import('@hob/mcp/http').then(({ mcpOverHttp }) => mcpOverHttp({ version }));
  return await (await made)(request, session);
};
