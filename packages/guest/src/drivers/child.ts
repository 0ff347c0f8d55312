/**
 * Entry point of a guest's process: runs the one program that it is sent, over the one channel that it has.
 *
 * Promise: the program gets what is in its order and what `child/compartment.ts` lists. When the channel ends, so does the process.
 */
import './child-lockdown.ts';
import { randomFillSync } from 'node:crypto';
import { CapError, captp, driver, fromChild } from '@hob/vat/peer';
import { compartment, type Powers } from '../child/compartment.ts';
import { describe, programName } from '../child/failure.ts';
import type { Order, Outcome, Runner } from '../child/order.ts';
import { printing } from '../child/printing.ts';
import { settled } from '../child/settled.ts';
import { guestE } from '../child/sites.ts';
import { beside, warmUp } from '../child/warm-up.ts';

const chance = new BigUint64Array(1);

const powers: Powers = {
  now: () => Math.floor(Date.now()),
  random: () => Number((randomFillSync(chance)[0] as bigint) >> 11n) / 2 ** 53,
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};

/** Of one program: where what it prints goes, and who hears of an error that nobody waits for. */
interface Ears {
  say(said: string): void;
  onUncaught(then: (error: unknown) => void): void;
}

const host: Ears = {
  // Beside the frames, so that it is on its way when a loop never ends.
  say: (said) => void process.send?.({ said }),
  onUncaught: (then) => void process.removeAllListeners('unhandledRejection').on('unhandledRejection', then),
};

const reader = () => import('../source/prepare.ts');

async function run({ source, caps, outputBytes }: Order, { say, onUncaught }: Ears): Promise<Outcome> {
  const { prepare } = await reader();
  let where = (line: number, column: number) => ({ line, column });
  try {
    const prepared = read(() => prepare(source));
    if ('failed' in prepared) return prepared;
    where = prepared.where;
    const printer = printing(say, outputBytes);
    const uncaught = (error: unknown): void => printer.error(`uncaught: ${describe(error, source, where).failed}`);
    onUncaught(uncaught);
    const inside = compartment(caps, { E: guestE, console: printer }, powers, uncaught);
    const program = inside.evaluate(`${prepared.code}\n//# sourceURL=${programName}`) as () => Promise<unknown>;
    return { value: await settled(await program()) };
  } catch (error) {
    return describe(error, source, where);
  }
}

/** Its refusals say already where and what to do. */
function read<T>(act: () => T): T | { readonly failed: string; readonly code: string } {
  try {
    return act();
  } catch (error) {
    if (error instanceof CapError) return { failed: error.message, code: error.code };
    throw error;
  }
}

const bootstrap = driver<Runner>({
  run: ([order]) => run(order, host),
});
const { closed } = captp(fromChild(beside(process, warm)), { bootstrap });
void closed.then(() => process.exit());
// What reads programs is there before the first one.
await reader();
process.send?.({ ready: true });

/** It waits for work: the engine reads and compiles now what a first program would wait for. Nobody's program, and nothing of it stays. */
function warm(): void {
  const deaf: Ears = { say: () => {}, onUncaught: () => {} };
  warmUp((order) => run(order, deaf)).catch(() => {});
}
