/**
 * The session core: exports and imports, questions and answers, and the rules between them.
 *
 * The core handles no bytes. A dialect decodes what the peer sends and encodes what the core sends.
 *
 * Promise: a message that arrives is a turn like any other (meters, chains, rollback, output commit). A
 * message that leaves waits until its turn is durable. Every call is answered, or the connection closes.
 * Messages reach the value of a promise in the order in which they were sent, also when the value is an
 * object of the sender. All memory that a peer makes us keep is counted.
 *
 * This file routes calls and answers. The rules are in the files of the tables: `Outbound` (when frames
 * leave, how much may be kept, the end), `Answers` (questions of the peer), `Questions` (our questions and
 * the promises of the peer), `Exports` and `ImportTable`.
 */
import { noChain } from '../../core/causes.ts';
import { CapError } from '../../core/errors.ts';
import { Message, type ResultSink, type Target } from '../../core/message.ts';
import type { Account } from '../../core/meter.ts';
import { isMethodName, targetOf } from '../../core/reference.ts';
import { type Answer, type Answering, forgotten, ignored, wanted } from './answer.ts';
import { Answers } from './answers.ts';
import { isPromise } from './export-table.ts';
import { Exports } from './exports.ts';
import { disconnected, Fence, fenced, returnsNothing } from './fence.ts';
import { flush, flushMethod } from './flush.ts';
import { ImportTable } from './import-table.ts';
import type { Import, PeerConnection, Remote } from './imports.ts';
import { type SessionLimits, weights } from './limits.ts';
import {
  type DecodedArguments,
  type Dialect,
  type Fault,
  type Frame,
  type IncomingOperations,
  type Slot,
  type Slots,
  Violation,
} from './operations.ts';
import { type Link, Outbound } from './outbound.ts';
import { Questions } from './questions.ts';
import { Severance } from './severance.ts';
import { ofStreams, Streams } from './streams.ts';

/** The sizes of the tables of a connection. All but `bytes` are counts. */
export interface CapTPStats {
  /** Unanswered calls of ours. */
  readonly questions: number;
  /** Calls of the peer, answered or not, that it is not done with. */
  readonly answers: number;
  readonly imports: number;
  readonly exports: number;
  /** Unsettled promises, imported and exported. */
  readonly promises: number;
  /** Approximate memory that this connection uses. */
  readonly bytes: number;
}
/** Maximum length of a method name. */
const longestMethod = 1024;

export class Session implements Slots, IncomingOperations, PeerConnection, Answering {
  readonly account: Account;
  readonly fault: Fault | undefined;
  readonly fence: Fence;
  readonly #outbound: Outbound;
  readonly #imports: ImportTable;
  readonly #answers: Answers;
  readonly #exports: Exports;
  readonly #questions: Questions;
  readonly #streams: Streams;
  #severance: Severance | undefined;

  constructor(
    dialect: Dialect,
    link: Link,
    account: Account,
    limits: SessionLimits,
    bootstrap?: object,
    fault?: Fault,
  ) {
    this.account = account;
    this.fault = fault;
    this.fence = new Fence(this, fault);
    const offered = targetOf(bootstrap);
    this.#streams = new Streams(this.fence, account, offered);
    const dialectSession = dialect.open(this, this, limits, (frame, written) =>
      link.send(frame, written && this.fence.guard(written)),
    );
    this.#outbound = new Outbound(dialect, dialectSession, limits, this.fence, account, link, {
      giveBack: () => this.#questions.giveBack(),
      ended: (why) => this.#ended(why),
    });
    this.#imports = new ImportTable(this, limits.exports, (bytes) => this.#outbound.addBytes(bytes));
    this.#answers = new Answers(this.#outbound, this);
    this.#exports = new Exports(this.#outbound, this, this.#streams, (reference) => this.#answers.dropped(reference));
    this.#questions = new Questions(this.#outbound, this, this.#imports);
    if (offered !== undefined) this.#exports.bootstrap(bootstrap as object, offered);
  }

  get closed(): CapError | undefined {
    return this.#outbound.closed;
  }

  get stats(): CapTPStats {
    return Object.freeze({
      questions: this.#questions.questions,
      answers: this.#answers.size,
      imports: this.#imports.size,
      exports: this.#exports.size,
      promises: this.#imports.pending + this.#exports.pending,
      bytes: this.#outbound.bytes,
    });
  }

  /** Returns the bootstrap of the peer: its export 0. */
  bootstrapOfPeer(): object {
    return this.#imports.object(0);
  }

  // ---- incoming -------------------------------------------------------------------------------------------

  receive(frame: Frame): void {
    const outbound = this.#outbound;
    if (outbound.closed !== undefined || outbound.closesIfFlooded() || outbound.closesIfOverspent()) return;
    this.#answers.begin();
    this.#imports.begin();
    this.#questions.begin(frame.length);
    outbound.dialectSession.receive(frame);
    if (!outbound.closesIfOverspent()) outbound.holdIfAhead();
  }

  deliver(to: Slot, method: string, args: DecodedArguments | CapError, question: number, bytes: number): void {
    if (this.closed !== undefined) return;
    if (to.kind === 'answer' && question !== 0 && to.id >= question)
      throw new Violation('a call names a question that was never asked');
    const answer = this.#answers.ask(question, bytes);
    const after = this.#answers.takeBarrier();
    const asked = to.kind === 'answer' ? this.#answers.get(to.id) : undefined;
    const target = asked ?? this.#targetOf(to, answer);
    if (target === undefined) return;
    if (this.#answers.unanswered > this.#outbound.limits.questions)
      return answer.break(new CapError('limit', 'too many calls are unanswered on this connection: wait for answers'));
    if (args instanceof CapError) return answer.break(args);
    // This comes before any quoting, because a slice of a long string keeps the whole string in memory.
    if (method.length > longestMethod)
      return answer.break(new CapError('no-such-method', 'the name of this method is too long'));
    if (!isMethodName(method))
      return answer.break(new CapError('no-such-method', `no object has a method "${method.slice(0, 64)}"`));
    try {
      if (method === flushMethod) {
        const behind = asked === undefined ? target : asked.target;
        return behind === undefined ? answer.fulfil(undefined) : flush(this.fence, behind, answer, this.account);
      }
      this.account.charge('messages', 1);
    } catch (error) {
      return answer.break(error);
    }
    const message = new Message({
      to: target,
      method,
      args: args.args,
      promises: args.promises,
      answer,
      account: this.account,
      chain: noChain,
    });
    if (after !== undefined) message.behind(after);
    if (ofStreams(method)) {
      answer.ofStream = message;
      this.#streams.asked(message);
    }
    target.post(message);
  }

  #targetOf(to: Slot, answer: Answer): Target | undefined {
    if (to.kind === 'yours') {
      const known = this.#exports.get(to.id);
      if (known !== undefined) return known.target;
      if (to.id === 0) answer.break(new CapError('no-such-object', 'this peer offers no bootstrap object'));
      else throw new Violation('a call names an object that was never exported, or was released');
      return undefined;
    }
    if (to.kind !== 'answer') throw new Violation('a call names an object of its sender');
    if (!this.#answers.wasAsked(to.id) || to.id === answer.question)
      throw new Violation('a call names a question that was never asked');
    answer.break(forgotten);
    return undefined;
  }

  bootstrap(question: number): void {
    const answer = this.#answers.ask(question, 0);
    const known = this.#exports.get(0);
    if (known === undefined) answer.break(new CapError('no-such-object', 'this peer offers no bootstrap object'));
    else answer.fulfil(known.value);
  }

  answer(question: number, value: unknown): void {
    this.#questions.answer(question, value, this.#answers.takeBarrier());
  }

  refuse(question: number, error: CapError): void {
    this.#outbound.heard(error);
    this.#questions.refuse(question, error);
  }

  resolve(promise: number, value: unknown): void {
    this.#questions.resolve(promise, value, this.#answers.takeBarrier());
  }

  break(promise: number, error: CapError): void {
    this.#outbound.heard(error);
    this.#questions.break(promise, error);
  }

  drop(id: number, mentions: number): void {
    this.#exports.drop(id, mentions);
  }

  done(question: number): void {
    this.#answers.done(question);
  }

  abort(reason: string): void {
    this.close(1000, `the peer is done: ${reason.slice(0, 100)}`);
  }

  // ---- outgoing -------------------------------------------------------------------------------------------

  call(through: Remote, message: Message): void {
    const outbound = this.#outbound;
    if (outbound.closed !== undefined) return message.fail(outbound.closed);
    if (through.redirect(message)) return;
    message.taken();
    const answer = outbound.dialect.alwaysAsks ? (message.answer ?? ignored) : wanted(message.answer);
    if (outbound.full)
      return void message.answer?.break(
        new CapError('limit', 'the peer reads more slowly than you send: wait for answers before you send more'),
      );
    const id = answer === undefined ? 0 : this.#questions.number();
    try {
      outbound.dialectSession.deliver(through.slot, message.method, message.args, id);
    } catch (error) {
      this.#exports.rollbackExports();
      if (!(error instanceof CapError)) throw error;
      return void message.answer?.break(error);
    }
    this.#exports.commitExports();
    if (answer === undefined) message.answer?.fulfil(undefined);
    else this.#questions.asked(id, answer);
  }

  answered(answer: Answer, value: unknown): CapError | undefined {
    const { ofStream } = answer;
    answer.ofStream = undefined;
    if (ofStream !== undefined) this.#streams.answered(ofStream, value);
    if (!this.#answers.ended(answer)) {
      if (this.closed !== undefined) this.#streams.lateAnswer(value);
      return undefined;
    }
    const { question } = answer;
    const { dialectSession } = this.#outbound;
    let why: CapError | undefined;
    try {
      dialectSession.answer(question, value, answer.owned?.written);
    } catch (error) {
      this.#exports.rollbackExports();
      if (!(error instanceof CapError)) throw error;
      why = error;
      this.#outbound.refusing(why);
      dialectSession.refuse(question, why);
    }
    const { lastSize } = dialectSession;
    this.#exports.commitExports();
    this.#answers.keep(answer, why === undefined ? { is: value } : undefined, lastSize);
    this.#outbound.answered();
    return why;
  }

  refused(answer: Answer, error: unknown): void {
    const { ofStream } = answer;
    answer.ofStream = undefined;
    if (ofStream !== undefined) this.#streams.refused(ofStream);
    this.#outbound.refusing(error);
    if (!this.#answers.ended(answer)) return;
    const { dialectSession } = this.#outbound;
    dialectSession.refuse(answer.question, error);
    const { lastSize } = dialectSession;
    this.#exports.commitExports();
    this.#answers.keep(answer, undefined, lastSize);
    this.#outbound.answered();
  }

  // ---- tables, used by the dialect ------------------------------------------------------------------------

  give(value: object): Slot | undefined {
    return this.#exports.give(value);
  }

  take(slot: Slot): unknown {
    // An answer to an earlier operation of this frame may have closed the session. The rest is not taken in.
    if (this.closed !== undefined) throw new Violation('the session has ended');
    switch (slot.kind) {
      case 'object':
        return this.#imports.object(slot.id);
      case 'promise':
        return this.#imports.promise(slot.id);
      case 'yours': {
        const known = this.#exports.get(slot.id);
        if (known === undefined)
          throw new Violation('a value names an object that was never exported, or was released');
        return isPromise(known) ? known.value.promise() : known.value;
      }
      case 'answer':
        return this.#answers.take(slot.id);
    }
  }

  // ---- drops ----------------------------------------------------------------------------------------------

  /** The garbage collector has collected the import with this number. */
  collected(id: number): void {
    if (!this.#outbound.dialect.collects || this.closed !== undefined) return;
    const mentions = this.#imports.collected(id);
    if (mentions > 0) this.#giveBack(id, mentions);
  }

  release(given: Import): void {
    const mentions = this.#imports.release(given);
    if (mentions > 0 && this.closed === undefined) this.#giveBack(given.slot.id, mentions);
  }

  #giveBack(id: number, mentions: number): void {
    this.#outbound.addBytes(-weights.import);
    // The bootstrap is never given back.
    if (id === 0) return;
    this.#outbound.dialectSession.drop(id, mentions);
    this.#outbound.forgetSoon();
  }

  // ---- closing --------------------------------------------------------------------------------------------

  close(code: number, reason: string): void {
    this.#outbound.close(code, reason);
  }

  /** The transport has closed. */
  end(): void {
    this.#outbound.end();
  }

  lost(): void {
    this.close(1001, 'the host could not write its store: enter again');
  }

  severed(waits: ResultSink): void {
    (this.#severance ??= new Severance(this.fence)).add(waits, this.closed);
  }

  #ended(why: CapError): void {
    // Breaking promises runs code of others, so all tables are emptied first.
    let breakAll: (why: CapError) => void = () => {};
    this.fence.run(() => {
      breakAll = this.#questions.clear();
    });
    this.fence.run(() => this.#answers.clear());
    this.fence.run(() => this.#exports.clear());
    this.fence.run(() => this.#streams.end());
    this.fence.run(() => breakAll(why));
    this.fence.run(() => this.#severance?.end(why));
  }
}

fenced(Session, {
  receive: returnsNothing,
  close: returnsNothing,
  end: returnsNothing,
  lost: returnsNothing,
  release: returnsNothing,
  collected: returnsNothing,
  call: (_session, _through, message) => message.answer?.break(disconnected()),
  severed: (_session, waits) => waits.break(disconnected()),
  // Called by the dialect while it decodes or encodes a frame.
  deliver: 'inside',
  bootstrap: 'inside',
  answer: 'inside',
  refuse: 'inside',
  resolve: 'inside',
  break: 'inside',
  drop: 'inside',
  done: 'inside',
  abort: 'inside',
  give: 'inside',
  take: 'inside',
  // Called by an answer, inside its own fence.
  answered: 'inside',
  refused: 'inside',
  // Called by the opener of the connection.
  bootstrapOfPeer: 'inside',
});
