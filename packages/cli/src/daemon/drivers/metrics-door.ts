/**
 * The door for a program that collects metrics: `http://127.0.0.1:PORT/metrics`, on this machine only.
 *
 * Promise: it returns numbers and does nothing else. A page in a browser cannot read them: the request must name this
 * machine as its host, and have no origin. Requests that arrive while the numbers are read get the same ones.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Mistake } from '../../line/mistake.ts';
import { OPEN_METRICS } from '../../line/open-metrics.ts';

/** Time limit for a request to arrive. */
const REQUEST_MS = 5000;
const CONNECTIONS = 16;

/** An open door. */
interface MetricsDoor {
  readonly url: string;
  close(): void;
}

/** Serves `metrics`, until the process ends at the latest. Errors: `Mistake` (the port is taken). */
export async function openMetricsDoor(port: number, metrics: () => Promise<string>): Promise<MetricsDoor> {
  let underWay: Promise<string> | undefined;
  const counted = (): Promise<string> => {
    underWay ??= metrics().finally(() => {
      underWay = undefined;
    });
    return underWay;
  };
  const server = createServer({ requestTimeout: REQUEST_MS, headersTimeout: REQUEST_MS }, (request, response) => {
    const refused = refusalOf(request);
    if (refused !== undefined) return reply(response, refused, '');
    counted().then(
      (text) => reply(response, 200, request.method === 'HEAD' ? '' : text),
      () => reply(response, 503, ''),
    );
  });
  server.maxConnections = CONNECTIONS;
  // If the host cannot be served after all, neither the door nor a caller may keep the process alive.
  server.on('connection', (socket) => socket.unref());
  server.unref();
  await new Promise<void>((then, reject) => {
    server.once('error', () => reject(new Mistake('the port of --metrics is taken, or may not be used: name another')));
    server.listen(port, '127.0.0.1', then);
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/metrics`;
  return { url, close: () => void server.close() };
}

/** The status of a request that gets no metrics. */
function refusalOf({ method, url, headers: { host = '', origin } }: IncomingMessage): number | undefined {
  // The page of a site whose name resolves to 127.0.0.1 sends that name as `host`.
  if (origin !== undefined || !/^(?:127\.0\.0\.1|localhost)(?::\d{1,5})?$/.test(host)) return 403;
  if (url !== '/metrics') return 404;
  return method === 'GET' || method === 'HEAD' ? undefined : 405;
}

function reply(response: ServerResponse, status: number, text: string): void {
  const type = status === 200 ? { 'content-type': OPEN_METRICS } : {};
  response.writeHead(status, { ...type, 'cache-control': 'no-store', 'x-content-type-options': 'nosniff', connection: 'close' }); // biome-ignore format: one line
  response.end(text);
}
