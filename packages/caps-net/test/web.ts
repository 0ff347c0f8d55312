/** Servers on loopback for tests, and names that lead to them. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Resolver } from '../src/drivers/resolve.ts';

export interface Web extends AsyncDisposable {
  readonly port: number;
  /** The raw targets of the requests, in order. */
  readonly seen: string[];
}

/** Serves on one address of loopback. The port is chosen unless it is given. */
export async function web(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  { address = '127.0.0.1', port = 0 }: { readonly address?: string; readonly port?: number } = {},
): Promise<Web> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, address, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    seen,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Each name leads to these addresses; the machine has none of its own. */
export const leadingTo = (...addresses: readonly string[]): Resolver => ({
  resolve: async () => addresses,
  own: () => [],
});

export const codeOf = async (act: () => unknown): Promise<string> => {
  try {
    await act();
    return 'ok';
  } catch (error) {
    return String((error as { code?: unknown }).code ?? error);
  }
};

export async function bodyOf(body: { next(max?: number): Promise<Uint8Array | undefined> }): Promise<string> {
  const parts: Uint8Array[] = [];
  for (;;) {
    const part = await body.next();
    if (part === undefined) return Buffer.concat(parts).toString();
    parts.push(part);
  }
}
