/**
 * The dialect `captp`: the JSON wire of `@endo/captp` 4.x, so that any Endo peer can connect.
 *
 * Promise: the honest behaviour of such a peer is served, including its peculiarities. It counts calls of its
 * own objects as mentions of ours (`EndoCounts`). It never takes back an object that it was told to forget,
 * so drops are sent late. Without garbage collection it never says that it is done with an answer. Traps,
 * which block their caller, are refused. Every other deviation closes the connection with a reason.
 */
import { CapError } from '../../core/errors.ts';
import type { SessionLimits } from '../session/limits.ts';
import {
  type DecodedArguments,
  type Dialect,
  type DialectSession,
  type Frame,
  type IncomingOperations,
  type Send,
  type Slot,
  type Slots,
  Undecodable,
  Violation,
} from '../session/operations.ts';
import { type CapData, CapDataDecoder, errorData, type Naming, toCapData } from './capdata.ts';
import { EndoCounts } from './endo-counts.ts';
import { errorText, inward } from './errors.ts';
import { checkStructure, isId, parse, tooLong } from './parse-frame.ts';
import { jsonOfJson, longText } from './quoted.ts';
import { tooLarge } from './size-budget.ts';

/**
 * This dialect numbers objects and promises separately, from 0. The core uses one sequence, in which 0 is the
 * bootstrap.
 */
const objectId = (n: number): number => 2 * n + 2;
const promiseId = (n: number): number => 2 * n + 3;

/** The question for the bootstrap is the first one. */
const bootstrapQuestion = 'q-1';

/** Memory of a held message, besides its text. */
const heldBytes = 300;

type Message = Readonly<Record<string, unknown>>;

const nothing: readonly string[] = Object.freeze([]);

class EndoSession implements DialectSession, Naming {
  lastSize = 0;
  /** Memory of the held messages. */
  #heldBytes = 0;
  readonly #slots: Slots;
  readonly #listener: IncomingOperations;
  readonly #limits: SessionLimits;
  readonly #send: Send;
  readonly #decoder: CapDataDecoder;
  readonly #counts = new EndoCounts();
  #asked = false;
  /** The slot of the bootstrap of the peer, once it is known. */
  #bootstrap: string | undefined;
  /**
   * Messages held until the slot of the bootstrap is known: calls of the bootstrap and everything after them.
   * An Endo peer registers the question for the bootstrap in a later job, so it does not know the question
   * when the next frame names it.
   */
  readonly #held: Message[] = [];
  readonly #bootstrapQuestions = new Set<number>();

  constructor(slots: Slots, listener: IncomingOperations, limits: SessionLimits, send: Send) {
    this.#slots = slots;
    this.#listener = listener;
    this.#limits = limits;
    this.#send = send;
    this.#decoder = new CapDataDecoder(limits, this);
  }

  get kept(): number {
    return this.#heldBytes + this.#counts.bytes;
  }

  // ---- slots ----------------------------------------------------------------------------------------------

  write({ kind, id }: Slot): string {
    switch (kind) {
      case 'object':
        return `o+${id + 1}`;
      case 'promise':
        return `p+${id + 1}`;
      case 'answer':
        return `q-${id + 1}`;
      case 'yours':
        if (id !== 0) return id % 2 === 0 ? `o-${id / 2 - 1}` : `p-${(id - 3) / 2}`;
        if (this.#bootstrap !== undefined) return this.#bootstrap;
        throw new CapError('unavailable', 'the bootstrap of the peer is not known yet: wait for its first answer');
    }
  }

  read(name: string): unknown {
    const [letter, sign, digits] = [name[0], name[1], Number(name.slice(2))];
    if (letter === 'q') return this.#slots.take({ kind: 'answer', id: digits });
    if (sign === '+')
      return letter === 'p'
        ? this.#slots.take({ kind: 'promise', id: promiseId(digits) })
        : this.#slots.take({ kind: 'object', id: this.#bootstrap === `o-${name.slice(2)}` ? 0 : objectId(digits) });
    if (digits === 0) throw new Violation('a value names an object that was never exported');
    const value = this.#slots.take({ kind: 'yours', id: digits - 1 });
    if (value instanceof Promise !== (letter === 'p')) throw new Violation('a slot is not what its name says');
    return value;
  }

  #target(name: string): Slot {
    const digits = Number(name.slice(2));
    if (name[0] === 'q') return { kind: 'answer', id: digits };
    if (digits === 0) throw new Violation('a call names an object that was never exported');
    return { kind: 'yours', id: digits - 1 };
  }

  // ---- outgoing -------------------------------------------------------------------------------------------

  deliver(to: Slot, method: string, args: readonly unknown[], question: number): void {
    this.#askBootstrap();
    const body = this.#capData([method === '' ? null : method, args]);
    const wait = to.kind === 'yours' && to.id === 0 && this.#bootstrap === undefined;
    const target = wait ? bootstrapQuestion : this.write(to);
    this.#sendMessage({ type: 'CTP_CALL', epoch: 0, questionID: `q-${question + 1}`, target, method: body }, wait);
  }

  #askBootstrap(): void {
    if (this.#asked) return;
    this.#asked = true;
    this.#sendMessage({ type: 'CTP_BOOTSTRAP', epoch: 0, questionID: bootstrapQuestion });
  }

  answer(question: number, value: unknown): void {
    const message = { type: 'CTP_RETURN', epoch: 0, answerID: `q-${question}`, result: this.#capData(value) };
    // This answer is never held, because both sides may be waiting for it.
    if (this.#bootstrapQuestions.delete(question)) this.#sendNow(message, textOf(message));
    else this.#sendMessage(message);
  }

  refuse(question: number, error: unknown): void {
    this.#bootstrapQuestions.delete(question);
    this.#sendMessage({
      type: 'CTP_RETURN',
      epoch: 0,
      answerID: `q-${question}`,
      exception: exception(error, this.#slots),
    });
  }

  resolve(promise: number, value: unknown): void {
    this.#sendMessage({ type: 'CTP_RESOLVE', promiseID: `p-${promise + 1}`, res: this.#capData(value) });
  }

  break(promise: number, error: unknown): void {
    this.#sendMessage({ type: 'CTP_RESOLVE', promiseID: `p-${promise + 1}`, rej: exception(error, this.#slots) });
  }

  drop(id: number, mentions: number): void {
    if (id % 2 === 0 && id !== 0)
      this.#sendMessage({ type: 'CTP_DROP', slotID: this.write({ kind: 'yours', id }), decRefs: mentions, epoch: 0 });
  }

  done(question: number, reference: boolean): void {
    if (reference) this.#sendMessage({ type: 'CTP_DROP', slotID: `q-${question + 1}`, decRefs: 1, epoch: 0 });
  }

  // Nothing is sent: the peer sees the close of the transport.
  abort(): void {
    this.#held.length = 0;
    this.#heldBytes = 0;
    this.#counts.clear();
  }

  flush(): void {}

  #capData(value: unknown): CapData {
    return toCapData(value, this.#slots, this, this.#limits);
  }

  #sendMessage(message: Message, wait = false): void {
    const text = textOf(message);
    if (tooLong(text, this.#limits)) throw tooLarge();
    if (text.length > this.#limits.tokens) this.#checkTokens(message, text);
    this.lastSize = text.length;
    if (!wait && this.#held.length === 0) return this.#sendNow(message, text);
    this.#held.push(message);
    this.#heldBytes += text.length + heldBytes;
  }

  #sendNow(message: Message, text: string): void {
    const { target, method, result, res } = message;
    const data = (method ?? result ?? res) as CapData | undefined;
    this.#counts.countMessage(target as string | undefined, data?.slots ?? nothing);
    this.#send(text);
  }

  #checkTokens(message: Message, text: string): void {
    try {
      checkStructure(text, this.#limits);
      for (const part of Object.values(message)) if (isCapData(part)) checkStructure(part.body, this.#limits);
    } catch {
      throw tooLarge();
    }
  }

  // ---- incoming -------------------------------------------------------------------------------------------

  receive(frame: Frame): void {
    if (typeof frame !== 'string') throw new Violation('binary frame: this dialect is text');
    if (tooLong(frame, this.#limits))
      throw new Violation(`a frame may have ${this.#limits.frameBytes} bytes: send less at a time`, 1009);
    const weight = checkStructure(frame, this.#limits);
    const message = parse(frame);
    if (typeof message !== 'object' || message === null || Array.isArray(message)) throw new Violation('not a message');
    const { type } = message as Message;
    const ok = this.#message(type, message as Message, weight);
    if (!ok) throw new Violation(`malformed ${String(type).slice(0, 20)}`);
  }

  #message(type: unknown, message: Message, weight: number): boolean {
    const listener = this.#listener;
    switch (type) {
      case 'CTP_CALL': {
        const { questionID, target, method, trap } = message;
        if (!isNamed(questionID, 'q') || !isNamed(target, 'opq') || !isCapData(method)) return false;
        if (trap !== undefined && trap !== false) return false;
        const { name, decoded } = this.#invocation(method);
        listener.deliver(
          this.#target(target),
          name,
          decoded,
          Number(questionID.slice(2)),
          weight + this.#decoder.weight,
        );
        return true;
      }
      case 'CTP_BOOTSTRAP': {
        const { questionID } = message;
        if (!isNamed(questionID, 'q')) return false;
        this.#bootstrapQuestions.add(Number(questionID.slice(2)));
        listener.bootstrap(Number(questionID.slice(2)));
        return true;
      }
      case 'CTP_RETURN': {
        const { answerID, result, exception } = message;
        if (!isNamed(answerID, 'q') || !eitherOf(message, 'result', 'exception')) return false;
        if (answerID === bootstrapQuestion) return this.#bootstrapIs(result);
        const id = Number(answerID.slice(2)) - 1;
        if ('result' in message) listener.answer(id, this.#value(result as CapData));
        else listener.refuse(id, this.#reason(exception as CapData));
        return true;
      }
      case 'CTP_RESOLVE': {
        const { promiseID, res, rej } = message;
        if (!isNamed(promiseID, 'p') || !eitherOf(message, 'res', 'rej')) return false;
        const id = promiseId(Number(promiseID.slice(2)));
        if ('res' in message) listener.resolve(id, this.#value(res as CapData));
        else listener.break(id, this.#reason(rej as CapData));
        return true;
      }
      case 'CTP_DROP': {
        const { slotID, decRefs = 0 } = message;
        if (!isNamed(slotID, 'opq') || !isId(decRefs)) return false;
        if (slotID[0] === 'q') listener.done(Number(slotID.slice(2)));
        else this.#dropped(slotID, decRefs);
        return true;
      }
      case 'CTP_DISCONNECT':
        listener.abort('it said so');
        return true;
      default:
        throw new Violation('unknown message type');
    }
  }

  #dropped(slot: string, counted: number): void {
    const gone = this.#counts.dropped(slot, counted);
    const id = Number(slot.slice(2)) - 1;
    if (gone) this.#listener.drop(id, Number.MAX_SAFE_INTEGER);
    // A promise that was mentioned again is new to the peer, so its resolution is sent again.
    else if (slot[0] === 'p') this.#listener.drop(id, 1);
  }

  /** Handles the answer to the first question. It only gives a name to the peer's export 0. */
  #bootstrapIs(result: unknown): boolean {
    if (!this.#asked || this.#bootstrap !== undefined)
      throw new Violation('an answer names a question that was not asked');
    const slot = isCapData(result) ? result.slots[0] : undefined;
    this.#bootstrap = slot?.startsWith('o+') ? `o-${slot.slice(2)}` : bootstrapQuestion;
    this.#heldBytes = 0;
    for (const message of this.#held.splice(0)) {
      const { target } = message;
      const known = target === bootstrapQuestion ? { ...message, target: this.#bootstrap } : message;
      this.#sendNow(known, textOf(known));
    }
    return true;
  }

  #invocation(method: CapData): { readonly name: string; readonly decoded: DecodedArguments | CapError } {
    const call = this.#value(method);
    if (call instanceof Undecodable) return { name: 'call', decoded: call.error };
    if (!Array.isArray(call) || call.length < 1 || call.length > 2) throw new Violation('malformed CTP_CALL');
    const [name, args] = call as readonly unknown[];
    if (typeof name === 'number' || typeof name === 'boolean' || Array.isArray(name))
      throw new Violation('malformed CTP_CALL');
    if (call.length === 1) return { name: 'call', decoded: noProperties };
    if (!Array.isArray(args)) throw new Violation('malformed CTP_CALL');
    if (typeof name !== 'string' && name !== null) return { name: 'call', decoded: noSymbols };
    return { name: name ?? '', decoded: { args: args as readonly unknown[], promises: this.#decoder.promises } };
  }

  #value(data: CapData): unknown {
    try {
      return this.#decoder.decode(data);
    } catch (error) {
      if (error instanceof CapError) return new Undecodable(error);
      throw error;
    }
  }

  #reason(data: CapData): CapError {
    const reason = this.#value(data);
    if (reason instanceof Undecodable) return reason.error;
    return reason instanceof CapError ? reason : inward('error', reason);
  }
}

const isLong = (value: unknown): value is CapData =>
  typeof value === 'object' && ((value as Partial<CapData> | null)?.body?.length ?? 0) >= longText;

/** Returns the JSON of a message. The value that it carries is its last part. */
function textOf(message: Message): string {
  const [last, value] = Object.entries(message).at(-1) as [string, unknown];
  if (!isLong(value)) return JSON.stringify(message);
  const head = JSON.stringify({ ...message, [last]: undefined });
  return `${head.slice(0, -1)},"${last}":{"body":${jsonOfJson(value.body)},"slots":${JSON.stringify(value.slots)}}}`;
}

const noProperties = new CapError('invalid', 'a reference has no properties, only methods');
const noSymbols = new CapError('no-such-method', 'a method is called by a name that is a string');

const exception = (error: unknown, slots: Slots): CapData => ({
  body: JSON.stringify(errorData(errorText(error, slots))),
  slots: [],
});

/** Each slot has exactly one name: its number has no leading zeros. */
const slotName = /^[opq][+-](?:0|[1-9]\d{0,14})$/;

/**
 * True for a slot that the sender may use here: a question of its own, or something that it was given. Its
 * own exports (`+`) are not allowed.
 */
const isNamed = (value: unknown, letters: string): value is string =>
  typeof value === 'string' && value[1] === '-' && letters.includes(value[0] ?? ' ') && slotName.test(value);

/**
 * True for a slot that may stand for a value. The only questions allowed are those of the sender, as answers
 * of the receiver.
 */
const isSlot = (value: unknown): boolean =>
  typeof value === 'string' && slotName.test(value) && !value.startsWith('q+');

const isCapData = (value: unknown): value is CapData =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as { body?: unknown }).body === 'string' &&
  Array.isArray((value as { slots?: unknown }).slots) &&
  (value as { slots: unknown[] }).slots.every(isSlot);

const eitherOf = (message: Message, a: string, b: string): boolean =>
  a in message !== b in message && isCapData(message[a] ?? message[b]);

export const endo: Dialect = Object.freeze({
  name: 'captp',
  pipelinesArguments: false,
  saysDone: false,
  collects: false,
  shortens: false,
  alwaysAsks: true,
  open: (slots: Slots, listener: IncomingOperations, limits: SessionLimits, send: Send): DialectSession =>
    new EndoSession(slots, listener, limits, send),
});
