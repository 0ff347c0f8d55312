/**
 * The host of `as-shipped.ts`, in a process of its own. It has a session with two grants, one of them with
 * a number of uses, and a ledger on disk. It also serves the same object on a bare `hob.1` connection.
 *
 *   as-shipped-server.ts FOLDER [enforce]
 */
import './lockdown.ts';
import { makeFirewall } from '@hob/firewall';
import { openHost } from '@hob/host';
import { type ByteSource, captp, driverOf, E, fromWebSocket } from '@hob/vat';
import { chunkBytes, listen, type Wire, wires } from './captp-wires.ts';

export interface Shipped {
  readonly url: string;
  readonly free: string;
  readonly counted: string;
  /** The port of the bare connection. */
  readonly port: number;
  /** The port of the same calls over capnweb. */
  readonly capnweb: number;
}

export interface Service {
  ping(text: string): Promise<string>;
  /** Declared as an effect outside. */
  send(text: string): Promise<string>;
  echo(value: unknown): Promise<unknown>;
  counter(): Promise<{ next(): Promise<number> }>;
  stream(total: number): Promise<ByteSource>;
}
/** As a cap offers itself to a host: an object with async methods. */
const service: Service = {
  ping: async (text) => text,
  send: async (text) => text,
  echo: async (value) => value,
  counter: async () => {
    let count = 0;
    return {
      async next() {
        count += 1;
        return count;
      },
    };
  },
  stream: async (total) => {
    let left = total;
    return {
      async next(max = chunkBytes) {
        const length = Math.min(left, max, chunkBytes);
        left -= length;
        return length === 0 ? undefined : new Uint8Array(length);
      },
      return: async () => {},
    };
  },
};

process.on('disconnect', () => process.exit());
const [stateDir = '', mode] = process.argv.slice(2);
const firewall = mode === 'enforce' ? { firewall: makeFirewall({ mode }) } : {};
const host = await openHost({ stateDir, ...firewall });
const { granter } = await host.addGranter('bench');
await host.offer('service', service, { effects: { ping: { class: 'A' }, send: { class: 'C', undo: 'hard' } } });
const secretWith = async (name: string, terms: { readonly uses?: number }): Promise<string> => {
  const session = await host.openSession({ name, granters: ['bench'] });
  await E(granter).grant(session.id, 'service', 'service', { for: 3_600_000, ...terms });
  return session.secret;
};
const [free, counted] = [await secretWith('free', {}), await secretWith('counted', { uses: 1_000_000 })];
const bare: Wire = {
  serve: (socket) => void captp(fromWebSocket(socket), { bootstrap: driverOf(service) }),
  open: () => {
    throw new Error('nobody dials from here');
  },
};
const { url } = await host.serve();
const port = await listen(bare);
const capnweb = await listen(wires.capnweb);
process.send?.({ url, free, counted, port, capnweb } satisfies Shipped);
process.once('message', async () => {
  await host.close();
  process.exit();
});
