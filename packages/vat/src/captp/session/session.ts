/**
 * The session core: two tables of what each side has given the other, two of questions and answers, and the rules between them.
 * It knows no bytes: a dialect tells it what the peer says, and says what it has to say.
 *
 * Promise: a message that arrives is a turn like any other (meters, chains, rollback, output commit); what leaves waits until
 * its turn is durable. A call is answered, or the connection closes. Messages reach what a promise becomes in the order in
 * which they were sent, also when that turns out to be an object of the sender's own. All that a peer makes us keep is counted.
 *
 * Here is how calls and answers pass through. The rules are with what they are about: the line (when frames leave, what may be
 * kept, the end), the peer's questions (`AnswerTable`), what we wait for (`Waiting`), what the peer is given (`Giving`) and
 * what it gave (`ImportTable`).
 */
import { noChain } from '../../core/causes.ts';
import { CapError } from '../../core/errors.ts';
import { type Answer as Awaited, Message, type Target } from '../../core/message.ts';
import type { Account } from '../../core/meter.ts';
import { isMethodName, targetOf } from '../../core/reference.ts';
import { Answer, type Answering, forgotten } from './answer.ts';
import { Answers } from './answers.ts';
import { isPromise } from './export-table.ts';
import { Exports } from './exports.ts';
import { disconnected, ends, Fence, fenced } from './fence.ts';
import { flush, flushMethod } from './flush.ts';
import { ImportTable } from './import-table.ts';
import type { Import, PeerConnection, Remote } from './imports.ts';
import { type Limits, weights } from './limits.ts';
import { nowhere } from './nowhere.ts';
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
import { ofStreams, Streams } from './streams.ts';

export interface CapTPStats {
  /** Calls of ours that are not answered. */
  readonly questions: number;
  /** The peer's, answered or not, that it is not done with. */
  readonly answers: number;
  readonly imports: number;
  readonly exports: number;
  /** Promises imported and exported that are not settled. */
  readonly promises: number;
  /** About what this connection keeps. */
  readonly bytes: number;
}
/** Letters of the name of a method. */
const longestMethod = 1024;

export class Session implements Slots, IncomingOperations, PeerConnection, Answering {
  readonly account: Account;
  readonly fault: Fault | undefined;
  readonly fence: Fence;
  readonly #line: Outbound;
  readonly #imports: ImportTable;
  readonly #answers: Answers;
  readonly #giving: Exports;
  readonly #waiting: Questions;
  readonly #streams: Streams;

  constructor(dialect: Dialect, link: Link, account: Account, limits: Limits, bootstrap?: object, fault?: Fault) {
    this.account = account;
    this.fault = fault;
    this.fence = new Fence(this, fault);
    const offered = targetOf(bootstrap);
    this.#streams = new Streams(this.fence, account, offered);
    const tongue = dialect.open(this, this, limits, (frame, written) =>
      link.send(frame, written && this.fence.guard(written)),
    );
    this.#line = new Outbound(dialect, tongue, limits, this.fence, link, {
      get outliving() {
        return account.outliving;
      },
      giveBack: () => this.#waiting.giveBack(),
      ended: (why) => this.#ended(why),
    });
    this.#imports = new ImportTable(this, limits.exports, (bytes) => this.#line.keeps(bytes));
    this.#answers = new Answers(this.#line, this);
    this.#giving = new Exports(this.#line, this, this.#streams, (reference) => this.#answers.dropped(reference));
    this.#waiting = new Questions(this.#line, this, this.#imports);
    if (offered !== undefined) this.#giving.bootstrap(bootstrap as object, offered);
  }

  get closed(): CapError | undefined {
    return this.#line.closed;
  }

  get stats(): CapTPStats {
    return Object.freeze({
      questions: this.#waiting.questions,
      answers: this.#answers.size,
      imports: this.#imports.size,
      exports: this.#giving.size,
      promises: this.#imports.pending + this.#giving.pending,
      bytes: this.#line.bytes,
    });
  }

  /** The peer's bootstrap: number 0 of what it exports. */
  bootstrapOfPeer(): object {
    return this.#imports.object(0);
  }

  // ---- what arrives -------------------------------------------------------------------------------------------------------

  receive(frame: Frame): void {
    const line = this.#line;
    if (line.closed !== undefined || line.endsFlood() || line.endsOverspent()) return;
    this.#answers.begin();
    this.#imports.begin();
    this.#waiting.begin(frame.length);
    line.tongue.receive(frame);
    line.endsOverspent();
  }

  deliver(to: Slot, method: string, heard: DecodedArguments | CapError, question: number, bytes: number): void {
    if (this.closed !== undefined) return;
    if (to.kind === 'answer' && question !== 0 && to.id >= question)
      throw new Violation('a call names what was never asked');
    const answer = this.#answers.ask(question, bytes);
    const after = this.#answers.heardAfter();
    const asked = to.kind === 'answer' ? this.#answers.get(to.id) : undefined;
    const target = asked === undefined ? this.#addressed(to, answer) : undefined;
    if (target === undefined && asked === undefined) return;
    if (this.#answers.unanswered > this.#line.limits.questions)
      return answer.break(new CapError('limit', 'too many calls are unanswered on this connection: wait for answers'));
    if (heard instanceof CapError) return answer.break(heard);
    // Before it is quoted anywhere: a part of a long one would keep all of it.
    if (method.length > longestMethod)
      return answer.break(new CapError('no-such-method', 'no method has a name so long'));
    if (!isMethodName(method))
      return answer.break(new CapError('no-such-method', `no object has a method "${method.slice(0, 64)}"`));
    try {
      if (method === flushMethod) {
        const behind = target ?? asked?.target;
        return behind === undefined ? answer.fulfil(undefined) : flush(this.fence, behind, answer, this.account);
      }
      this.account.charge('messages', 1);
    } catch (error) {
      return answer.break(error);
    }
    const message = new Message(
      target ?? nowhere,
      method,
      heard.args,
      heard.promises,
      answer,
      this.account,
      noChain,
      undefined,
      undefined,
    );
    if (after !== undefined) message.behind(after);
    if (ofStreams(method)) {
      answer.ofStream = message;
      this.#streams.asked(message);
    }
    if (asked !== undefined) asked.post(message);
    else message.to.post(message);
  }

  #addressed(to: Slot, answer: Answer): Target | undefined {
    if (to.kind === 'yours') {
      const known = this.#giving.get(to.id);
      if (known !== undefined) return known.target;
      if (to.id === 0) answer.break(new CapError('no-such-object', 'this end offers no bootstrap'));
      else throw new Violation('a call names what was never offered, or was given back');
      return undefined;
    }
    if (to.kind !== 'answer') throw new Violation('a call names an object of its sender');
    if (!this.#answers.heardOf(to.id) || to.id === answer.question)
      throw new Violation('a call names what was never asked');
    answer.break(forgotten);
    return undefined;
  }

  bootstrap(question: number): void {
    const answer = this.#answers.ask(question, 0);
    const known = this.#giving.get(0);
    if (known === undefined) answer.break(new CapError('no-such-object', 'this end offers no bootstrap'));
    else answer.fulfil(known.value);
  }

  answer(question: number, value: unknown): void {
    this.#waiting.answer(question, value, this.#answers.heardAfter());
  }

  refuse(question: number, error: CapError): void {
    this.#waiting.refuse(question, error);
  }

  resolve(promise: number, value: unknown): void {
    this.#waiting.resolve(promise, value, this.#answers.heardAfter());
  }

  break(promise: number, error: CapError): void {
    this.#waiting.break(promise, error);
  }

  drop(id: number, mentions: number): void {
    this.#giving.drop(id, mentions);
  }

  done(question: number): void {
    this.#answers.done(question);
  }

  abort(reason: string): void {
    this.close(1000, `the peer is done: ${reason.slice(0, 100)}`);
  }

  // ---- what leaves --------------------------------------------------------------------------------------------------------

  call(through: Remote, message: Message): void {
    const line = this.#line;
    if (line.closed !== undefined) return message.fail(line.closed);
    if (through.instead(message)) return;
    message.taken();
    const answer = line.dialect.alwaysAsks ? (message.answer ?? ignored) : wanted(message.answer);
    if (line.full)
      return void message.answer?.break(
        new CapError('limit', 'the peer does not read as fast as this is sent: wait for answers before you send more'),
      );
    const id = answer === undefined ? 0 : this.#waiting.number();
    try {
      line.tongue.deliver(through.slot, message.method, message.args, id);
    } catch (error) {
      this.#giving.rollbackExports();
      if (!(error instanceof CapError)) throw error;
      return void message.answer?.break(error);
    }
    this.#giving.commitExports();
    if (answer === undefined) message.answer?.fulfil(undefined);
    else this.#waiting.asked(id, answer);
  }

  answered(answer: Answer, value: unknown): CapError | undefined {
    const { ofStream } = answer;
    answer.ofStream = undefined;
    if (ofStream !== undefined) this.#streams.answered(ofStream, value);
    if (!this.#answers.ended(answer)) {
      if (this.closed !== undefined) this.#streams.tooLate(value);
      return undefined;
    }
    const { question } = answer;
    const { tongue } = this.#line;
    let why: CapError | undefined;
    try {
      tongue.answer(question, value, answer.owned?.written);
    } catch (error) {
      this.#giving.rollbackExports();
      if (!(error instanceof CapError)) throw error;
      why = error;
      tongue.refuse(question, why);
    }
    const { said } = tongue;
    this.#giving.commitExports();
    this.#answers.keep(answer, why === undefined ? { is: value } : undefined, said);
    this.#line.answered();
    return why;
  }

  refused(answer: Answer, error: unknown): void {
    const { ofStream } = answer;
    answer.ofStream = undefined;
    if (ofStream !== undefined) this.#streams.refused(ofStream);
    if (!this.#answers.ended(answer)) return;
    const { tongue } = this.#line;
    tongue.refuse(answer.question, error);
    const { said } = tongue;
    this.#giving.commitExports();
    this.#answers.keep(answer, undefined, said);
    this.#line.answered();
  }

  // ---- tables, for a dialect at work --------------------------------------------------------------------------------------

  give(value: object): Slot | undefined {
    return this.#giving.give(value);
  }

  take(slot: Slot): unknown {
    // The answer to an operation may have ended the session: what comes after it in the frame is not taken in.
    if (this.closed !== undefined) throw new Violation('the session is over');
    switch (slot.kind) {
      case 'object':
        return this.#imports.object(slot.id);
      case 'promise':
        return this.#imports.promise(slot.id);
      case 'yours': {
        const known = this.#giving.get(slot.id);
        if (known === undefined) throw new Violation('a value names what was never offered, or was given back');
        return isPromise(known) ? known.value.promise() : known.value;
      }
      case 'answer':
        return this.#answers.take(slot.id);
    }
  }

  // ---- what is given back -------------------------------------------------------------------------------------------------

  /** Nobody here holds it any more. */
  collected(id: number): void {
    if (!this.#line.dialect.collects || this.closed !== undefined) return;
    const mentions = this.#imports.collected(id);
    if (mentions > 0) this.#giveBack(id, mentions);
  }

  release(given: Import): void {
    const mentions = this.#imports.release(given);
    if (mentions > 0 && this.closed === undefined) this.#giveBack(given.slot.id, mentions);
  }

  #giveBack(id: number, mentions: number): void {
    this.#line.keeps(-weights.import);
    // The bootstrap is the peer's for good.
    if (id === 0) return;
    this.#line.tongue.drop(id, mentions);
    this.#line.forgetSoon();
  }

  // ---- the end ------------------------------------------------------------------------------------------------------------

  close(code: number, reason: string): void {
    this.#line.close(code, reason);
  }

  /** The transport is gone. */
  end(): void {
    this.#line.end();
  }

  lost(): void {
    this.close(1001, 'the host could not write its store: enter again');
  }

  #ended(why: CapError): void {
    // What breaks runs code of others: not before all is empty.
    let breakAll: (why: CapError) => void = () => {};
    this.fence.run(() => {
      breakAll = this.#waiting.clear();
    });
    this.fence.run(() => this.#answers.clear());
    this.fence.run(() => this.#giving.clear());
    this.fence.run(() => this.#streams.end());
    this.fence.run(() => breakAll(why));
  }
}

fenced(Session, {
  receive: ends,
  close: ends,
  end: ends,
  lost: ends,
  release: ends,
  collected: ends,
  call: (_session, _through, message) => message.answer?.break(disconnected()),
  // By the dialect, in a frame that is heard, or that is said.
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
  // By an answer, in its own fence.
  answered: 'inside',
  refused: 'inside',
  // By whoever opens the connection.
  bootstrapOfPeer: 'inside',
});

/** A call of a peer's that goes on to another is asked for an answer there only if it was here. */
const wanted = (answer: Awaited | undefined): Awaited | undefined =>
  answer instanceof Answer && answer.question === 0 ? undefined : answer;

/** Of a call whose answer nobody wants. */
const ignored: Awaited = Object.freeze({ fulfil: () => {}, break: () => {} });
