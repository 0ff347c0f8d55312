/**
 * The session core: two tables of what each side has given the other, two of questions and answers, and the rules between them.
 * It knows no bytes: a dialect tells it what the peer says, and says what it has to say.
 *
 * Promise: a message that arrives is a turn like any other (meters, chains, rollback, output commit); what leaves waits until
 * its turn is durable. A call is answered, or the connection closes. Messages reach what a promise becomes in the order in
 * which they were sent, also when that turns out to be an object of the sender's own. All that a peer makes us keep is counted.
 */
import { type Barrier, behind, later } from '../../barrier.ts';
import { noChain } from '../../causes.ts';
import { onceOthersRan, soon } from '../../drivers/loop.ts';
import { mutant } from '../../drivers/mutant.ts';
import { CapError } from '../../errors.ts';
import { type Answer as Awaited, Message, type Target } from '../../message.ts';
import type { Account } from '../../meter.ts';
import { isMethodName, targetOf } from '../../reference.ts';
import { pass, shareable } from '../../values.ts';
import { Vow, vowOf } from '../../vow.ts';
import { closeCodes } from '../duplex.ts';
import { Answer, type Answering, forgotten } from './answers.ts';
import { type Export, Exports, isPromise } from './exports.ts';
import { flush, flushMessage, flushMethod } from './flush.ts';
import { ImportTable } from './import-table.ts';
import { type Exit, Import, type ImportedPromise, Question, Remote } from './imports.ts';
import { brokenAtOnce, type Limits, weights } from './limits.ts';
import {
  type Dialect,
  type Fault,
  type Frame,
  type Heard,
  type Listener,
  type Slot,
  type Slots,
  type Tongue,
  Undecodable,
  Violation,
} from './operations.ts';
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

/** The transport, for the core. */
export interface Link {
  send(frame: Frame): void;
  readonly buffered: number;
  close(code: number, reason: string): void;
}

const shortensAtOnce = mutant('captp-embargo');
const keepsCounts = mutant('captp-drop');
const tellsOnce = mutant('captp-crossing');
const leavesWaiting = mutant('captp-disconnect');
const unbounded = mutant('captp-memory');

/** Letters of the name of a method. */
const longestMethod = 1024;
const unread = 'the peer does not read what it asked for';
const watchesAgain = mutant('captp-redrop');
const asksAnyway = mutant('captp-send-only');
const waitsForEver = mutant('captp-ring');

/** Broken answers that are remembered for a peer that never says that it is done with them. */
const mostBroken = 1000;

const disconnected = (): CapError =>
  new CapError(
    'disconnected',
    'the connection is closed: connect again, and look at what happened before you repeat a call',
  );

export class Session implements Slots, Listener, Exit, Answering {
  readonly account: Account;
  readonly fault: Fault | undefined;
  readonly #dialect: Dialect;
  readonly #limits: Limits;
  readonly #link: Link;
  readonly #tongue: Tongue;
  readonly #self = new WeakRef(this);
  readonly #exports: Exports;
  readonly #imports: ImportTable;
  readonly #questions = new Map<number, Question>();
  readonly #answers = new Map<number, Answer>();
  readonly #streams: Streams;
  #closed: CapError | undefined;
  #lastQuestion = 0;
  #lastHeard = 0;
  readonly #broken: number[] = [];
  #unanswered = 0;
  #bytes = 0;
  #flushing = false;
  #forgetting = false;
  /** Promises that it waits for, to tell the peer. */
  readonly #watching = new WeakSet<Vow>();
  /** Promises of the peer's that are settled, and go back to it when there is time. */
  #over: ImportedPromise[] = [];
  /** How much is being heard. */
  #hearing = 0;
  /** Bytes that were copied for the frame that is being heard. */
  #copies = 0;
  /** Mentioned by the operation that is being said. */
  #mentioned: Export[] = [];
  /** What values of the operation that is being heard have to wait for. */
  #after: Barrier | undefined;

  constructor(dialect: Dialect, link: Link, account: Account, limits: Limits, bootstrap?: object, fault?: Fault) {
    this.account = account;
    this.fault = fault;
    this.#dialect = dialect;
    this.#limits = limits;
    this.#link = link;
    this.#exports = new Exports(limits.exports);
    this.#imports = new ImportTable(this, limits.exports, (bytes) => this.#keeps(bytes));
    const offered = targetOf(bootstrap);
    if (offered !== undefined) this.#exports.bootstrap(bootstrap as object, offered);
    this.#streams = new Streams(account, offered);
    this.#tongue = dialect.open(this, this, limits, (frame) => link.send(frame));
  }

  get closed(): CapError | undefined {
    return this.#closed;
  }

  get stats(): CapTPStats {
    return Object.freeze({
      questions: this.#questions.size,
      answers: this.#answers.size,
      imports: this.#imports.size,
      exports: this.#exports.size,
      promises: this.#imports.pending + this.#exports.pending,
      // What a transport that is closed did not get rid of is no longer kept for this peer.
      bytes: this.#bytes + this.#tongue.kept + (this.#closed === undefined ? this.#link.buffered : 0),
    });
  }

  /** The peer's bootstrap: number 0 of what it exports. */
  bootstrapOfPeer(): object {
    return this.take({ kind: 'object', id: 0 }) as object;
  }

  // ---- what arrives -------------------------------------------------------------------------------------------------------

  hear(frame: Frame): void {
    if (this.#closed !== undefined) return;
    if (this.#floods) return this.close(4400, unread);
    this.#copies = 0;
    this.#imports.begin();
    try {
      this.#hearing = frame.length;
      this.#tongue.hear(frame);
    } catch (error) {
      if (error instanceof Violation) return this.close(error.code, error.message);
      // A fault of ours that this peer can bring about at will: it must not cost the others their host.
      const id = this.fault?.(error);
      this.close(closeCodes.fault, id === undefined ? 'a fault of this end' : `a fault of this end (error ${id})`);
    }
    this.#inBudget();
  }

  /** What is kept grows with what the peer says, and with what it is answered. */
  #inBudget(): void {
    if (this.#bytes + this.#tongue.kept > this.#limits.memoryBytes && !unbounded)
      this.close(4400, 'this connection keeps more than it may: connect again');
  }

  deliver(to: Slot, method: string, heard: Heard | CapError, question: number, bytes: number): void {
    if (this.#closed !== undefined) return;
    if (to.kind === 'answer' && question !== 0 && to.id >= question)
      throw new Violation('a call names what was never asked');
    const answer = this.#ask(question, bytes);
    const after = this.#heardAfter();
    const asked = to.kind === 'answer' ? this.#answers.get(to.id) : undefined;
    const target = asked === undefined ? this.#addressed(to, answer) : undefined;
    if (target === undefined && asked === undefined) return;
    if (this.#unanswered > this.#limits.questions)
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
        return behind === undefined ? answer.fulfil(undefined) : flush(behind, answer, this.account);
      }
      this.account.charge('messages', 1);
    } catch (error) {
      return answer.break(error);
    }
    // To a call on an answer this target is replaced before anybody looks at it.
    const message = new Message(
      target ?? (undefined as never),
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
    if (asked === undefined) (target as Target).post(message);
    else asked.post(message);
  }

  /** The entry of a question that was just asked. */
  #ask(question: number, bytes: number): Answer {
    if (question !== 0) {
      // Rising numbers: none is used twice, also after it is forgotten.
      if (question <= this.#lastHeard) throw new Violation('asks the same question twice: number questions upwards');
      this.#lastHeard = question;
    }
    const answer = new Answer(this, question, weights.call + bytes);
    if (question !== 0) this.#answers.set(question, answer);
    this.#unanswered += 1;
    this.#keeps(answer.weight);
    return answer;
  }

  #addressed(to: Slot, answer: Answer): Target | undefined {
    if (to.kind === 'yours') {
      const known = this.#exports.get(to.id);
      if (known !== undefined) return known.target;
      if (to.id === 0) answer.break(new CapError('no-such-object', 'this end offers no bootstrap'));
      else throw new Violation('a call names what was never offered, or was given back');
      return undefined;
    }
    if (to.kind !== 'answer') throw new Violation('a call names an object of its sender');
    if (to.id > this.#lastHeard || to.id === answer.question) throw new Violation('a call names what was never asked');
    answer.break(forgotten);
    return undefined;
  }

  bootstrap(question: number): void {
    const answer = this.#ask(question, 0);
    const known = this.#exports.get(0);
    if (known === undefined) answer.break(new CapError('no-such-object', 'this end offers no bootstrap'));
    else answer.fulfil(known.value);
  }

  answer(id: number, value: unknown): void {
    const question = this.#settled(id);
    const after = this.#heardAfter();
    if (value instanceof Undecodable) {
      this.#finish(question, false);
      return question.answer.break(value.error);
    }
    if (question.sent > 0 && this.#ours(value) && !shortensAtOnce) {
      question.answer.hold?.(promised(value));
      return this.#behind(question, (error) => {
        this.#finish(question, true);
        if (error === undefined) behind(after, () => question.answer.fulfil(value));
        else question.answer.break(error);
      });
    }
    this.#finish(question, typeof value === 'object' && value !== null && targetOf(value) !== undefined);
    behind(after, () => question.answer.fulfil(value));
  }

  /** What the values that were just decoded have to wait for. */
  #heardAfter(): Barrier | undefined {
    const after = this.#after;
    this.#after = undefined;
    return after;
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
    if (this.#questions.delete(question.slot.id)) this.#keeps(-weights.question);
    if (this.#closed !== undefined) return;
    this.#tongue.done(question.slot.id, reference);
    this.#forgetSoon();
  }

  resolve(id: number, value: unknown): void {
    const after = this.#heardAfter();
    const promise = this.#imports.promised(id);
    // It may be gone already: messages cross. What came with it is ours all the same.
    if (promise === undefined || promise.decided) return;
    promise.decided = true;
    if (value instanceof Undecodable) return this.#resolved(promise, () => promise.vow.break(value.error));
    if (promise.sent > 0 && this.#ours(value) && promised(value)?.waitsFor(promise.vow) !== true && !shortensAtOnce) {
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
    if (!this.#dialect.collects) this.#keeps(this.#hearing);
    else if (this.#closed === undefined) {
      // Not at once: what it became may mention it.
      this.#over.push(promise);
      this.#forgetSoon();
    }
    settle();
  }

  /** Whether messages to it would go another way than through the peer. */
  #ours(value: unknown): boolean {
    if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false;
    const target = targetOf(value);
    if (target !== undefined) return !(target instanceof Remote && target.exit === this);
    const path = vowOf(value)?.path;
    return vowOf(value) !== undefined && !(path instanceof Remote && path.exit === this);
  }

  /** Calls back when what was sent along `path` has arrived, or with the reason why that will never be known. */
  #behind(path: Question | ImportedPromise, then: (error: CapError | undefined) => void): void {
    const answer = {
      fulfil: (): void => then(undefined),
      // That somebody else refused it shows that it arrived.
      break: (): void => then(this.#closed),
    };
    try {
      const message = flushMessage(path, answer, this.account);
      message.behind(path.after);
      path.post(message);
    } catch {
      then(undefined);
    }
  }

  drop(id: number, mentions: number): void {
    const known = this.#exports.get(id);
    if (known === undefined || id === 0 || mentions === 0 || keepsCounts) return;
    if (this.#exports.drop(id, mentions)) return this.#gone(known);
    // The mentions that crossed with this are, for the peer, of a promise that it knows nothing of.
    if (!known.told || !isPromise(known) || tellsOnce) return;
    known.told = false;
    this.#watch(known);
  }

  #gone(known: Export): void {
    this.#streams.dropped(known.target);
    this.#keeps(-(isPromise(known) ? weights.promise : weights.export));
  }

  done(question: number): void {
    const answer = this.#answers.get(question);
    if (answer === undefined) return;
    this.#answers.delete(question);
    // One that still runs is paid for until it ends.
    if (answer.told) this.#keeps(-answer.weight);
    else answer.told = true;
  }

  abort(reason: string): void {
    this.close(1000, `the peer is done: ${reason.slice(0, 100)}`);
  }

  // ---- what leaves --------------------------------------------------------------------------------------------------------

  call(through: Remote, message: Message): void {
    if (this.#closed !== undefined) return message.fail(this.#closed);
    if (through.instead(message)) return;
    message.taken();
    const answer = this.#dialect.alwaysAsks ? (message.answer ?? ignored) : wanted(message.answer);
    if (this.#link.buffered > this.#limits.bufferedBytes)
      return void message.answer?.break(
        new CapError('limit', 'the peer does not read as fast as this is sent: wait for answers before you send more'),
      );
    const id = answer === undefined ? 0 : this.#lastQuestion + 1;
    try {
      this.#tongue.deliver(through.slot, message.method, message.args, id);
    } catch (error) {
      this.#unsaid();
      return void message.answer?.break(error);
    }
    this.#said();
    if (answer === undefined) return message.answer?.fulfil(undefined);
    this.#lastQuestion = id;
    const question = new Question(this, id, answer);
    this.#questions.set(id, question);
    this.#keeps(weights.question);
    answer.along?.(question);
  }

  answered(answer: Answer, value: unknown): CapError | undefined {
    const { ofStream } = answer;
    answer.ofStream = undefined;
    if (ofStream !== undefined) this.#streams.answered(ofStream, value);
    if (!this.#ended(answer)) {
      if (this.#closed !== undefined) this.#streams.tooLate(value);
      return undefined;
    }
    const { question } = answer;
    let why: CapError | undefined;
    try {
      this.#tongue.answer(question, value);
    } catch (error) {
      this.#unsaid();
      why = error as CapError;
      this.#tongue.refuse(question, why);
    }
    const { said } = this.#tongue;
    this.#said();
    this.#keep(answer, why !== undefined || targetOf(value) !== undefined, said);
    return why;
  }

  refused(answer: Answer, error: unknown): void {
    const { ofStream } = answer;
    answer.ofStream = undefined;
    if (ofStream !== undefined) this.#streams.refused(ofStream);
    if (!this.#ended(answer)) return;
    this.#tongue.refuse(answer.question, error);
    const { said } = this.#tongue;
    this.#said();
    this.#keep(answer, true, said);
  }

  lost(): void {
    this.close(1001, 'the host could not write its store: enter again');
  }

  /** It is answered; false where nobody is to be told. */
  #ended(answer: Answer): boolean {
    this.#unanswered -= 1;
    const wanted = answer.question !== 0 && !answer.told && this.#closed === undefined;
    answer.told = true;
    if (!wanted) this.#keeps(-answer.weight);
    return wanted;
  }

  /** What an answer that is there weighs from now on; in dialects that never say that they are done, data is forgotten. */
  #keep(answer: Answer, callable: boolean, said: number): void {
    this.#keeps(weights.answer + said - answer.weight);
    answer.weight = weights.answer + said;
    if (this.#dialect.saysDone) return;
    if (!callable) return this.#forget(answer.question);
    if (answer.target !== undefined) return;
    this.#broken.push(answer.question);
    if (this.#broken.length > mostBroken) this.#forget(this.#broken.shift() as number);
  }

  #forget(question: number): void {
    const answer = this.#answers.get(question);
    if (answer === undefined) return;
    this.#answers.delete(question);
    this.#keeps(-answer.weight);
  }

  /** What was mentioned is known to the peer, or will be. */
  #said(): void {
    const mentioned = this.#mentioned;
    if (mentioned.length > 0) {
      this.#mentioned = [];
      for (const known of mentioned) if (isPromise(known) && !known.watched) this.#watch(known);
    }
    if (this.#flushing) return;
    this.#flushing = true;
    soon(this.#flush);
  }

  /** When it is closed nothing is kept for the peer; what still runs is its meter's. */
  #keeps(bytes: number): void {
    if (this.#closed === undefined) this.#bytes += bytes;
  }

  /** It was mentioned in what will not be said. */
  #unsaid(): void {
    for (const known of this.#mentioned) if (this.#exports.drop(known.id, 1)) this.#gone(known);
    this.#mentioned = [];
  }

  /** Once for each promise: dropped and mentioned again, it would be waited for once more each time. */
  #watch(known: Export & { readonly value: Vow }): void {
    known.watched = true;
    const vow = known.value;
    const again = this.#watching.has(vow) && !watchesAgain;
    // A promise that never settles must not keep a session that is over.
    const self = this.#self;
    if (this.#dialect.shortens && !waitsForEver && (!again || vow.path !== undefined))
      vow.watchShortening(() => self.deref()?.tellShortened(vow));
    if (again) return;
    this.#watching.add(vow);
    vow.watchOutside(
      (value) => self.deref()?.tell(vow, value),
      (error) => self.deref()?.tellBroken(vow, error),
    );
  }

  /** It has become a promise that a peer decides: where that is this one it is told at once, for it may be waiting for ours. */
  tellShortened(vow: Vow): void {
    const known = this.#exports.of(vow);
    const { path } = vow;
    if (known === undefined || known.told || !(path instanceof Remote) || path.exit !== this) return;
    known.told = true;
    this.#tongue.resolve(known.id, vow.promise());
    this.#said();
  }

  /** The promise as the peer knows it now, if it does and was not told yet: it is being told. */
  #told(vow: Vow): Export | undefined {
    this.#watching.delete(vow);
    const known = this.#exports.of(vow);
    if (known === undefined || (known.told && !watchesAgain)) return undefined;
    known.told = true;
    return known;
  }

  tell(vow: Vow, value: unknown): void {
    const known = this.#told(vow);
    if (known === undefined) return;
    try {
      this.#tongue.resolve(known.id, value);
    } catch (error) {
      this.#unsaid();
      this.#tongue.break(known.id, error);
    }
    this.#said();
  }

  tellBroken(vow: Vow, error: unknown): void {
    const known = this.#told(vow);
    if (known === undefined) return;
    this.#tongue.break(known.id, error);
    this.#said();
  }

  /** What is only forgotten need not go at once: it goes with the next frame, or when there is nothing else to do. */
  #forgetSoon(): void {
    if (this.#forgetting) return;
    this.#forgetting = true;
    onceOthersRan(() => {
      this.#forgetting = false;
      const over = this.#over;
      this.#over = [];
      if (this.#closed !== undefined) return;
      for (const promise of over) this.#tongue.drop(promise.slot.id, this.#imports.giveBack(promise));
      if (!this.#flushing) this.#flush();
    });
  }

  readonly #flush = (): void => {
    this.#flushing = false;
    if (this.#closed !== undefined) return;
    this.#tongue.flush();
    if (this.#floods) this.close(4400, unread);
    else this.#inBudget();
  };

  /** What the peer asked for, and does not take. */
  get #floods(): boolean {
    return this.#link.buffered > this.#limits.bufferedBytes + this.#limits.frameBytes;
  }

  close(code: number, reason: string): void {
    if (this.#closed !== undefined) return;
    this.#tongue.abort(reason);
    this.#tongue.flush();
    this.#end();
    this.#link.close(code, reason);
  }

  /** The transport is gone. */
  end(): void {
    if (this.#closed !== undefined) return;
    this.#tongue.abort('the transport is gone');
    this.#end();
  }

  #end(): void {
    const why = disconnected();
    this.#closed = why;
    const questions = [...this.#questions.values()];
    this.#questions.clear();
    const promised = this.#imports.clear();
    this.#answers.clear();
    this.#exports.clear();
    this.#bytes = 0;
    this.#streams.end();
    if (leavesWaiting) return;
    breakSome(questions, promised, why);
  }

  // ---- tables, for a dialect at work --------------------------------------------------------------------------------------

  give(value: object): Slot | undefined {
    const target = targetOf(value);
    if (target !== undefined) {
      if (target instanceof Import && target.exit === this && !target.released) return target.slot;
      return this.#mention('object', value, target);
    }
    const vow = vowOf(value);
    if (vow === undefined) return undefined;
    const { path } = vow;
    if (
      path instanceof Remote &&
      path.exit === this &&
      (path.slot.kind !== 'answer' || this.#dialect.pipelinesArguments)
    )
      return path.slot;
    const end = Vow.end(vow);
    end.watchedInside();
    return this.#mention('promise', end, end);
  }

  #mention(kind: 'object' | 'promise', value: object, target: Target): Slot {
    const [known, made] = this.#exports.mention(value, target);
    if (made) {
      this.#keeps(kind === 'promise' ? weights.promise : weights.export);
      if (kind === 'object') this.#streams.gave(value, target);
    }
    this.#mentioned.push(known);
    return { kind, id: known.id };
  }

  take(slot: Slot): unknown {
    switch (slot.kind) {
      case 'object':
        return this.#imports.object(slot.id);
      case 'promise':
        return this.#imports.promise(slot.id);
      case 'yours': {
        const known = this.#exports.get(slot.id);
        if (known === undefined) throw new Violation('a value names what was never offered, or was given back');
        return isPromise(known) ? known.value.promise() : known.value;
      }
      case 'answer': {
        const answer = this.#answers.get(slot.id);
        if (answer === undefined) throw new Violation('a value names a question that was not asked, or is done');
        const { value, after } = answer.asValue(this.#after);
        this.#after = later(this.#after, after);
        return shareable(value) ? value : this.#copied(answer, value);
      }
    }
  }

  /** Bytes could be changed by who gets them: each one gets his own. */
  #copied(answer: Answer, value: unknown): unknown {
    this.#copies += answer.weight;
    if (this.#copies > this.#limits.memoryBytes / 4)
      throw new CapError('limit', 'too many bytes of answers in the arguments of one frame: send less at a time');
    return pass(value, this.account);
  }

  /** Nobody here holds it any more. */
  collected(id: number): void {
    if (!this.#dialect.collects || this.#closed !== undefined) return;
    const mentions = this.#imports.collected(id);
    if (mentions > 0) this.#giveBack(id, mentions);
  }

  release(given: Import): void {
    const mentions = this.#imports.release(given);
    if (mentions > 0 && this.#closed === undefined) this.#giveBack(given.slot.id, mentions);
  }

  #giveBack(id: number, mentions: number): void {
    this.#keeps(-weights.import);
    this.#tongue.drop(id, mentions);
    this.#forgetSoon();
  }
}

/** Some at once, the others when there is time: who makes us wait for very much must not hold up the rest with its end. */
function breakSome(questions: Question[], promises: ImportedPromise[], why: CapError): void {
  for (const question of questions.splice(0, brokenAtOnce)) {
    question.over = true;
    question.answer.break(why);
  }
  for (const promise of promises.splice(0, brokenAtOnce)) {
    promise.over = true;
    promise.vow.break(why);
  }
  if (questions.length + promises.length > 0) onceOthersRan(() => breakSome(questions, promises, why));
}

const promised = (value: unknown): Vow | undefined =>
  typeof value === 'object' && value !== null ? vowOf(value) : undefined;

/** A call of a peer's that goes on to another is asked for an answer there only if it was here. */
const wanted = (answer: Awaited | undefined): Awaited | undefined =>
  answer instanceof Answer && answer.question === 0 && !asksAnyway ? undefined : answer;

/** Of a call whose answer nobody wants. */
const ignored: Awaited = Object.freeze({ fulfil: () => {}, break: () => {} });
