/**
 * The way of a thin client into its session.
 *
 * Promise: it stands beside other programs of the session, and replaces none. A connection that was lost is made again
 * with the next message. A session that has ended is told, and not knocked at again. `@hob/vat/wire` can do more, and
 * takes more memory: a process of this kind is started for each agent.
 */
import { type BrowserSocket, CapError, type Connected, captp, type Far, fromBrowserSocket } from '@hob/vat/peer';
import { WebSocket } from 'ws';

const LARGEST_FRAME = 1 << 20;
const HANDSHAKE_MS = 10_000;
const BESIDE = '/beside';
const SESSION_ENDED = 4403;

const REFUSED: Readonly<Record<number, readonly [code: string, message: string]>> = {
  401: ['denied', 'the host does not know this secret: its session has ended, or another secret took its place'],
  429: ['limit', 'this session has as many programs as it may: end one of them'],
  503: ['unavailable', 'the host lets nobody in now: try again'],
};

/** One session, over a connection that is made again when it is lost. */
export class Entrance<T extends object> {
  readonly #url: string;
  readonly #secret: string;
  #entered: Promise<Connected<T>> | undefined;
  #over: CapError | undefined;

  /** `url` is what the host printed. Errors: `invalid`. */
  constructor(url: string, secret: string) {
    this.#url = besideOf(url);
    this.#secret = secret;
  }

  /** The bootstrap object. Errors: `denied`, `limit`, `unavailable`, `disconnected`, `revoked` (the session has ended). */
  async session(): Promise<Far<T>> {
    if (this.#over !== undefined) throw this.#over;
    const entering = (this.#entered ??= this.#enter());
    return (await entering).bootstrap;
  }

  async close(): Promise<void> {
    this.#over ??= new CapError('disconnected', 'this program has left the session');
    const entered = await this.#entered?.catch(() => undefined);
    entered?.close();
    await entered?.closed;
  }

  async #enter(): Promise<Connected<T>> {
    try {
      const connection = captp<T>(await dial(this.#url, this.#secret));
      connection.closed.then(({ code }) => {
        this.#entered = undefined;
        if (code === SESSION_ENDED) this.#over ??= new CapError('revoked', 'this session has ended: start the agent anew');
      }); // biome-ignore format: one line
      return connection;
    } catch (error) {
      this.#entered = undefined;
      throw error;
    }
  }
}

/** The address of a host at a door for several hosts ends with its name. */
const ADDRESS = /^(?:ws\+unix:\/[^:]+:\/(?:[a-z][a-z0-9_]{0,39})?|wss?:\/\/[^/?#]+(?:\/[a-z][a-z0-9_]{0,39})?\/?)$/;

function besideOf(url: string): string {
  const wrong = new CapError('invalid', 'the address is ws://HOST:PORT, wss://HOST:PORT or ws+unix:/PATH:/, as the host printed it; with NAME behind it at a door for several hosts'); // biome-ignore format: one line
  if (!ADDRESS.test(url)) throw wrong;
  return `${url.replace(/\/$/, '')}${BESIDE}`;
}

function dial(url: string, secret: string): Promise<ReturnType<typeof fromBrowserSocket>> {
  return new Promise((resolve, reject) => {
    let socket: WebSocket;
    try {
      socket = new WebSocket(url, ['hob.1'], {
        headers: { authorization: `Bearer ${secret}` },
        maxPayload: LARGEST_FRAME,
        perMessageDeflate: false,
        handshakeTimeout: HANDSHAKE_MS,
        // No proxy stands between two programs of one machine, and a mask costs time.
        ...(/^ws(?:\+unix:|:\/\/127\.)/.test(url) ? { generateMask: (mask: Buffer) => void mask.fill(0) } : {}),
      });
    } catch {
      // Its text could quote the secret.
      return reject(new CapError('invalid', 'the address or the secret is malformed'));
    }
    socket.once('unexpected-response', (request, { statusCode = 0 }) => {
      const [code, message] = REFUSED[statusCode] ?? ['denied', `the host refused the connection (HTTP ${statusCode})`];
      reject(new CapError(code, message));
      request.destroy();
    });
    socket.once('error', () => reject(new CapError('disconnected', 'no host answers at this address: hob serve starts one'))); // biome-ignore format: one line
    socket.on('error', () => {});
    const duplex = fromBrowserSocket(socket as unknown as BrowserSocket);
    socket.once('open', () => resolve(duplex));
  });
}
