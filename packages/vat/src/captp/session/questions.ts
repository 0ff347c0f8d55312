/**
 * Our questions to the peer, and the promises that we imported.
 *
 * Promise: each is settled once. Messages reach the value in the order in which they were sent. If the value
 * is an object of ours, new messages wait until the earlier ones have come back from the peer. When the
 * connection ends, everything unsettled breaks.
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
  readonly #outbound: Outbound;
  readonly #connection: PeerConnection;
  readonly #imports: ImportTable;
  readonly #questions = new Map<number, Question>();
  #lastQuestion = 0;
  /** Settled imported promises, to be dropped at the next flush. */
  #toDrop: ImportedPromise[] = [];
  /** Length of the current frame. */
  #frameLength = 0;

  constructor(outbound: Outbound, connection: PeerConnection, imports: ImportTable) {
    this.#outbound = outbound;
    this.#connection = connection;
    this.#imports = imports;
  }

  /** Unanswered questions of ours. */
  get questions(): number {
    return this.#questions.size;
  }

  /** Called at the start of each frame. */
  begin(length: number): void {
    this.#frameLength = length;
  }

  // ---- answers to our questions ---------------------------------------------------------------------------

  /**
   * Returns the number for the next question. Encoding its arguments may need further numbers before it is
   * sent.
   */
  number(): number {
    this.#lastQuestion += 1;
    return this.#lastQuestion;
  }

  /** Called when the question was sent. */
  asked(id: number, answer: Asked): void {
    const question = new Question(this.#connection, id, answer);
    this.#questions.set(id, question);
    this.#outbound.addBytes(weights.question);
    answer.along?.(question);
  }

  /** `after`: the barrier that the values of the answer depend on. */
  answer(id: number, value: unknown, after: Barrier | undefined): void {
    const question = this.#settled(id);
    if (value instanceof Undecodable) {
      this.#finish(question, false);
      return question.answer.break(value.error);
    }
    const becoming = promised(value);
    // If a question and a promise are held to become each other, a walk along what they wait for never ends.
    const closes = becoming !== undefined && question.answer.awaitedBy?.(becoming) === true;
    if (question.sent > 0 && this.#ours(value) && !closes) {
      question.answer.hold?.(becoming);
      return this.#afterFlush(question, (error) => {
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
    if (question === undefined || question.decided)
      throw new Violation('an answer names a question that was not asked');
    question.decided = true;
    return question;
  }

  #finish(question: Question, reference: boolean): void {
    question.settled = true;
    if (!this.#questions.delete(question.slot.id)) return;
    // The question is in no table any more. An error here must not keep its caller from being told.
    this.#connection.fence.run(() => {
      this.#outbound.addBytes(-weights.question);
      if (this.#outbound.closed !== undefined) return;
      this.#outbound.dialectSession.done(question.slot.id, reference);
      this.#outbound.forgetSoon();
    });
  }

  // ---- promises of the peer -------------------------------------------------------------------------------

  resolve(id: number, value: unknown, after: Barrier | undefined): void {
    const promise = this.#imports.promised(id);
    // The promise may be dropped already, because messages cross. The values of the message are still ours.
    if (promise === undefined || promise.decided) return;
    promise.decided = true;
    if (value instanceof Undecodable) return this.#resolved(promise, () => promise.vatPromise.break(value.error));
    if (promise.sent > 0 && this.#ours(value) && promised(value)?.waitsFor(promise.vatPromise) !== true) {
      promise.vatPromise.hold(promised(value));
      return this.#afterFlush(promise, (error) =>
        this.#resolved(promise, () =>
          error === undefined ? behind(after, () => promise.vatPromise.fulfil(value)) : promise.vatPromise.break(error),
        ),
      );
    }
    this.#resolved(promise, () => behind(after, () => promise.vatPromise.fulfil(value)));
  }

  break(id: number, error: CapError): void {
    const promise = this.#imports.promised(id);
    if (promise === undefined || promise.decided) return;
    promise.decided = true;
    this.#resolved(promise, () => promise.vatPromise.break(error));
  }

  #resolved(promise: ImportedPromise, settle: () => void): void {
    promise.settled = true;
    this.#imports.settled(promise);
    this.#connection.fence.run(() => {
      if (!this.#outbound.dialect.collects) this.#outbound.addBytes(this.#frameLength);
      else if (this.#outbound.closed === undefined) {
        // The promise is not dropped at once, because its value may mention it.
        this.#toDrop.push(promise);
        this.#outbound.forgetSoon();
      }
    });
    settle();
  }

  /** Drops the settled promises. */
  giveBack(): void {
    const dropped = this.#toDrop;
    this.#toDrop = [];
    for (const promise of dropped) this.#outbound.dialectSession.drop(promise.slot.id, this.#imports.giveBack(promise));
  }

  // ---- order ----------------------------------------------------------------------------------------------

  /** True if messages to `value` do not go through the peer. */
  #ours(value: unknown): boolean {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
    const target = targetOf(value);
    if (target !== undefined) return !(target instanceof Remote && target.connection === this.#connection);
    const path = vatPromiseOf(value)?.path;
    return vatPromiseOf(value) !== undefined && !(path instanceof Remote && path.connection === this.#connection);
  }

  /**
   * Calls `then` when everything sent along `path` has arrived, or with the reason why that cannot be known.
   */
  #afterFlush(path: Question | ImportedPromise, then: (error: CapError | undefined) => void): void {
    const answer = this.#connection.fence.answer(
      () => then(undefined),
      // A refusal of another party shows that the flush arrived.
      () => then(this.#outbound.closed),
    );
    try {
      const message = flushMessage(path, answer, this.#connection.account);
      message.behind(path.after);
      path.post(message);
    } catch {
      then(undefined);
    }
  }

  // ---- closing --------------------------------------------------------------------------------------------

  /** Empties the tables. The returned function breaks everything that was unsettled. */
  clear(): (why: CapError) => void {
    const questions = [...this.#questions.values()];
    this.#questions.clear();
    this.#toDrop = [];
    let promises: ImportedPromise[] = [];
    this.#connection.fence.run(() => {
      promises = this.#imports.clear();
    });
    return (why) => {
      breakSome(this.#connection.fence, questions, promises, why);
    };
  }
}

const promised = (value: unknown): VatPromise | undefined =>
  typeof value === 'object' && value !== null ? vatPromiseOf(value) : undefined;

/**
 * Breaks a part at once and the rest after other work has run. A peer with very many open promises must not
 * delay others when it leaves.
 */
function breakSome(fence: Fence, questions: Question[], promises: ImportedPromise[], why: CapError): void {
  for (const question of questions.splice(0, brokenAtOnce)) {
    question.settled = true;
    fence.run(() => question.answer.break(why));
  }
  for (const promise of promises.splice(0, brokenAtOnce)) {
    promise.settled = true;
    fence.run(() => promise.vatPromise.break(why));
  }
  if (questions.length + promises.length > 0) fence.onceOthersRan(() => breakSome(fence, questions, promises, why));
}
