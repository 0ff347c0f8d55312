/**
 * What we wait for: the peer's answers to our questions, and what becomes of its promises.
 *
 * Promise: each is decided once. Messages reach what it becomes in the order in which they were sent: where that is an object of
 * our own, those sent from now on wait until those that went to the peer have come back. When the connection ends, all break.
 */
import { type Barrier, behind } from '../../core/barrier.ts';
import type { CapError } from '../../core/errors.ts';
import { type VatPromise, vatPromiseOf } from '../../core/promise.ts';
import { targetOf } from '../../core/reference.ts';
import type { Fence } from './fence.ts';
import { flushMessage } from './flush.ts';
import type { ImportTable } from './import-table.ts';
import { type Asked, type ImportedPromise, type PeerConnection, Question, Remote } from './imports.ts';
import { brokenAtOnce, weights } from './limits.ts';
import { Undecodable, Violation } from './operations.ts';
import type { Outbound } from './outbound.ts';

export class Questions {
  readonly #line: Outbound;
  readonly #exit: PeerConnection;
  readonly #imports: ImportTable;
  readonly #questions = new Map<number, Question>();
  #lastQuestion = 0;
  /** Promises of the peer's that are settled, and go back to it when there is time. */
  #over: ImportedPromise[] = [];
  /** How much is being heard. */
  #hearing = 0;

  constructor(line: Outbound, exit: PeerConnection, imports: ImportTable) {
    this.#line = line;
    this.#exit = exit;
    this.#imports = imports;
  }

  /** Questions of ours that are not answered. */
  get questions(): number {
    return this.#questions.size;
  }

  /** A frame of this length begins. */
  begin(length: number): void {
    this.#hearing = length;
  }

  // ---- answers to our questions -------------------------------------------------------------------------------------------

  /** A number for the next question: what is said with it may ask more, before it is known that it was said. */
  number(): number {
    this.#lastQuestion += 1;
    return this.#lastQuestion;
  }

  /** It was said. */
  asked(id: number, answer: Asked): void {
    const question = new Question(this.#exit, id, answer);
    this.#questions.set(id, question);
    this.#line.keeps(weights.question);
    answer.along?.(question);
  }

  /** `after`: what the values that came with it have to wait for. */
  answer(id: number, value: unknown, after: Barrier | undefined): void {
    const question = this.#settled(id);
    if (value instanceof Undecodable) {
      this.#finish(question, false);
      return question.answer.break(value.error);
    }
    const becoming = promised(value);
    // Two that are held to become each other would be followed round and round by whoever asks what they wait for.
    const closes = becoming !== undefined && question.answer.awaitedBy?.(becoming) === true;
    if (question.sent > 0 && this.#ours(value) && !closes) {
      question.answer.hold?.(becoming);
      return this.#behind(question, (error) => {
        this.#finish(question, true);
        if (error === undefined) behind(after, () => question.answer.fulfil(value));
        else question.answer.break(error);
      });
    }
    this.#finish(question, typeof value === 'object' && value !== null && targetOf(value) !== undefined);
    behind(after, () => question.answer.fulfil(value));
  }

  refuse(id: number, error: CapError): void {
    const question = this.#settled(id);
    this.#finish(question, false);
    question.answer.break(error);
  }

  #settled(id: number): Question {
    const question = this.#questions.get(id);
    if (question === undefined || question.decided) throw new Violation('answers a question that was not asked');
    question.decided = true;
    return question;
  }

  #finish(question: Question, reference: boolean): void {
    question.over = true;
    if (!this.#questions.delete(question.slot.id)) return;
    // It is in no table any more: whoever waits for it is told, whatever becomes of this.
    this.#exit.fence.run(() => {
      this.#line.keeps(-weights.question);
      if (this.#line.closed !== undefined) return;
      this.#line.tongue.done(question.slot.id, reference);
      this.#line.forgetSoon();
    });
  }

  // ---- what becomes of the peer's promises --------------------------------------------------------------------------------

  resolve(id: number, value: unknown, after: Barrier | undefined): void {
    const promise = this.#imports.promised(id);
    // It may be gone already: messages cross. What came with it is ours all the same.
    if (promise === undefined || promise.decided) return;
    promise.decided = true;
    if (value instanceof Undecodable) return this.#resolved(promise, () => promise.vow.break(value.error));
    if (promise.sent > 0 && this.#ours(value) && promised(value)?.waitsFor(promise.vow) !== true) {
      promise.vow.hold(promised(value));
      return this.#behind(promise, (error) =>
        this.#resolved(promise, () =>
          error === undefined ? behind(after, () => promise.vow.fulfil(value)) : promise.vow.break(error),
        ),
      );
    }
    this.#resolved(promise, () => behind(after, () => promise.vow.fulfil(value)));
  }

  break(id: number, error: CapError): void {
    const promise = this.#imports.promised(id);
    if (promise === undefined || promise.decided) return;
    promise.decided = true;
    this.#resolved(promise, () => promise.vow.break(error));
  }

  #resolved(promise: ImportedPromise, settle: () => void): void {
    promise.over = true;
    this.#imports.settled(promise);
    this.#exit.fence.run(() => {
      if (!this.#line.dialect.collects) this.#line.keeps(this.#hearing);
      else if (this.#line.closed === undefined) {
        // Not at once: what it became may mention it.
        this.#over.push(promise);
        this.#line.forgetSoon();
      }
    });
    settle();
  }

  /** Says that the promises that are settled are done with. */
  giveBack(): void {
    const over = this.#over;
    this.#over = [];
    for (const promise of over) this.#line.tongue.drop(promise.slot.id, this.#imports.giveBack(promise));
  }

  // ---- in order -----------------------------------------------------------------------------------------------------------

  /** Whether messages to it would go another way than through the peer. */
  #ours(value: unknown): boolean {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
    const target = targetOf(value);
    if (target !== undefined) return !(target instanceof Remote && target.exit === this.#exit);
    const path = vatPromiseOf(value)?.path;
    return vatPromiseOf(value) !== undefined && !(path instanceof Remote && path.exit === this.#exit);
  }

  /** Calls back when what was sent along `path` has arrived, or with the reason why that will never be known. */
  #behind(path: Question | ImportedPromise, then: (error: CapError | undefined) => void): void {
    const answer = this.#exit.fence.answer(
      () => then(undefined),
      // That somebody else refused it shows that it arrived.
      () => then(this.#line.closed),
    );
    try {
      const message = flushMessage(path, answer, this.#exit.account);
      message.behind(path.after);
      path.post(message);
    } catch {
      then(undefined);
    }
  }

  // ---- the end ------------------------------------------------------------------------------------------------------------

  /** Empties the tables; what is answered breaks all that still waited. */
  clear(): (why: CapError) => void {
    const questions = [...this.#questions.values()];
    this.#questions.clear();
    this.#over = [];
    let promises: ImportedPromise[] = [];
    this.#exit.fence.run(() => {
      promises = this.#imports.clear();
    });
    return (why) => {
      breakSome(this.#exit.fence, questions, promises, why);
    };
  }
}

const promised = (value: unknown): VatPromise | undefined =>
  typeof value === 'object' && value !== null ? vatPromiseOf(value) : undefined;

/** Some at once, the others when there is time: who makes us wait for very much must not hold up the rest with its end. */
function breakSome(fence: Fence, questions: Question[], promises: ImportedPromise[], why: CapError): void {
  for (const question of questions.splice(0, brokenAtOnce)) {
    question.over = true;
    fence.run(() => question.answer.break(why));
  }
  for (const promise of promises.splice(0, brokenAtOnce)) {
    promise.over = true;
    fence.run(() => promise.vow.break(why));
  }
  if (questions.length + promises.length > 0) fence.onceOthersRan(() => breakSome(fence, questions, promises, why));
}
