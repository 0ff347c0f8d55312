/**
 * Warms up an idle process with a program of our own. The engine compiles a function when it is called, and
 * that takes longer than most programs.
 *
 * Promise: it runs only the program below, over its own connection. It gets nothing of any session. Its
 * compartment, its connection and its caps are dropped afterwards.
 */
import { captp, type Duplex, driver, E } from '@hob/vat/peer';
import type { Runner, RunOutcome, RunRequest } from './run-request.ts';

/**
 * A message of the host that is not a frame. It asks an idle process to warm up. It may also ask for its compiled code.
 */
export interface Beside {
  readonly warm?: unknown;
  readonly codeCache?: unknown;
}

interface Channel {
  readonly connected: boolean;
  send?(message: unknown, ...rest: unknown[]): boolean;
  on(event: string, then: (message: unknown) => void): unknown;
  disconnect?(): void;
}

/** The channel for frames only. `hear` gets the other messages of the host. */
export function beside(channel: Channel, hear: (asked: Beside) => unknown): object {
  return {
    get connected() {
      return channel.connected;
    },
    send: (message: unknown, then: unknown) => channel.send?.(message, then),
    disconnect: () => channel.disconnect?.(),
    on: (event: string, then: (message: unknown) => void) =>
      channel.on(event, (message) => {
        const asked = (message ?? {}) as Beside;
        if (event === 'message' && asked.warm === true) hear(asked);
        else then(message);
      }),
  };
}

/** Uses what most programs use: a call and its answer, data, a template, a printed line, a caught error. */
const program: string = [
  'const add = async (a) => a + 1;',
  'const { list } = await E(cap).call({ text: "`" });',
  'for (const one of list)',
  '  try { if (one > 1) throw new Error("of it"); } catch (error) { console.log(error.message, { one }); }',
  'return await Promise.all(list.map(async (one) => ({ one: await add(one), text: `${one}-${now}`.split("").join("-") })));',
].join('\n');

export async function warmUp(run: (order: RunRequest) => Promise<RunOutcome>): Promise<void> {
  const [ours, theirs] = pair();
  const cap = driver<{ call(x: unknown): Promise<unknown> }>({ call: async () => ({ list: [1, 2] }) });
  captp(theirs, { bootstrap: driver<Runner>({ run: ([order]) => run(order) }) });
  const connection = captp<Runner>(ours);
  for (let i = 0; i < 3; i += 1)
    await E(connection.bootstrap).run({ source: program, caps: { cap }, outputBytes: 1000 });
  connection.close();
}

/** Returns the two ends of a connection within this process. */
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
