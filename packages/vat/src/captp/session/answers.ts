/**
 * The questions of the peer by number, for as long as the peer may refer to their answers.
 *
 * Promise: no number is used twice, also not after it is forgotten. Each answer counts against the connection
 * until it is sent and the peer is done with it. An answer used as an argument is the answer itself, pending
 * or not. A call that takes it waits for the turn that decided it.
 */
import { type Barrier, later } from '../../core/barrier.ts';
import { CapError } from '../../core/errors.ts';
import { targetOf } from '../../core/reference.ts';
import { shareable } from '../../turn/copies.ts';
import { pass } from '../../turn/values.ts';
import { Answer, type Answering } from './answer.ts';
import { weights } from './limits.ts';
import { Violation } from './operations.ts';
import type { Outbound } from './outbound.ts';

const dataForgotten = new CapError(
  'invalid',
  'this answer was data, and is not kept after it is sent: send the data itself',
);

/** Broken answers kept for a peer that never sends `done`. */
const mostBroken = 1000;

export class Answers {
  readonly #outbound: Outbound;
  readonly #session: Answering;
  readonly #answers = new Map<number, Answer>();
  #lastAsked = 0;
  readonly #broken: number[] = [];
  /** For a peer that never sends `done`: the questions answered with this reference. */
  readonly #byReference = new Map<object, Set<number>>();
  #unanswered = 0;
  /** The sum of the weights of the unanswered questions. */
  #running = 0;
  #over = false;
  /** The barrier that the values of the current operation depend on. */
  #after: Barrier | undefined;
  /** Bytes copied for the current frame. */
  #copies = 0;

  constructor(outbound: Outbound, session: Answering) {
    this.#outbound = outbound;
    this.#session = session;
  }

  /** Questions, answered or not, that the peer is not done with. */
  get size(): number {
    return this.#answers.size;
  }

  /** Calls that still run, including those that want no answer. */
  get unanswered(): number {
    return this.#unanswered;
  }

  /** Called at the start of each frame. */
  begin(): void {
    this.#copies = 0;
  }

  /** Adds the entry of a new question. */
  ask(question: number, bytes: number): Answer {
    if (question !== 0) {
      // Numbers must rise. So none is used twice, also not after it is forgotten.
      if (question <= this.#lastAsked) throw new Violation('the same question number was used twice: count upwards');
      this.#lastAsked = question;
    }
    const answer = new Answer(this.#session, question, weights.call + bytes);
    if (question !== 0) this.#answers.set(question, answer);
    this.#unanswered += 1;
    this.#running += answer.weight;
    this.#outbound.addBytes(answer.weight);
    return answer;
  }

  get(question: number): Answer | undefined {
    return this.#answers.get(question);
  }

  /** True if the peer has asked this question, now or earlier. */
  wasAsked(question: number): boolean {
    return question <= this.#lastAsked;
  }

  /** Marks the answer as given. Returns false if the peer does not have to be told. */
  ended(answer: Answer): boolean {
    this.#unanswered -= 1;
    this.#running -= answer.weight;
    if (this.#over) this.#session.account.outliving -= answer.weight;
    const wanted = answer.question !== 0 && !answer.told && this.#outbound.closed === undefined;
    answer.told = true;
    if (!wanted) this.#outbound.addBytes(-answer.weight);
    return wanted;
  }

  /**
   * Sets the weight of an answer that was sent; `value` is undefined if it broke. If the dialect never sends
   * `done`, data is forgotten.
   */
  keep(answer: Answer, value: { readonly is: unknown } | undefined, sentBytes: number): void {
    this.#outbound.addBytes(weights.answer + sentBytes - answer.weight);
    answer.weight = weights.answer + sentBytes;
    if (this.#outbound.dialect.saysDone) return;
    if (value !== undefined) {
      const { is } = value;
      return targetOf(is) === undefined ? this.#forget(answer.question) : this.#keepUntilDropped(is as object, answer);
    }
    if (answer.target !== undefined) return;
    this.#broken.push(answer.question);
    if (this.#broken.length > mostBroken) this.#forget(this.#broken.shift() as number);
  }

  #keepUntilDropped(reference: object, { question }: Answer): void {
    const known = this.#byReference.get(reference);
    if (known === undefined) this.#byReference.set(reference, new Set([question]));
    else known.add(question);
  }

  /** The peer dropped this reference, so it can no longer call answers that resolved to it. */
  dropped(reference: object): void {
    const questions = this.#byReference.get(reference);
    this.#byReference.delete(reference);
    for (const question of questions ?? []) this.#forget(question);
  }

  #forget(question: number): void {
    const answer = this.#answers.get(question);
    if (answer === undefined) return;
    this.#answers.delete(question);
    this.#forgetReference(answer);
    this.#outbound.addBytes(-answer.weight);
  }

  #forgetReference({ question, reference }: Answer): void {
    const known = reference === undefined ? undefined : this.#byReference.get(reference);
    if (known?.delete(question) === true && known.size === 0) this.#byReference.delete(reference as object);
  }

  /** The peer will not refer to this answer again. */
  done(question: number): void {
    const answer = this.#answers.get(question);
    if (answer === undefined) return;
    this.#answers.delete(question);
    this.#forgetReference(answer);
    // A call that still runs counts until it ends.
    if (answer.told) this.#outbound.addBytes(-answer.weight);
    else answer.told = true;
    answer.owned?.done();
  }

  /**
   * The connection is closed. Calls that still run hold their arguments until they end, so they count for the
   * session.
   */
  clear(): void {
    this.#over = true;
    this.#session.account.outliving += this.#running;
    this.#answers.clear();
    this.#byReference.clear();
  }

  // ---- answers as arguments -------------------------------------------------------------------------------

  /** Returns the answer that the current operation names as a value. */
  take(question: number): unknown {
    const answer = this.#answers.get(question);
    if (answer === undefined) {
      // A peer that never sends `done` breaks no rule here: it cannot know that the answer was data and is
      // forgotten.
      if (!this.#outbound.dialect.saysDone && this.wasAsked(question)) throw dataForgotten;
      throw new Violation('a value names a question that was not asked, or is done');
    }
    const { value, after } = answer.asValue(this.#after);
    this.#after = later(this.#after, after);
    return shareable(value) ? value : this.#copied(answer, value);
  }

  /** Bytes are mutable, so each receiver gets its own copy. */
  #copied(answer: Answer, value: unknown): unknown {
    this.#copies += answer.weight;
    if (this.#copies > this.#outbound.limits.memoryBytes / 4)
      throw new CapError('limit', 'too many bytes of answers in the arguments of one frame: send less at a time');
    return pass(value, this.#session.account);
  }

  /** Returns and resets the barrier of the values just decoded. Called once for each operation. */
  takeBarrier(): Barrier | undefined {
    const after = this.#after;
    this.#after = undefined;
    return after;
  }
}
