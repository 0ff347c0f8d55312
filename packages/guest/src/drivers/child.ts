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
import { type Prepared, prepare } from '../source/prepare.ts';
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

/** The compartment and the console of a program. They can be made before the program arrives. */
interface Surroundings {
  /** The text of the program, from which errors name a line. Set when the program arrives. */
  source: string;
  outputBytes: number;
  where: Prepared['where'];
  readonly give: ReturnType<typeof compartment>;
  readonly uncaught: (error: unknown) => void;
}

function surroundings(say: Listener['say']): Surroundings {
  const printer = printing(say, () => made.outputBytes);
  const uncaught = (error: unknown): void =>
    printer.error(`uncaught: ${describe(error, made.source, made.where).failed}`);
  const made: Surroundings = {
    source: '',
    outputBytes: 0,
    where: (line, column) => ({ line, column }),
    give: compartment({ E: guestE, console: printer }, powers, uncaught),
    uncaught,
  };
  return made;
}

async function run(
  { source, caps, outputBytes }: RunRequest,
  { say, onUncaught }: Listener,
  place: Surroundings = surroundings(say),
): Promise<RunOutcome> {
  Object.assign(place, { source, outputBytes });
  try {
    const prepared = read(() => prepare(source));
    if ('failed' in prepared) return prepared;
    place.where = prepared.where;
    onUncaught(place.uncaught);
    const program = place
      .give(caps)
      .evaluate(`${prepared.code}\n//# sourceURL=${programName}`) as () => Promise<unknown>;
    return { value: await settled(await program()) };
  } catch (error) {
    return describe(error, source, place.where);
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
    return codeIsSent.then(() => run(order, host, waiting));
  },
});
const { closed } = captp(fromChild(beside(process, hear)), { bootstrap });
void closed.then(() => process.exit());
process.send?.({ ready: true, fromCache });

/** Made while the process is idle, so that the program need not wait for it. */
let waiting: Surroundings | undefined;

/** A process that gets its program sooner than this is not delayed by the collection. */
const collectAfterMs = 300;
let isGiven = false;

/** Runs while the process is idle, so that the first program need not wait for the engine to compile. */
async function hear(asked: Beside): Promise<void> {
  const silent: Listener = { say: () => {}, onUncaught: () => {} };
  const warm = async (): Promise<void> => {
    await warmUp((order) => run(order, silent)).catch(() => {});
    if (!isGiven) waiting ??= surroundings(host.say);
  };
  await warm();
  if (asked.codeCache === true && !isGiven) codeIsSent = sendCode();
  setTimeout(() => {
    if (isGiven) return;
    collect();
    // The collection dropped what the engine had learned about our code.
    void warm();
  }, collectAfterMs);
}
