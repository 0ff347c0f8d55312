/**
 * The peer's calls: which may go on now, which wait, which are refused, and what all of them hold of this process.
 *
 * Promise: a call reaches a reference, or it is refused. What an answer or a promise became is known before a call on it goes on,
 * and data takes no calls. Left alone, `@endo/captp` applies a call on an answer to whatever the answer is, and data inherits
 * methods: `repeat` of a string fills the memory, and `constructor` of a list is three calls away from running the peer's text
 * in this process (done, where intrinsics were not hardened).
 *
 * What the package keeps of a call until the connection closes has a limit here, since it has none there.
 */
import { mutant } from '../drivers/mutant.ts';
import type { WireMessage } from './frame.ts';

export interface CallLimits {
  /** Bytes of calls that were not answered yet. */
  readonly unansweredBytes: number;
  /** Calls that wait for what they are addressed to. */
  readonly waiting: number;
  /** Bytes, about, that the connection may keep until it closes. */
  readonly keptBytes: number;
}

export const callLimits: CallLimits = Object.freeze({
  unansweredBytes: 32 << 20,
  waiting: 10_000,
  keptBytes: 256 << 20,
});

/** What becomes of a call, or of anything else that the peer says. */
export type Fate =
  | { readonly go: 'on' | 'wait' }
  | { readonly go: 'refuse'; readonly text: string }
  | { readonly go: 'close'; readonly reason: string };

/** A peer's question, or a promise that it was given. */
type Settled = { readonly is: 'reference' } | { readonly is: 'broken'; readonly text: string };
type State = Settled | { readonly is: 'pending'; readonly waiting: WireMessage[] };

const dataTakesCalls = mutant('captp-data');

const on: Fate = { go: 'on' };
const wait: Fate = { go: 'wait' };
const reference: Settled = { is: 'reference' };
const data: Settled = {
  is: 'broken',
  text: 'not-callable: this was sent to data: only a reference can be sent a message',
};

// Measured for 4.5.1: 342 bytes an answer, 2.6 kB an import; and what is kept here.
const perCall = 600;
const perImport = 3000;

export class Calls {
  readonly #limits: CallLimits;
  readonly #states = new Map<string, State>();
  readonly #unanswered = new Map<string, number>();
  readonly #imports = new Set<string>();
  #unansweredBytes = 0;
  #waiting = 0;
  #kept = 0;

  constructor(limits: CallLimits = callLimits) {
    this.#limits = limits;
  }

  /** The peer sent `message` in a frame of so many bytes. */
  received(message: WireMessage, bytes: number): Fate {
    for (const slot of slotsOf(message)) {
      // Its own objects: each is a presence here, with whatever text it was introduced by.
      if (slot[1] !== '+' || this.#imports.has(slot)) continue;
      this.#imports.add(slot);
      this.#kept += perImport + bytes;
    }
    if (message.type === 'CTP_BOOTSTRAP' || message.type === 'CTP_CALL') {
      const id = message['questionID'] as string;
      if (this.#states.has(id)) return { go: 'close', reason: `${message.type} asks the same question twice` };
      this.#states.set(id, { is: 'pending', waiting: [] });
      this.#unanswered.set(id, bytes);
      this.#unansweredBytes += bytes;
      this.#kept += perCall;
    }
    if (this.#kept > this.#limits.keptBytes)
      return { go: 'close', reason: 'this connection keeps more than it may: connect again' };
    return message.type === 'CTP_CALL' ? this.#addressed(message) : on;
  }

  #addressed(message: WireMessage): Fate {
    if (this.#unansweredBytes > this.#limits.unansweredBytes)
      return refuse('limit: too much is unanswered on this connection: wait for answers before you send more');
    const target = message['target'] as string;
    // An object of ours: the package knows which it gave out.
    if (target[0] === 'o') return on;
    const state = this.#states.get(target);
    if (state === undefined) return { go: 'close', reason: 'CTP_CALL names what was never offered' };
    if (state.is === 'reference') return on;
    if (state.is === 'broken') return refuse(state.text);
    if (this.#waiting >= this.#limits.waiting)
      return refuse('limit: too many calls wait for one answer: wait for it before you send more');
    this.#waiting += 1;
    state.waiting.push(message);
    return wait;
  }

  /** We gave the peer a promise: `slot` as we name it. */
  gavePromise(slot: string): void {
    this.#states.set(slot.replace('+', '-'), { is: 'pending', waiting: [] });
    this.#kept += perCall;
  }

  /** What we say settles a question or a promise: answers the calls that waited for it, in order. */
  sent(message: Readonly<Record<string, unknown>>, bytes: number): readonly WireMessage[] {
    const id = (message['answerID'] ?? message['promiseID']) as string | undefined;
    if (id === undefined || (message['type'] !== 'CTP_RETURN' && message['type'] !== 'CTP_RESOLVE')) return [];
    this.#kept += bytes;
    this.#unansweredBytes -= this.#unanswered.get(id) ?? 0;
    this.#unanswered.delete(id);
    const before = this.#states.get(id);
    this.#states.set(id, settledBy(message));
    if (before?.is !== 'pending') return [];
    this.#waiting -= before.waiting.length;
    return before.waiting;
  }

  /** A call that waited, now that it is known for what: never `wait`. */
  released(message: WireMessage): Fate {
    const state = this.#states.get(message['target'] as string);
    return state?.is === 'broken' ? refuse(state.text) : on;
  }
}

const refuse = (text: string): Fate => ({ go: 'refuse', text });

interface CapData {
  readonly body: string;
  readonly slots: readonly string[];
}

function* slotsOf(message: WireMessage): Generator<string> {
  for (const value of Object.values(message))
    if (typeof value === 'object' && value !== null && 'slots' in value) yield* (value as CapData).slots;
}

/** From our own encoder's text: a record that only looks like a slot is written otherwise (`hilbert`). */
function settledBy(message: Readonly<Record<string, unknown>>): Settled {
  const broken = (message['exception'] ?? message['rej']) as CapData | undefined;
  if (broken !== undefined) return { is: 'broken', text: (JSON.parse(broken.body) as { message: string }).message };
  const { body } = (message['result'] ?? message['res']) as CapData;
  return body.startsWith('{"@qclass":"slot"') || dataTakesCalls ? reference : data;
}
