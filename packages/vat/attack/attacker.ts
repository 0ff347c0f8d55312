/**
 * A peer that does what it likes, in either dialect, and takes note of what it is told.
 *
 * Promise: what it is told is looked through, frame by frame, for anything of the host's. It keeps answers
 * only, so that a flood of them does not show in the memory of a process that it shares with its victim.
 */
import type { DialectName } from '../src/captp/captp.ts';
import type { Duplex } from '../src/captp/session/duplex.ts';
import { secrets } from './room.ts';

/**
 * A reference or a promise in an argument: the attacker's own (`object`, `promise`), the host's (`yours`), an
 * answer.
 */
export class Slot {
  readonly kind: 'object' | 'promise' | 'yours' | 'answer';
  readonly n: number;
  constructor(kind: 'object' | 'promise' | 'yours' | 'answer', n: number) {
    this.kind = kind;
    this.n = n;
  }
}

/** One of the host's exports, or what it answers to a question. */
export type To = number | { readonly answer: number };

/** Paths, frames of a stack, names of files of ours. */
export const ofTheHost: RegExp = new RegExp(
  [
    ...secrets,
    process.cwd(),
    '/packages/',
    'node_modules',
    'file://',
    'node:internal',
    '\\bat [\\w.#<]+ \\(',
    '\\.ts:\\d',
  ]
    .map((text) => (text.includes('\\') ? text : text.replaceAll('/', '\\/').replaceAll('.', '\\.')))
    .join('|'),
);

export abstract class Attacker {
  abstract readonly dialect: DialectName;
  closed: { readonly code: number; readonly reason: string } | undefined;
  /** The texts of the host that it was told. */
  leaked: string | undefined;
  /** Frames that it was told. */
  frames = 0;
  /** Whether what it is told beside answers is kept, too. */
  listens = false;
  readonly heard: unknown[] = [];
  readonly #duplex: Duplex;
  readonly #answers = new Map<number, string>();
  readonly #waiting = new Set<() => void>();
  protected asked = 0;
  /** Ends it without a close; of a socket. */
  vanish: () => void = () => this.leave();

  constructor(duplex: Duplex) {
    this.#duplex = duplex;
    duplex.onFrame((frame) => {
      this.frames += 1;
      if (typeof frame !== 'string') return;
      this.leaked ??= ofTheHost.exec(frame)?.[0];
      this.hear(JSON.parse(frame));
      this.#wake();
    });
    duplex.onClose((why) => {
      this.closed = why;
      this.leaked ??= ofTheHost.exec(why.reason)?.[0];
      this.#wake();
    });
  }

  protected abstract hear(said: unknown): void;

  protected answered(question: number, outcome: string): void {
    this.#answers.set(question, outcome);
  }

  raw(frame: string | Uint8Array): void {
    this.#duplex.send(frame);
  }
  leave(): void {
    this.#duplex.close(1000, 'done');
  }
  get unsent(): number {
    return this.#duplex.buffered;
  }

  /** Asks, and returns the number of the question. */
  call(to: To, method: string, ...args: readonly unknown[]): number {
    const [question, text] = this.asking(to, method, args);
    this.raw(this.frame([text]));
    return question;
  }
  /** The operation that asks, as text. */
  abstract asking(to: To, method: string, args: readonly unknown[]): readonly [question: number, text: string];
  /** Operations as one frame; dialects that carry one in a frame take one. */
  abstract frame(operations: readonly string[]): string;
  abstract resolving(promise: number, value: unknown): string;
  abstract returning(question: number, value: unknown): string;
  abstract failing(question: number, message: string): string;
  abstract dropping(id: number, mentions: unknown): string;
  abstract finishing(question: number): string;
  /** A value as it is written in a frame. */
  abstract write(value: unknown): unknown;

  /** Many operations, in as few frames as may be. */
  say(operations: readonly string[], aFrame: number = 4096): void {
    const most = this.dialect === 'captp' ? 1 : aFrame;
    for (let from = 0; from < operations.length && this.closed === undefined; from += most)
      this.raw(this.frame(operations.slice(from, from + most)));
  }

  /** `answered ok`, `answered CODE`, or `closed CODE REASON`. */
  async outcome(question: number): Promise<string> {
    await this.until(() => this.#answers.has(question));
    return this.#answers.get(question) ?? this.closing;
  }

  async until(found: () => boolean): Promise<void> {
    while (!found() && this.closed === undefined) await new Promise<void>((wake) => this.#waiting.add(wake));
  }

  get closing(): string {
    return this.closed === undefined ? 'open' : `closed ${this.closed.code} ${this.closed.reason}`;
  }

  /** Whether it is served still. */
  alive(): Promise<string> {
    return this.outcome(this.call(0, 'echo', 'still here'));
  }

  async end(): Promise<string> {
    await this.until(() => false);
    return this.closing;
  }

  #wake(): void {
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }
}

export class HobAttacker extends Attacker {
  readonly dialect = 'hob.1';

  protected hear(said: unknown): void {
    for (const operation of said as readonly (readonly unknown[])[]) {
      const [name, id, code] = operation;
      if (name === 'return') this.answered(id as number, 'answered ok');
      else if (name === 'fail') this.answered(id as number, `answered ${String(code)}`);
      else if (!this.listens) continue;
      if (this.listens) this.heard.push(operation);
    }
  }

  write(value: unknown): unknown {
    if (value instanceof Slot) return { '@': value.kind, n: value.n };
    if (Array.isArray(value)) return value.map((item) => this.write(item));
    return value;
  }
  asking(to: To, method: string, args: readonly unknown[]): readonly [number, string] {
    this.asked += 1;
    const target = typeof to === 'number' ? to : [to.answer];
    return [this.asked, JSON.stringify(['deliver', target, method, this.write(args), this.asked])];
  }
  frame(operations: readonly string[]): string {
    return `[${operations.join(',')}]`;
  }
  resolving(promise: number, value: unknown): string {
    return JSON.stringify(['resolve', promise, this.write(value)]);
  }
  returning(question: number, value: unknown): string {
    return JSON.stringify(['return', question, this.write(value)]);
  }
  failing(question: number, message: string): string {
    return JSON.stringify(['fail', question, 'error', message]);
  }
  dropping(id: number, mentions: unknown): string {
    return JSON.stringify(['drop', id, mentions]);
  }
  finishing(question: number): string {
    return JSON.stringify(['done', question]);
  }
}

interface CapData {
  readonly body: string;
  readonly slots: readonly string[];
}

export class EndoAttacker extends Attacker {
  readonly dialect = 'captp';

  constructor(duplex: Duplex) {
    super(duplex);
    this.asked = 1;
    this.raw(JSON.stringify({ type: 'CTP_BOOTSTRAP', epoch: 0, questionID: 'q-1' }));
  }

  protected hear(said: unknown): void {
    const { answerID, exception } = said as { readonly answerID?: string; readonly exception?: CapData };
    if (answerID !== undefined)
      this.answered(
        Number(answerID.slice(2)),
        exception === undefined
          ? 'answered ok'
          : `answered ${String((JSON.parse(exception.body) as { message: string }).message.split(':')[0])}`,
      );
    if (this.listens) this.heard.push(said);
  }

  write(value: unknown): CapData {
    const slots: string[] = [];
    const name = ({ kind, n }: Slot): string =>
      kind === 'object' ? `o+${n}` : kind === 'promise' ? `p+${n}` : kind === 'answer' ? `q-${n}` : `o-${n + 1}`;
    const written = (item: unknown): unknown =>
      item instanceof Slot
        ? { '@qclass': 'slot', index: slots.push(name(item)) - 1 }
        : Array.isArray(item)
          ? item.map(written)
          : item;
    const body = JSON.stringify(written(value));
    return { body, slots };
  }
  asking(to: To, method: string, args: readonly unknown[]): readonly [number, string] {
    this.asked += 1;
    const target = typeof to === 'number' ? `o-${to + 1}` : `q-${to.answer}`;
    const call = {
      type: 'CTP_CALL',
      epoch: 0,
      questionID: `q-${this.asked}`,
      target,
      method: this.write([method, args]),
    };
    return [this.asked, JSON.stringify(call)];
  }
  frame(operations: readonly string[]): string {
    return operations[0] as string;
  }
  resolving(promise: number, value: unknown): string {
    return JSON.stringify({ type: 'CTP_RESOLVE', promiseID: `p-${promise}`, res: this.write(value) });
  }
  returning(question: number, value: unknown): string {
    return JSON.stringify({ type: 'CTP_RETURN', epoch: 0, answerID: `q-${question}`, result: this.write(value) });
  }
  failing(question: number, message: string): string {
    const body = JSON.stringify({ '@qclass': 'error', errorId: 'e', message, name: 'Error' });
    return JSON.stringify({ type: 'CTP_RETURN', epoch: 0, answerID: `q-${question}`, exception: { body, slots: [] } });
  }
  dropping(id: number, mentions: unknown): string {
    return JSON.stringify({ type: 'CTP_DROP', epoch: 0, slotID: `o-${id + 1}`, decRefs: mentions });
  }
  finishing(question: number): string {
    return JSON.stringify({ type: 'CTP_DROP', epoch: 0, slotID: `q-${question}`, decRefs: 1 });
  }
}
