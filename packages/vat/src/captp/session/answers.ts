/**
 * The peer's questions, by its numbers, for as long as it may still name what they are answered with.
 *
 * Promise: no number is used twice, also after it is forgotten. Each answer is paid for until it is given and the peer is done
 * with it. An answer that comes as an argument is what its question is answered with, there already or not, and whoever takes it
 * waits for the turn that gave it.
 */
import { type Barrier, later } from '../../core/barrier.ts';
import { CapError } from '../../core/errors.ts';
import { targetOf } from '../../core/reference.ts';
import { pass, shareable } from '../../turn/values.ts';
import { Answer, type Answering } from './answer.ts';
import { weights } from './limits.ts';
import { Violation } from './operations.ts';
import type { Outbound } from './outbound.ts';

const dataForgotten = new CapError(
  'invalid',
  'this answer was data, which is forgotten once it is sent: send the data itself',
);

/** Broken answers that are remembered for a peer that never says that it is done with them. */
const mostBroken = 1000;

export class Answers {
  readonly #line: Outbound;
  readonly #session: Answering;
  readonly #answers = new Map<number, Answer>();
  #lastHeard = 0;
  readonly #broken: number[] = [];
  /** Of a peer that never says that it is done: the answers that are this reference. */
  readonly #byReference = new Map<object, Set<number>>();
  #unanswered = 0;
  /** What those weigh. */
  #running = 0;
  #over = false;
  /** What values of the operation that is being heard have to wait for. */
  #after: Barrier | undefined;
  /** Bytes that were copied for the frame that is being heard. */
  #copies = 0;

  constructor(line: Outbound, session: Answering) {
    this.#line = line;
    this.#session = session;
  }

  /** The peer's questions, answered or not, that it is not done with. */
  get size(): number {
    return this.#answers.size;
  }

  /** Of those and of the calls that want no answer: the ones that still run. */
  get unanswered(): number {
    return this.#unanswered;
  }

  /** A frame begins. */
  begin(): void {
    this.#copies = 0;
  }

  /** The entry of a question that was just asked. */
  ask(question: number, bytes: number): Answer {
    if (question !== 0) {
      // Rising numbers: none is used twice, also after it is forgotten.
      if (question <= this.#lastHeard) throw new Violation('asks the same question twice: number questions upwards');
      this.#lastHeard = question;
    }
    const answer = new Answer(this.#session, question, weights.call + bytes);
    if (question !== 0) this.#answers.set(question, answer);
    this.#unanswered += 1;
    this.#running += answer.weight;
    this.#line.keeps(answer.weight);
    return answer;
  }

  get(question: number): Answer | undefined {
    return this.#answers.get(question);
  }

  /** Whether such a question was ever asked. */
  heardOf(question: number): boolean {
    return question <= this.#lastHeard;
  }

  /** It is answered; false where nobody is to be told. */
  ended(answer: Answer): boolean {
    this.#unanswered -= 1;
    this.#running -= answer.weight;
    if (this.#over) this.#session.account.outliving -= answer.weight;
    const wanted = answer.question !== 0 && !answer.told && this.#line.closed === undefined;
    answer.told = true;
    if (!wanted) this.#line.keeps(-answer.weight);
    return wanted;
  }

  /**
   * What an answer that is there weighs from now on; `value` undefined where it broke. In dialects that never say that they are done, data
   * is forgotten.
   */
  keep(answer: Answer, value: { readonly is: unknown } | undefined, said: number): void {
    this.#line.keeps(weights.answer + said - answer.weight);
    answer.weight = weights.answer + said;
    if (this.#line.dialect.saysDone) return;
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

  /** The peer has collected this reference: so it has nothing left by which it could call an answer that is that. */
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
    this.#line.keeps(-answer.weight);
  }

  #forgetReference({ question, reference }: Answer): void {
    const known = reference === undefined ? undefined : this.#byReference.get(reference);
    if (known?.delete(question) === true && known.size === 0) this.#byReference.delete(reference as object);
  }

  /** The peer will not name it again. */
  done(question: number): void {
    const answer = this.#answers.get(question);
    if (answer === undefined) return;
    this.#answers.delete(question);
    this.#forgetReference(answer);
    // One that still runs is paid for until it ends.
    if (answer.told) this.#line.keeps(-answer.weight);
    else answer.told = true;
    answer.owned?.done();
  }

  /** The connection is over. What still runs holds its arguments until it ends, so it goes on counting for the session. */
  clear(): void {
    this.#over = true;
    this.#session.account.outliving += this.#running;
    this.#answers.clear();
    this.#byReference.clear();
  }

  // ---- as arguments -------------------------------------------------------------------------------------------------------

  /** The answer to this question, where the operation that is being heard names it as a value. */
  take(question: number): unknown {
    const answer = this.#answers.get(question);
    if (answer === undefined) {
      // A peer that never says that it is done breaks no rule: it cannot know that the answer was data, and is forgotten.
      if (!this.#line.dialect.saysDone && this.heardOf(question)) throw dataForgotten;
      throw new Violation('a value names a question that was not asked, or is done');
    }
    const { value, after } = answer.asValue(this.#after);
    this.#after = later(this.#after, after);
    return shareable(value) ? value : this.#copied(answer, value);
  }

  /** Bytes could be changed by who gets them: each one gets his own. */
  #copied(answer: Answer, value: unknown): unknown {
    this.#copies += answer.weight;
    if (this.#copies > this.#line.limits.memoryBytes / 4)
      throw new CapError('limit', 'too many bytes of answers in the arguments of one frame: send less at a time');
    return pass(value, this.#session.account);
  }

  /** What the values that were just decoded have to wait for: asked once for each operation. */
  heardAfter(): Barrier | undefined {
    const after = this.#after;
    this.#after = undefined;
    return after;
  }
}
