/**
 * The dialect `hob.1`: operations as JSON arrays, all that one turn says in one text frame, bytes as binary frames before it.
 *
 * `docs/wire.md` specifies it for those who write a peer; where this file and that page disagree, one of them is wrong.
 */
import { CapError } from '../../core/errors.ts';
import { type Limits, operationsPerFrame } from '../session/limits.ts';
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
import { inward, outward } from './errors.ts';
import { Decoder, encode, Incoming, Outgoing } from './hob-values.ts';
import { toJson } from './quoted.ts';
import { tooLarge } from './size-budget.ts';
import { checkStructure, isDear, isId, isQuestion, parse, tooLong, weightOf } from './structure.ts';

/** A frame with this much in it leaves without waiting for the end of the turn. */
const full = 64 << 10;
/** Bytes of one binary frame: several are sent for more. */
const binaryFrame = 1 << 20;
/** Structural characters of an operation beside its values. */
const mostOfOperation = 16;
const nothing: readonly unknown[] = Object.freeze([]);

class HobTongue implements DialectSession {
  readonly #slots: Slots;
  readonly #listener: IncomingOperations;
  readonly #limits: Limits;
  readonly #send: Send;
  readonly #decoder: Decoder;
  readonly #bytes: Incoming;
  #operations: string[] = [];
  #length = 0;
  #done: number[] = [];
  #drops: number[] = [];
  said = 0;

  constructor(slots: Slots, listener: IncomingOperations, limits: Limits, send: Send) {
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

  // ---- what is said -------------------------------------------------------------------------------------------------------

  deliver(to: Slot, method: string, args: readonly unknown[], question: number): void {
    const target = to.kind === 'answer' ? [to.id] : to.id;
    const bytes = new Outgoing(this.#limits);
    const said = args.length === 0 ? nothing : encode(args, this.#slots, bytes);
    this.#say(question === 0 ? ['deliver', target, method, said] : ['deliver', target, method, said, question], bytes);
  }

  answer(question: number, value: unknown, written?: () => void): void {
    const bytes = new Outgoing(this.#limits);
    const text = this.#say(['return', question, encode(value, this.#slots, bytes)], bytes, written);
    // It is kept until the peer is done with it, and takes more room than its text.
    this.said += weightOf(text) - text.length;
  }

  refuse(question: number, error: unknown): void {
    const { code, message } = outward(error, this.#slots);
    this.#add(JSON.stringify(['fail', question, code, message]));
  }

  resolve(promise: number, value: unknown): void {
    const bytes = new Outgoing(this.#limits);
    this.#say(['resolve', promise, encode(value, this.#slots, bytes)], bytes);
  }

  break(promise: number, error: unknown): void {
    const { code, message } = outward(error, this.#slots);
    this.#add(JSON.stringify(['break', promise, code, message]));
  }

  drop(id: number, mentions: number): void {
    this.#drops.push(id, mentions);
    if (this.#drops.length > 1000) this.#forget();
  }

  done(question: number): void {
    this.#done.push(question);
    if (this.#done.length > 1000) this.#forget();
  }

  /** The close of the transport says it, with its code. */
  abort(): void {
    this.#bytes.clear();
  }

  /** `written`: told where all there is are the bytes of one value. */
  #say(operation: readonly unknown[], bytes: Outgoing, written?: () => void): string {
    const text = toJson(operation);
    // Alone in its frame it has two brackets more.
    if (tooLong(text, this.#limits, 2) || bytes.length > this.#limits.memoryBytes / 4) throw tooLarge();
    // Looked at only where what was encoded may have too many: a frame of more than one operation is too short for that.
    if (
      text.length > Math.min(full, this.#limits.tokens) &&
      (bytes.tokens + mostOfOperation > this.#limits.tokens || isDear(bytes))
    )
      this.#checkTokens(text);
    if (bytes.length === 0) {
      this.#add(text);
      return text;
    }
    // Where bytes lie is said by where they begin in what came before the frame: so it is a frame of its own.
    this.flush();
    for (const part of bytes.parts)
      for (let from = 0; from < part.length; from += binaryFrame) {
        const last = from + binaryFrame >= part.length;
        this.#send(
          part.length <= binaryFrame ? part : part.subarray(from, from + binaryFrame),
          last ? written : undefined,
        );
      }
    this.said = text.length + bytes.length;
    this.#send(`[${text}]`);
    return text;
  }

  #checkTokens(text: string): void {
    try {
      checkStructure(text, this.#limits);
    } catch {
      throw tooLarge();
    }
  }

  #add(text: string): void {
    this.#forget();
    if (this.#length > 0 && this.#length + text.length > full) this.#leave();
    this.#operations.push(text);
    this.#length += text.length + 1;
    this.said = text.length;
    if (this.#operations.length >= operationsPerFrame) this.#leave();
  }

  /** What is forgotten goes before what is said next: it was forgotten before. */
  #forget(): void {
    if (this.#done.length > 0) {
      const done = this.#done;
      this.#done = [];
      this.#push(`["done",${done.join(',')}]`);
    }
    if (this.#drops.length > 0) {
      const drops = this.#drops;
      this.#drops = [];
      this.#push(`["drop",${drops.join(',')}]`);
    }
  }

  #push(text: string): void {
    if (this.#length > 0 && this.#length + text.length > full) this.#leave();
    this.#operations.push(text);
    this.#length += text.length + 1;
  }

  flush(): void {
    this.#forget();
    if (this.#length > 0) this.#leave();
  }

  #leave(): void {
    const operations = this.#operations;
    this.#operations = [];
    this.#length = 0;
    this.#send(operations.length === 1 ? `[${operations[0]}]` : `[${operations.join(',')}]`);
  }

  // ---- what is heard ------------------------------------------------------------------------------------------------------

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
        const heard = this.#heard(more, weight);
        listener.deliver(
          Array.isArray(id) ? { kind: 'answer', id: id[0] as number } : { kind: 'yours', id: id as number },
          value,
          heard,
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

  #heard(args: unknown[], weight: number): DecodedArguments | CapError {
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

  /** Only of this value; anything else that is thrown is of the connection. */
  #refused(error: unknown): CapError {
    if (!(error instanceof CapError)) throw error;
    this.#bytes.excuse();
    return error;
  }
}

/** Our own: TypeScript, Python, guests, the console. */
export const hob1: Dialect = Object.freeze({
  name: 'hob.1',
  pipelinesArguments: true,
  saysDone: true,
  collects: true,
  shortens: true,
  alwaysAsks: false,
  open: (slots: Slots, listener: IncomingOperations, limits: Limits, send: Send): DialectSession =>
    new HobTongue(slots, listener, limits, send),
});
