/**
 * The dialect `hob.1`: operations are JSON arrays. The operations of one turn share a text frame, but a long operation
 * has a frame of its own. So has an operation with bytes, and the bytes go into binary frames before it.
 *
 * `docs/wire.md` specifies the dialect for authors of peers. If this file and that page disagree, one of them
 * is wrong.
 */
import { CapError } from '../../core/errors.ts';
import { operationsPerFrame, type SessionLimits } from '../session/limits.ts';
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
import { Incoming, Outgoing } from './attached-bytes.ts';
import { inward, outward } from './errors.ts';
import { FrameCounts, type OperationCounts } from './frame-counts.ts';
import { Decoder, encode } from './hob-values.ts';
import { checkStructure, isId, isQuestion, mostMemory, mostTokens, parse, tooLong } from './parse-frame.ts';
import { toJson } from './quoted.ts';
import { tooLarge } from './size-budget.ts';

/** A frame of this length is sent without waiting for the end of the turn. */
const full = 64 << 10;
/** Maximum bytes of one binary frame. More bytes are sent in several frames. */
const binaryFrame = 1 << 20;
const nothing: readonly unknown[] = Object.freeze([]);
/** An operation without values that are data of a program. */
const plain: OperationCounts = { tokens: 0, keys: 0, lists: 0, strings: 0 };

class HobSession implements DialectSession {
  readonly #slots: Slots;
  readonly #listener: IncomingOperations;
  readonly #limits: SessionLimits;
  readonly #send: Send;
  readonly #decoder: Decoder;
  readonly #bytes: Incoming;
  #operations: string[] = [];
  #length = 0;
  readonly #counts = new FrameCounts();
  #done: number[] = [];
  #drops: number[] = [];
  lastSize = 0;

  constructor(slots: Slots, listener: IncomingOperations, limits: SessionLimits, send: Send) {
    this.#slots = slots;
    this.#listener = listener;
    this.#limits = limits;
    this.#send = send;
    this.#bytes = new Incoming(limits);
    this.#decoder = new Decoder(slots, limits, this.#bytes);
  }

  get kept(): number {
    return this.#bytes.kept;
  }

  // ---- outgoing -------------------------------------------------------------------------------------------

  deliver(to: Slot, method: string, args: readonly unknown[], question: number): void {
    const target = to.kind === 'answer' ? [to.id] : to.id;
    const bytes = new Outgoing(this.#limits);
    const encoded = args.length === 0 ? nothing : encode(args, this.#slots, bytes);
    this.#sendOperation(
      question === 0 ? ['deliver', target, method, encoded] : ['deliver', target, method, encoded, question],
      bytes,
    );
  }

  answer(question: number, value: unknown, written?: () => void): void {
    const bytes = new Outgoing(this.#limits);
    const operation = ['return', question, encode(value, this.#slots, bytes)];
    const text = this.#sendOperation(operation, bytes, written);
    // The answer is kept until the peer is done with it, and takes more memory than its text.
    this.lastSize += mostMemory(text, bytes) - text.length;
  }

  refuse(question: number, error: unknown): void {
    const { code, message } = outward(error, this.#slots);
    this.#add(JSON.stringify(['fail', question, code, message]));
  }

  resolve(promise: number, value: unknown): void {
    const bytes = new Outgoing(this.#limits);
    this.#sendOperation(['resolve', promise, encode(value, this.#slots, bytes)], bytes);
  }

  break(promise: number, error: unknown): void {
    const { code, message } = outward(error, this.#slots);
    this.#add(JSON.stringify(['break', promise, code, message]));
  }

  drop(id: number, mentions: number): void {
    this.#drops.push(id, mentions);
    if (this.#drops.length > 1000) this.#addForgotten();
  }

  done(question: number): void {
    this.#done.push(question);
    if (this.#done.length > 1000) this.#addForgotten();
  }

  /** Nothing is sent: the close of the transport carries the code and the reason. */
  abort(): void {
    this.#bytes.clear();
  }

  /**
   * Adds an operation to the next frame, or sends it at once in a frame of its own if it is long or carries bytes.
   * `written` is called if the bytes are those of one value.
   */
  #sendOperation(operation: readonly unknown[], bytes: Outgoing, written?: () => void): string {
    const text = toJson(operation);
    // V8 joins strings without a copy, and copies the joined string when it is first read. So only the frame of a
    // long operation is read: reading its text as well would cost a second copy.
    const frame = `[${text}]`;
    if (tooLong(frame, this.#limits) || bytes.length > this.#limits.memoryBytes / 4) throw tooLarge();
    // The check runs only if the values may have too many tokens.
    if (mostTokens(bytes) > this.#limits.tokens) this.#checkTokens(frame);
    if (bytes.length === 0) {
      if (text.length > full) return this.#sendAlone(frame);
      this.#add(text, bytes);
      return text;
    }
    // Positions of bytes count from the start of the bytes before the frame, so the operation gets a frame of
    // its own.
    this.flush();
    for (const part of bytes.parts)
      for (let from = 0; from < part.length; from += binaryFrame) {
        const last = from + binaryFrame >= part.length;
        this.#send(
          part.length <= binaryFrame ? part : part.subarray(from, from + binaryFrame),
          last ? written : undefined,
        );
      }
    this.lastSize = text.length + bytes.length;
    this.#send(frame);
    return frame;
  }

  #sendAlone(frame: string): string {
    this.flush();
    this.lastSize = frame.length;
    this.#send(frame);
    return frame;
  }

  #checkTokens(frame: string): void {
    try {
      checkStructure(frame, this.#limits);
    } catch {
      throw tooLarge();
    }
  }

  #add(text: string, counts: OperationCounts = plain): void {
    this.#addForgotten();
    this.#push(text, counts);
    this.lastSize = text.length;
    if (this.#operations.length >= operationsPerFrame) this.#sendFrame();
  }

  /** Drops and dones go before the next operation, because they happened earlier. */
  #addForgotten(): void {
    if (this.#done.length > 0) {
      const done = this.#done;
      this.#done = [];
      this.#push(`["done",${done.join(',')}]`, { ...plain, tokens: done.length });
    }
    if (this.#drops.length > 0) {
      const drops = this.#drops;
      this.#drops = [];
      this.#push(`["drop",${drops.join(',')}]`, { ...plain, tokens: drops.length });
    }
  }

  #push(text: string, counts: OperationCounts): void {
    if (this.#length > 0 && (this.#length + text.length > full || !this.#counts.hasRoom(counts, this.#limits)))
      this.#sendFrame();
    this.#counts.add(counts);
    this.#operations.push(text);
    this.#length += text.length + 1;
  }

  flush(): void {
    this.#addForgotten();
    if (this.#length > 0) this.#sendFrame();
  }

  #sendFrame(): void {
    const operations = this.#operations;
    this.#operations = [];
    this.#length = 0;
    this.#counts.clear();
    this.#send(operations.length === 1 ? `[${operations[0]}]` : `[${operations.join(',')}]`);
  }

  // ---- incoming -------------------------------------------------------------------------------------------

  receive(frame: Frame): void {
    if (typeof frame !== 'string') return this.#bytes.add(frame);
    if (tooLong(frame, this.#limits))
      throw new Violation(`a text frame may have ${this.#limits.frameBytes} bytes: send streams`, 1009);
    const weights: number[] = [];
    checkStructure(frame, this.#limits, 'a frame', weights);
    const operations = parse(frame);
    if (!Array.isArray(operations) || operations.length === 0) throw new Violation('a frame is a list of operations');
    if (operations.length > operationsPerFrame)
      throw new Violation(`a frame may have ${operationsPerFrame} operations: send several`);
    this.#decoder.begin();
    for (let i = 0; i < operations.length; i += 1) this.#operation(operations[i], weights[i] as number);
    this.#bytes.done();
  }

  #operation(operation: unknown, weight: number): void {
    if (!Array.isArray(operation)) throw new Violation('an operation is a list');
    const [name, id, value, more, question] = operation as unknown[];
    const { length } = operation;
    const listener = this.#listener;
    switch (name) {
      case 'deliver': {
        if (typeof value !== 'string' || !Array.isArray(more)) break;
        if (length !== 4 && !(length === 5 && isQuestion(question))) break;
        if (Array.isArray(id) ? id.length !== 1 || !isQuestion(id[0]) : !isId(id)) break;
        const { taken } = this.#bytes;
        const decoded = this.#arguments(more, weight);
        listener.deliver(
          Array.isArray(id) ? { kind: 'answer', id: id[0] as number } : { kind: 'yours', id: id as number },
          value,
          decoded,
          length === 5 ? (question as number) : 0,
          weight + this.#bytes.taken - taken,
        );
        return;
      }
      case 'return':
        if (length !== 3 || !isQuestion(id)) break;
        return listener.answer(id, this.#value(value, weight));
      case 'resolve':
        if (length !== 3 || !isId(id)) break;
        return listener.resolve(id, this.#value(value, weight));
      case 'fail':
      case 'break':
        if (length !== 4 || !isId(id) || typeof value !== 'string' || typeof more !== 'string') break;
        if (name === 'fail') listener.refuse(id, inward(value, more));
        else listener.break(id, inward(value, more));
        return;
      case 'done':
        if (length < 2 || !operation.slice(1).every(isQuestion)) break;
        for (let i = 1; i < length; i += 1) listener.done(operation[i] as number);
        return;
      case 'drop':
        if (length < 3 || length % 2 === 0 || !operation.slice(1).every(isId)) break;
        for (let i = 1; i < length; i += 2) listener.drop(operation[i] as number, operation[i + 1] as number);
        return;
      default:
        throw new Violation('an unknown operation');
    }
    throw new Violation(`malformed "${name}"`);
  }

  #arguments(args: unknown[], weight: number): DecodedArguments | CapError {
    try {
      return { args: this.#decoder.args(args, weight), promises: this.#decoder.promises };
    } catch (error) {
      return this.#refused(error);
    }
  }

  #value(json: unknown, weight: number): unknown {
    try {
      return this.#decoder.value(json, weight);
    } catch (error) {
      return new Undecodable(this.#refused(error));
    }
  }

  /** A `CapError` refuses only this value. Any other error is thrown on and ends the connection. */
  #refused(error: unknown): CapError {
    if (!(error instanceof CapError)) throw error;
    this.#bytes.excuse();
    return error;
  }
}

/** Our own dialect: used by TypeScript, Python, guests and the console. */
export const hob1: Dialect = Object.freeze({
  name: 'hob.1',
  pipelinesArguments: true,
  saysDone: true,
  collects: true,
  shortens: true,
  alwaysAsks: false,
  open: (slots: Slots, listener: IncomingOperations, limits: SessionLimits, send: Send): DialectSession =>
    new HobSession(slots, listener, limits, send),
});
