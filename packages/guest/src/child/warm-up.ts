/**
 * A process that waits runs a program of our own: the engine compiles what is called, and that takes longer than most programs do.
 *
 * Promise: that program is the one below, over a connection that nobody else has. It is handed nothing of anybody's, and its compartment,
 * its connection and its caps are gone with it.
 */
import { captp, type Duplex, driver, E } from '@hob/vat/peer';
import type { Order, Outcome, Runner } from './order.ts';

/** What the host says beside the frames. */
interface Beside {
  readonly warm?: unknown;
}

interface Channel {
  readonly connected: boolean;
  send?(message: unknown, ...rest: unknown[]): boolean;
  on(event: string, then: (message: unknown) => void): unknown;
  disconnect?(): void;
}

/** The channel without what is said beside the frames. */
export function beside(channel: Channel, warm: () => void): object {
  return {
    get connected() {
      return channel.connected;
    },
    send: (message: unknown, then: unknown) => channel.send?.(message, then),
    disconnect: () => channel.disconnect?.(),
    on: (event: string, then: (message: unknown) => void) =>
      channel.on(event, (message) => {
        if (event === 'message' && ((message ?? {}) as Beside).warm === true) warm();
        else then(message);
      }),
  };
}

/** Most of what programs are made of: a call and its answer, data, a template, a line of the console, an error that is caught. */
const program: string = [
  'const add = async (a) => a + 1;',
  'const { list } = await E(cap).call({ text: "`" });',
  'for (const one of list)',
  '  try { if (one > 1) throw new Error("of it"); } catch (error) { console.log(error.message, { one }); }',
  'return await Promise.all(list.map(async (one) => ({ one: await add(one), text: `${one}-${now}`.split("").join("-") })));',
].join('\n');

export async function warmUp(run: (order: Order) => Promise<Outcome>): Promise<void> {
  const [ours, theirs] = pair();
  const cap = driver<{ call(x: unknown): Promise<unknown> }>({ call: async () => ({ list: [1, 2] }) });
  captp(theirs, { bootstrap: driver<Runner>({ run: ([order]) => run(order) }) });
  const connection = captp<Runner>(ours);
  for (let i = 0; i < 3; i += 1)
    await E(connection.bootstrap).run({ source: program, caps: { cap }, outputBytes: 1000 });
  connection.close();
}

/** Two ends of one connection in this process. */
function pair(): readonly [Duplex, Duplex] {
  type Frame = (frame: string | Uint8Array) => void;
  type Closed = (why: { code: number; reason: string }) => void;
  const heard: Frame[] = [];
  const closed: Closed[] = [];
  const end = (at: 0 | 1): Duplex => ({
    buffered: 0,
    send: (frame) => void Promise.resolve().then(() => heard[1 - at]?.(frame)),
    onFrame: (then) => void (heard[at] = then),
    onClose: (then) => void (closed[at] = then),
    close: (code, reason) => {
      for (const then of closed) then({ code, reason });
    },
  });
  return [end(0), end(1)];
}
