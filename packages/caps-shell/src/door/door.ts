/**
 * The door of one job: it opens connections for the programs of the job, on the authority of the caps that were
 * handed in, and of nothing else.
 *
 * The host is compared with the granted names before anything is looked up or dialled. A fault ends its connection
 * and nothing else. When a way ends, its connections are destroyed in the same moment; the grant is released when
 * all of them are closed. The ledger gets names, numbers and bytes, and no content.
 */
import type { Socket } from 'node:net';
import { CapError, type Clock, systemClock } from '@hob/vat';
import { FirstBytes } from './first-bytes.ts';
import { type Cut, forwarded } from './forwarded.ts';
import type { Passage } from './passage.ts';
import {
  grantedBytes,
  isRefusal,
  type Read,
  type Refusal,
  readGreeting,
  readHttp,
  readSocks,
  refusalBytes,
  SOCKS,
  type Wanted,
} from './request.ts';
import type { WayLease } from './ways.ts';

/** The connections and bytes of one way of a job. */
interface WayUse {
  readonly grants: string;
  readonly connections: number;
  readonly refused: number;
  readonly sent: number;
  readonly received: number;
}

/** Connections of a job that have not said yet where to. */
const MOST_WAITING = 64;
/** Until a program has said where to. */
const REQUEST_MS = 10_000;

let time: Clock | undefined;

class OpenWay {
  readonly lease: WayLease;
  readonly pairs: Set<Cut> = new Set();
  connections = 0;
  refused = 0;
  sent = 0;
  received = 0;
  #ended = false;

  constructor(lease: WayLease) {
    this.lease = lease;
    if (lease.ended.aborted) this.end();
    else lease.ended.addEventListener('abort', this.#end, { once: true });
  }

  readonly #end = (): void => this.end();

  get passage(): Passage {
    return this.lease.passage;
  }

  get isOver(): boolean {
    return this.#ended;
  }

  /** Whether the job has used up its bytes. */
  get isSpent(): boolean {
    return this.sent + this.received >= this.passage.limits.bytes;
  }

  /** Cuts its connections. The grant is released when the last one is closed. */
  end(): void {
    this.#ended = true;
    this.lease.ended.removeEventListener('abort', this.#end);
    this.cut();
    if (this.pairs.size === 0) this.lease.release();
  }

  cut(): void {
    for (const pair of this.pairs) pair.cut();
  }

  left(pair: Cut): void {
    this.pairs.delete(pair);
    if (this.#ended && this.pairs.size === 0) this.lease.release();
  }

  get use(): WayUse {
    const { connections, refused, sent, received, lease } = this;
    return Object.freeze({ grants: lease.grants.join(' '), connections, refused, sent, received });
  }
}

/** One connection of a program, and the one that was opened for it. */
class Pair {
  readonly #way: OpenWay;
  readonly #client: Socket;
  readonly #dialling = new AbortController();
  #server: Socket | undefined;

  constructor(way: OpenWay, client: Socket) {
    this.#way = way;
    this.#client = client;
    way.pairs.add(this);
    client.once('close', () => this.#closed());
  }

  /** Opens the connection. Errors: those of the passage. */
  async open(): Promise<void> {
    const { signal } = this.#dialling;
    const opening = this.#way.passage.connect(signal);
    // A lookup of a name cannot be aborted, so nobody waits for it.
    const server = await Promise.race([opening, aborted(signal)]).catch((error: unknown) => {
      void opening.then((late) => late.destroy()).catch(() => {});
      throw error;
    });
    server.on('error', () => {});
    this.#server = server;
    if (signal.aborted || this.#client.destroyed) {
      server.once('close', () => this.#closed());
      this.cut();
      throw new CapError('revoked', 'the connection was cut');
    }
    server.once('close', (broken) => {
      if (broken) this.#client.destroy();
      else this.#client.destroySoon();
      this.#closed();
    });
    this.#client.once('close', (broken) => {
      if (broken) server.destroy();
      else server.destroySoon();
    });
    this.#way.connections += 1;
  }

  /** It took too long until the connection could carry bytes. */
  tooLate(): void {
    if (this.#server === undefined) this.#dialling.abort();
    else this.cut();
  }

  /** Lets go of the server. The program still gets what was written to it. */
  drop(): void {
    this.#server?.destroy();
  }

  /** Carries bytes both ways, `first` before those that come now. */
  carry(first: readonly Uint8Array[]): void {
    const [way, client, server] = [this.#way, this.#client, this.#server as Socket];
    client.setTimeout(way.passage.limits.idleMs, () => this.cut());
    const count = (sent: number, received: number): boolean => {
      way.sent += sent;
      way.received += received;
      // All connections of the way: together they carry what was granted.
      if (way.isSpent) way.cut();
      return !way.isSpent;
    };
    for (const bytes of first) if (bytes.length > 0 && count(bytes.length, 0)) server.write(bytes);
    flow(client, server, (bytes) => count(bytes, 0));
    flow(server, client, (bytes) => count(0, bytes));
  }

  cut(): void {
    this.#dialling.abort();
    this.#client.destroy();
    this.#server?.destroy();
  }

  #closed(): void {
    this.#dialling.abort();
    if (this.#client.closed && (this.#server === undefined || this.#server.closed)) this.#way.left(this);
  }
}

const aborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => {
    const late = (): void => reject(new CapError('unavailable', 'there is no connection in time: try again'));
    signal.addEventListener('abort', late, { once: true });
    if (signal.aborted) late();
  });

/** A side that reads slowly slows down the other. */
function flow(from: Socket, to: Socket, mayPass: (bytes: number) => boolean): void {
  from.on('data', (chunk: Buffer) => {
    if (mayPass(chunk.length) && !to.write(chunk)) from.pause();
  });
  to.on('drain', () => from.resume());
  from.once('end', () => to.end());
  from.resume();
}

export class Door {
  readonly #ways: readonly OpenWay[];
  readonly #waiting = new Set<Socket>();
  #closed = false;

  constructor(leases: readonly WayLease[]) {
    this.#ways = leases.map((lease) => new OpenWay(lease));
    time ??= systemClock();
  }

  /** A program has connected to the proxy. */
  enter(client: Socket): void {
    this.#serve(client, undefined);
  }

  /** A program has connected to the socket at `path`. */
  enterSocket(path: string, client: Socket): void {
    this.#serve(client, path);
  }

  /** Cuts every connection, and ends all ways. */
  close(): void {
    this.#closed = true;
    for (const client of this.#waiting) client.destroy();
    for (const way of this.#ways) way.end();
  }

  /** For the ledger, by name. */
  get told(): Readonly<Record<string, WayUse>> {
    return Object.freeze(Object.fromEntries(this.#ways.map((way) => [way.lease.way.name, way.use])));
  }

  #serve(client: Socket, path: string | undefined): void {
    client.on('error', () => {});
    if (this.#closed || this.#waiting.size >= MOST_WAITING) {
      client.destroy();
      return;
    }
    this.#waiting.add(client);
    client.once('close', () => this.#waiting.delete(client));
    const stop = (time as Clock).after(REQUEST_MS, () => client.destroy());
    this.#pass(client, path, stop)
      .catch(() => {
        // One that was answered closes when the answer is read.
        if (!client.writableEnded) client.destroy();
      })
      .finally(() => {
        stop();
        this.#waiting.delete(client);
      });
  }

  async #pass(client: Socket, path: string | undefined, stop: () => void): Promise<void> {
    const reader = new FirstBytes(client);
    const wanted = path === undefined ? await wantedBy(client, reader) : undefined;
    if (wanted !== undefined && isRefusal(wanted)) return refuse(client, wanted);
    const way = this.#wayTo(wanted, path);
    const no = this.#fault(way, wanted);
    if (way === undefined || no !== undefined) {
      if (way !== undefined) way.refused += 1;
      return refuse(client, { how: howOf(wanted), why: 'denied', text: no ?? '' });
    }
    stop();
    const { judge, limits, forward } = way.passage;
    if (forward !== undefined) {
      this.#waiting.delete(client);
      return await forwarded(way, forward, client, [wanted?.head ?? new Uint8Array(), reader.bytes]);
    }
    const pair = new Pair(way, client);
    const late = (time as Clock).after(limits.connectMs, () => pair.tooLate());
    this.#waiting.delete(client);
    try {
      await pair.open().catch((error: unknown) => {
        refuse(client, { how: howOf(wanted), why: 'unreachable', text: textOf(error) });
        throw error;
      });
      if (wanted !== undefined) client.write(grantedBytes(wanted));
      const head = wanted?.head ?? new Uint8Array();
      if (judge !== undefined) await judged(client, reader, judge, head);
      pair.carry([head, reader.bytes]);
    } catch (error) {
      way.refused += 1;
      pair.drop();
      throw error;
    } finally {
      late();
    }
  }

  /** A plain request goes to a prefix that the host forwards before it goes to a host; nothing else goes to a prefix. */
  #wayTo(wanted: Wanted | undefined, path: string | undefined): OpenWay | undefined {
    if (wanted === undefined) return this.#ways.find(({ lease }) => lease.way.path === path);
    const there = this.#ways.filter(({ passage: { at } }) => at?.host === wanted.host && at.port === wanted.port);
    const forwards = there.filter(({ passage }) => passage.forward !== undefined && wanted.path !== undefined);
    return (
      forwards.find(({ passage }) => passage.forward?.takes(wanted.path ?? '') === true) ??
      there.find(({ passage }) => passage.forward === undefined) ??
      forwards[0]
    );
  }

  /** Why there is no connection, as a text for the program. */
  #fault(way: OpenWay | undefined, wanted: Wanted | undefined): string | undefined {
    if (way === undefined) {
      const open = this.#ways.filter(({ lease, isOver }) => lease.way.path === undefined && !isOver);
      const names = open.map(({ lease }) => lease.way.name).join(', ');
      return `this job may not open ${wanted?.host}:${wanted?.port}; it may open ${names || 'nothing'}; ask for a net cap of it`;
    }
    if (way.isOver) return `the grant of ${way.lease.way.name} has ended: ask for a new one`;
    if (way.isSpent) return `this job has used up the bytes of ${way.lease.way.name}`;
    return undefined;
  }
}

const howOf = (wanted: Wanted | undefined): Refusal['how'] =>
  wanted === undefined ? 'silent' : wanted.how === 'socks' ? 'socks' : 'http';

const textOf = (error: unknown): string => (error instanceof CapError ? error.message : 'there is no connection');

function refuse(client: Socket, refusal: Refusal): void {
  if (client.destroyed) return;
  client.end(refusalBytes(refusal));
  // The rest that the program sends is not read. The program has the time of a request to read the answer.
  client.resume();
  const stop = (time as Clock).after(REQUEST_MS, () => client.destroy());
  client.once('close', stop);
  client.once('end', () => client.destroySoon());
}

/** Reads the request of the program. */
async function wantedBy(client: Socket, reader: FirstBytes): Promise<Wanted | Refusal> {
  const ask = async <T>(read: (bytes: Buffer) => Read<T>): Promise<T | Refusal> => {
    const found = await reader.until(read);
    if (isRefusal(found)) return found;
    reader.use(found.used);
    return found.value;
  };
  const first = await reader.until((bytes) => bytes[0]);
  if (first !== SOCKS) return await ask(readHttp);
  if ((await ask(readGreeting)) !== true) {
    client.end(Uint8Array.of(SOCKS, 0xff));
    throw new Error('it wants a password');
  }
  client.write(Uint8Array.of(SOCKS, 0));
  return await ask(readSocks);
}

/** Waits until the first bytes are judged. A refused connection has sent nothing to the server. */
async function judged(
  client: Socket,
  reader: FirstBytes,
  judge: NonNullable<Passage['judge']>,
  head: Uint8Array,
): Promise<void> {
  try {
    // The head of a plain request is what the server would get first.
    if (head.length > 0) judge(head);
    await reader.until((bytes) => judge(bytes) || undefined);
  } catch (error) {
    // A client of TLS shows this alert (unrecognized_name) as its error.
    if (reader.bytes[0] === 22) client.end(Uint8Array.of(21, 3, 1, 0, 2, 2, 112));
    throw error;
  }
}
