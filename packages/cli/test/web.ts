/** A server on loopback, for tests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface Web {
  readonly port: number;
  /** The methods and targets of the requests, in order. */
  readonly seen: string[];
  close(): Promise<void>;
}

/** Serves until the test is over. */
export async function web(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<Web> {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const close = async (): Promise<void> => {
    server.closeAllConnections();
    if (server.listening) await new Promise((resolve) => server.close(resolve));
  };
  onTestFinished(close);
  return { port: (server.address() as AddressInfo).port, seen, close };
}
