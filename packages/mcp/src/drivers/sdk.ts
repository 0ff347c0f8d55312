/**
 * A server of the MCP SDK for a face, in the era that the client opens with.
 *
 * Promise: a client can call the verbs of the face, and nothing else. What it says about a person's answer
 * (`inputResponses`, `requestState`, the result of an elicitation) is never read: no verb has a parameter for it.
 */
import { type CallToolResult, Server, type ServerContext, type Transport } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Face } from '../face/face.ts';
import type { Answer } from '../text/answer.ts';

const INSTRUCTIONS =
  'You act on the world only through caps: `caps` lists those that you hold. Ask a person for another with `request_cap`.'; // biome-ignore format: one line

/** A face that is served over one transport. */
export interface Served {
  /** Tells the client that the person who grants has changed what the session holds. The list is the same. */
  announce(): void;
  close(): Promise<void>;
}

/** Serves a face. `version` is that of Hob. */
export function serve(face: Face, version: string, transport: Transport): Served {
  // The SDK makes another server if the client turns out to be of the older era.
  let server: Server | undefined;
  const served = serveStdio(() => (server = serverFor(face, version)), { transport });
  return {
    announce: () => void server?.sendToolListChanged().catch(() => {}),
    close: () => served.close(),
  };
}

/** A server of the SDK for one connection, or for one request. */
export function serverFor(face: Face, version: string): Server {
  const server = new Server(
    { name: 'hob', version },
    { capabilities: { tools: { listChanged: true } }, instructions: INSTRUCTIONS },
  );
  server.setRequestHandler('tools/list', () => ({ tools: face.definitions.map((tool) => ({ ...tool })) as never }));
  server.setRequestHandler('tools/call', async ({ params }, context) =>
    resultOf(
      await face.call(params.name, params.arguments ?? {}, {
        signal: signalOf(context),
        ...progressOf(context),
      }),
    ),
  );
  return server;
}

/** Over HTTP a call also ends when its client closes the stream that would carry the answer. */
function signalOf({ mcpReq, http }: ServerContext): AbortSignal {
  return http?.req === undefined ? mcpReq.signal : AbortSignal.any([mcpReq.signal, http.req.signal]);
}

function progressOf({ mcpReq }: ServerContext): { readonly onProgress?: (seconds: number) => void } {
  const token = mcpReq._meta?.progressToken;
  if (token === undefined) return {};
  return {
    onProgress: (progress) => {
      const params = { progressToken: token, progress, message: `${progress} s` };
      // The client may be gone.
      mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    },
  };
}

function resultOf({ text, data, note: more, image, isError, warnings }: Answer): CallToolResult {
  // Most clients show their model no metadata, so it reads the warnings too.
  const note = warnings === undefined ? more : [...(more === undefined ? [] : [more]), ...warnings].join('\n');
  return {
    ...(warnings === undefined ? {} : { _meta: { 'hob/warnings': [...warnings] } }),
    content: [
      { type: 'text', text },
      ...(note === undefined ? [] : [{ type: 'text' as const, text: note }]),
      ...(image === undefined ? [] : [{ type: 'image' as const, ...image }]),
    ],
    structuredContent: note === undefined ? { ...data } : { ...data, note },
    ...(isError === undefined ? {} : { isError }),
  };
}
