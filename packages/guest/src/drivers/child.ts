/**
 * The entry point of a guest's process. It runs the one program that it receives over its one channel.
 *
 * Promise: the program gets only what is in its order and what `child/compartment.ts` lists. When the channel
 * ends, the process ends.
 */
import './child-lockdown.ts';
import { CapError, captp, driver, fromChild } from '@hob/vat/peer';
import { compartment, type Powers } from '../child/compartment.ts';
import { describe, programName } from '../child/failure.ts';
import { printing } from '../child/printing.ts';
import type { Runner, RunOutcome, RunRequest } from '../child/run-request.ts';
import { settled } from '../child/settled.ts';
import { guestE } from '../child/sites.ts';
import { type Beside, beside, warmUp } from '../child/warm-up.ts';
import { prepare } from '../source/prepare.ts';
import { collect } from './collect.ts';

/** Parameters of the script that contains this module (`child-code.ts`). */
declare const codeCache: () => Buffer;
declare const fromCache: boolean;

const randomBits = new BigUint64Array(1);

/** Loads `node:crypto` when a program first asks for random numbers. Few do, and loading takes a tenth of a start. */
const fill = (numbers: BigUint64Array): BigUint64Array =>
  process.getBuiltinModule('node:crypto').randomFillSync(numbers);

const powers: Powers = {
  now: () => Math.floor(Date.now()),
  random: () => Number((fill(randomBits)[0] as bigint) >> 11n) / 2 ** 53,
  after(ms, then) {
    const timer = setTimeout(then, ms);
    return () => clearTimeout(timer);
  },
};

/** Receives the output of one program, and errors that no code of it handles. */
interface Listener {
  say(text: string): void;
  onUncaught(then: (error: unknown) => void): void;
}

const host: Listener = {
  // Not as a frame: frames wait for the event loop, and the output of an endless loop must get out.
  say: (text) => void process.send?.({ said: text }),
  onUncaught: (then) => void process.removeAllListeners('unhandledRejection').on('unhandledRejection', then),
};

async function run({ source, caps, outputBytes }: RunRequest, { say, onUncaught }: Listener): Promise<RunOutcome> {
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

/** Runs the reader of sources. Its refusals already name the line and the remedy. */
function read<T>(act: () => T): T | { readonly failed: string; readonly code: string } {
  try {
    return act();
  } catch (error) {
    if (error instanceof CapError) return { failed: error.message, code: error.code };
    throw error;
  }
}

/**
 * Resolves when the compiled code is written. A program runs only then. While an endless loop runs, output that is
 * queued behind other data is never written.
 */
let codeIsSent: Promise<void> = Promise.resolve();

const sendCode = (): Promise<void> =>
  new Promise((sent) => process.send?.({ codeCache: codeCache().toString('base64') }, () => sent()));

const bootstrap = driver<Runner>({
  run: ([order]) => {
    isGiven = true;
    return codeIsSent.then(() => run(order, host));
  },
});
const { closed } = captp(fromChild(beside(process, hear)), { bootstrap });
void closed.then(() => process.exit());
process.send?.({ ready: true, fromCache });

/** A process that gets its program sooner than this is not delayed by the collection. */
const collectAfterMs = 300;
let isGiven = false;

/** Runs while the process is idle, so that the first program need not wait for the engine to compile. */
async function hear(asked: Beside): Promise<void> {
  const silent: Listener = { say: () => {}, onUncaught: () => {} };
  const warm = (): Promise<void> => warmUp((order) => run(order, silent)).catch(() => {});
  await warm();
  if (asked.codeCache === true && !isGiven) codeIsSent = sendCode();
  setTimeout(() => {
    if (isGiven) return;
    collect();
    // The collection dropped what the engine had learned about our code.
    void warm();
  }, collectAfterMs);
}
