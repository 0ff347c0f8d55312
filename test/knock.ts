/** Tries to connect to a host, and returns what happened as one line of text. For tests and the demo. */
import { WebSocket } from 'ws';

export interface Knock {
  readonly secret: string;
  readonly origin?: string;
  readonly host?: string;
  /** Sent when the connection is open. */
  readonly frame?: string;
}

/** Returns `HTTP 401`, `closed 4400 not JSON`, `open` (the connection was accepted) or `no answer`. */
export function knock(url: string, { secret, origin, host, frame }: Knock): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, ['captp'], {
      headers: { authorization: `Bearer ${secret}`, ...(host === undefined ? {} : { host }) },
      ...(origin === undefined ? {} : { origin }),
    });
    const timer = setTimeout(() => done('no answer'), 30_000);
    const done = (text: string): void => {
      clearTimeout(timer);
      socket.terminate();
      resolve(text);
    };
    socket.on('error', () => {});
    socket.once('unexpected-response', (_request, response) => done(`HTTP ${response.statusCode ?? 0}`));
    socket.once('open', () => (frame === undefined ? done('open') : socket.send(frame, () => {})));
    socket.once('close', (code, reason) => done(`closed ${code} ${reason.toString('utf8')}`.trim()));
  });
}
