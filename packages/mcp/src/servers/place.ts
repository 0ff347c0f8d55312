/** A server of MCP at an address: what an http cap has to be that reaches it and nothing else. */
import type { HttpOptions } from '@hob/caps-net';
import { CapError } from '@hob/vat';
import { HEADERS } from './http-transport.ts';
import { fullServerLimits, type ServerLimits } from './limits.ts';

/** Options for `makeHttpCap`, and the path for `openServerAt`. */
export interface McpPlace {
  readonly options: HttpOptions;
  readonly path: string;
}

const LARGEST_BODY = 4 * 2 ** 20;
const MOST_ANSWERS = 64;
/** The transport ends an answer at its own time first, with its own error. */
const LATER_MS = 5000;

/**
 * The place of an address such as `https://mcp.example.org/mcp`. `limits` are those of the server. Errors: `invalid`. The
 * http cap checks the rest of the address.
 */
export function mcpPlace(url: string, limits: ServerLimits = {}): McpPlace {
  const [, origin, path = '/', query = ''] = /^(https?:\/\/[^/?#\s]+)(\/[^?#\s]*)?(\?[^#\s]*)?$/.exec(url) ?? [];
  if (origin === undefined)
    throw new CapError('invalid', 'the address of a server is written as https://host/path, without a fragment');
  const { callMs, startMs, unaskedBytes, lineBytes } = fullServerLimits(limits);
  const ms = Math.max(callMs, startMs) + LATER_MS;
  return {
    options: {
      origin,
      prefix: path,
      methods: ['POST'],
      headers: HEADERS,
      limits: {
        ...{ idleMs: Math.min(ms, 3_600_000), totalMs: Math.min(ms, 86_400_000) },
        ...{ answerBytes: unaskedBytes + lineBytes, bodyBytes: LARGEST_BODY, concurrent: MOST_ANSWERS },
      },
    },
    path: `${path}${query}`,
  };
}
