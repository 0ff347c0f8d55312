/**
 * Frames for the fuzzer: whole conversations that are nearly right, and what chance makes of them.
 *
 * Numbers come from a small pool, so that they meet: a call of what was given, a promise resolved that was
 * sent, an answer used after it was done with. Then single frames are bent: types swapped, numbers at their
 * edges, parts doubled, left out, cut off.
 */
import type { DialectName } from '../src/captp/captp.ts';
import type { Chance } from './chance.ts';

export interface Step {
  readonly frame: string | Uint8Array;
  /** The host works before the next one comes. */
  readonly pause: boolean;
}

type Json = unknown;

const edges: readonly Json[] = [
  null,
  true,
  false,
  0,
  -0,
  -1,
  1,
  0.5,
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  1e308,
  '',
  '0',
  '-1',
  'x',
  '@',
  '@@',
  '#',
  '__proto__',
  'constructor',
  'then',
  'o+0',
  'o-0',
  'o-1',
  'p-1',
  'q-1',
  '\ud800',
  '\u0000',
  'é😀',
  [],
  {},
  [[]],
  { '@': 'object', n: 0 },
  { '@': 'yours', n: 0 },
  { '@': 'bytes', at: 0, n: 0 },
  { '@qclass': 'slot', index: 0 },
  { '@qclass': 'undefined' },
];

const methods: readonly string[] = [
  'echo',
  'echo',
  'echo',
  'list',
  'list',
  'self',
  'call',
  'call',
  'notice',
  'held',
  'throws',
  'fails',
  'stuck',
  'fresh',
  'bytes',
  'make',
  'm',
  '__flush__',
  'hear',
  'none',
  'then',
  '',
  'toString',
];

/** One conversation. It listens, so that most of what it names is there. */
export class Talk {
  readonly #chance: Chance;
  readonly #dialect: DialectName;
  readonly #noise: number;
  #left: number;
  readonly #next: Step[] = [];
  #asked: number;
  /** The objects that the host gave: numbers, as the frames say them, and whether they are promises. */
  readonly #given: { readonly n: number; readonly promise: boolean }[] = [{ n: 0, promise: false }];
  /** Its questions that are not answered. */
  readonly #theirs: number[] = [];

  constructor(chance: Chance, dialect: DialectName) {
    this.#chance = chance;
    this.#dialect = dialect;
    this.#asked = dialect === 'captp' ? 1 : 0;
    this.#left = 1 + chance.below(chance.of([3, 10, 40]));
    // One kind of noise for all of a conversation: most go on for long, some are nothing but noise.
    this.#noise = chance.of([0, 0, 0.01, 0.02, 0.1, 0.5]);
    if (dialect === 'captp' && chance.is(0.95))
      this.#next.push({ frame: '{"type":"CTP_BOOTSTRAP","epoch":0,"questionID":"q-1"}', pause: chance.is(0.5) });
  }

  /** Undefined when it has said all. */
  step(): Step | undefined {
    if (this.#next.length === 0) {
      this.#left -= 1;
      if (this.#left < 0) return undefined;
      this.#next.push(...this.#frames(this.#noise).map((frame) => ({ frame, pause: this.#chance.is(0.4) })));
    }
    return this.#next.shift();
  }

  /** The frames of the host. */
  hear(said: unknown): void {
    if (this.#dialect === 'hob.1') {
      for (const operation of said as readonly (readonly unknown[])[]) {
        if (operation[0] === 'deliver' && operation.length === 5) this.#theirs.push(operation[4] as number);
        this.#heard(operation);
      }
      return;
    }
    const { type, questionID, method, result, res } = said as Record<string, { readonly slots: readonly string[] }>;
    if ((type as unknown) === 'CTP_CALL') this.#theirs.push(Number((questionID as unknown as string).slice(2)));
    for (const slot of (method ?? result ?? res)?.slots ?? [])
      if (slot[1] === '+') this.#given.push({ n: Number(slot.slice(2)) - 1, promise: slot[0] === 'p' });
  }

  #heard(value: unknown): void {
    if (typeof value !== 'object' || value === null) return;
    const { '@': kind, n } = value as { readonly '@'?: string; readonly n?: number };
    if (kind === 'object' || kind === 'promise') this.#given.push({ n: n as number, promise: kind === 'promise' });
    for (const part of Object.values(value)) this.#heard(part);
  }

  #right(): boolean {
    return this.#chance.is(1 - this.#noise / 4 - 0.005);
  }

  #frames(noise: number): (string | Uint8Array)[] {
    const chance = this.#chance;
    if (chance.is(noise * 0.2)) return [chance.is(0.5) ? this.#bytes(40) : this.#letters()];
    const bytes = this.#dialect === 'hob.1' && chance.is(0.05) ? 1 + chance.below(5) : 0;
    let json: Json =
      this.#dialect === 'hob.1'
        ? [...chance.list(3, () => this.#operation()), this.#operation(bytes)]
        : this.#message();
    while (chance.is(noise)) json = this.#bent(json);
    let text = JSON.stringify(json) ?? 'null';
    while (chance.is(noise * 0.3)) text = this.#torn(text);
    return bytes > 0 ? [this.#bytes(bytes), text] : [text];
  }

  /** Something of the host's. */
  #its(): { readonly n: number; readonly promise: boolean } {
    if (!this.#right()) return { n: this.#chance.below(8), promise: this.#chance.is(0.5) };
    return this.#chance.is(0.3) ? (this.#given[0] as { n: number; promise: boolean }) : this.#chance.of(this.#given);
  }
  #own(): number {
    return 1 + this.#chance.below(6);
  }
  /** One of its own that it has asked. */
  #question(): number {
    const last = this.#right() ? this.#asked - 1 : this.#asked + 2;
    return Math.max(1, last - this.#chance.below(4));
  }
  #ask(): number {
    this.#asked += this.#right() ? 1 : this.#chance.below(3);
    return this.#asked;
  }
  /** One of the host's; undefined where there is none. */
  #answers(): number | undefined {
    if (!this.#right()) return this.#own();
    return this.#theirs.splice(this.#chance.below(this.#theirs.length), 1)[0];
  }

  // ---- hob.1 --------------------------------------------------------------------------------------------------------------

  #operation(bytes: number = 0): Json {
    const chance = this.#chance;
    const kind = bytes > 0 ? 0 : chance.below(12);
    if (kind < 6) {
      const to = chance.is(0.3) && this.#asked > 1 ? [this.#question()] : this.#its().n;
      const args = chance.list(2, () => this.#value(3));
      if (bytes > 0) args.push({ '@': 'bytes', at: 0, n: bytes });
      const call = ['deliver', to, chance.of(methods), this.#arguments(args)];
      return chance.is(0.9) ? [...call, this.#ask()] : call;
    }
    switch (kind) {
      case 6:
      case 7: {
        const question = this.#answers();
        if (question === undefined) return ['break', 40, 'error', 'text'];
        return chance.is(0.7) ? ['return', question, this.#value(2)] : ['fail', question, 'error', 'text'];
      }
      case 8:
        return chance.is(0.7)
          ? ['resolve', this.#own() + 10, this.#value(2)]
          : ['break', this.#own() + 10, 'error', 'text'];
      case 9:
        return chance.is(0.3) ? ['drop', this.#its().n, chance.below(4)] : ['drop', 99, 1];
      default:
        return this.#asked > 4 && chance.is(0.4) ? ['done', this.#asked - 4] : ['drop', 0, 1];
    }
  }

  /** The first part of `call` and `notice` should be something that can be called. */
  #arguments(args: readonly Json[]): Json {
    return this.#chance.is(0.5) ? [this.#slot(), ...args] : args;
  }

  #slot(): Json {
    const chance = this.#chance;
    switch (chance.below(4)) {
      case 0:
        return { '@': 'object', n: this.#own() };
      case 1:
        return { '@': 'promise', n: this.#own() + 10 };
      case 2:
        return { '@': 'yours', n: this.#its().n };
      default:
        return this.#asked > 1 ? { '@': 'answer', n: this.#question() } : { '@': 'yours', n: 0 };
    }
  }

  #value(depth: number): Json {
    const chance = this.#chance;
    switch (chance.below(depth > 0 ? 9 : 6)) {
      case 0:
        return chance.of([0, 1, -1, 1.5, true, null, 100, 1e21]);
      case 1:
        return chance.of(['', 'x', 'é😀', '@x', 'then', 'long '.repeat(20)]);
      case 2:
      case 3:
        return this.#slot();
      case 4:
        return chance.of([
          { '@': 'undefined' },
          { '@': 'number', v: 'NaN' },
          { '@': 'number', v: '-0' },
          { '@': 'bigint', v: '-123456789012345678901234567890' },
          { '@': 'symbol', v: 'x' },
          { '@': 'error', code: 'revoked', message: 'gone' },
        ]);
      case 5:
        return chance.below(1000);
      case 6:
        return chance.list(3, () => this.#value(depth - 1));
      default:
        return Object.fromEntries(
          chance.list(3, () => [chance.of(['a', 'b', '@@x', 'then', 'toString', '0', '']), this.#value(depth - 1)]),
        );
    }
  }

  // ---- captp --------------------------------------------------------------------------------------------------------------

  #message(): Json {
    const chance = this.#chance;
    const kind = chance.below(12);
    if (kind < 7) {
      const target = chance.is(0.3) && this.#asked > 2 ? `q-${Math.max(2, this.#question())}` : this.#theirName();
      const method = this.#body((slots) => {
        const args = chance.list(2, () => this.#data(3, slots));
        if (chance.is(0.5)) args.unshift(this.#named(slots));
        return [chance.of(methods) || null, args];
      });
      return { type: 'CTP_CALL', epoch: 0, questionID: `q-${this.#ask()}`, target, method };
    }
    switch (kind) {
      case 7:
      case 8: {
        const question = this.#answers();
        if (question === undefined) return { type: 'CTP_DROP', epoch: 0, slotID: 'o-99', decRefs: 1 };
        const answerID = `q-${question}`;
        return chance.is(0.7)
          ? { type: 'CTP_RETURN', epoch: 0, answerID, result: this.#body((slots) => this.#data(2, slots)) }
          : { type: 'CTP_RETURN', epoch: 0, answerID, exception: this.#body(() => this.#error()) };
      }
      case 9:
        return chance.is(0.7)
          ? {
              type: 'CTP_RESOLVE',
              promiseID: `p-${this.#own() + 10}`,
              res: this.#body((slots) => this.#data(2, slots)),
            }
          : { type: 'CTP_RESOLVE', promiseID: `p-${this.#own() + 10}`, rej: this.#body(() => this.#error()) };
      case 10:
        return chance.is(0.05)
          ? { type: 'CTP_DISCONNECT', epoch: 0, reason: this.#body(() => this.#error()) }
          : {
              type: 'CTP_DROP',
              epoch: 0,
              slotID: `${chance.of(['o', 'p'])}-${this.#own()}`,
              decRefs: chance.below(3),
            };
      default:
        return chance.is(0.3)
          ? { type: 'CTP_BOOTSTRAP', epoch: 0, questionID: `q-${this.#ask()}` }
          : { type: 'CTP_DROP', epoch: 0, slotID: `q-${Math.max(2, this.#asked - 4)}`, decRefs: 1 };
    }
  }

  #error(): Json {
    return { '@qclass': 'error', errorId: 'e', message: 'revoked: gone', name: 'Error' };
  }

  #body(make: (slots: string[]) => Json): Json {
    const slots: string[] = [];
    const body = make(slots);
    let bent = body;
    while (this.#chance.is(this.#noise / 2)) bent = this.#bent(bent);
    return { body: (this.#chance.is(0.1) ? '#' : '') + (JSON.stringify(bent) ?? 'null'), slots };
  }

  #theirName(): string {
    const { n, promise } = this.#its();
    return `${promise ? 'p' : 'o'}-${n + 1}`;
  }

  #named(slots: string[]): Json {
    const chance = this.#chance;
    const name = chance.of([
      `o+${this.#own()}`,
      `p+${this.#own() + 10}`,
      this.#theirName(),
      // Answers that are data are forgotten: of the bootstrap it can be sure.
      chance.is(0.8) ? 'q-1' : `q-${this.#question()}`,
    ]);
    return { '@qclass': 'slot', index: slots.push(name) - 1 };
  }

  #data(depth: number, slots: string[]): Json {
    const chance = this.#chance;
    switch (chance.below(depth > 0 ? 8 : 5)) {
      case 0:
        return chance.of([0, 1, -1, 1.5, true, null, 'x', 'long '.repeat(20), '#x', '$0', '+5', '%x']);
      case 1:
      case 2:
        return this.#named(slots);
      case 3:
        return chance.of([
          { '@qclass': 'undefined' },
          { '@qclass': 'NaN' },
          { '@qclass': 'bigint', digits: '12' },
          { '@qclass': 'symbol', name: 'x' },
          { '@qclass': 'tagged', tag: 'bytes', payload: 'AAEC' },
          { '@qclass': 'hilbert', original: 1, rest: { a: 1 } },
          { '#tag': 'bytes', payload: 'AAEC' },
          { '#error': '!#x: y', name: 'Error' },
          this.#error(),
        ]);
      case 4:
        return chance.below(1000);
      case 5:
        return chance.list(3, () => this.#data(depth - 1, slots));
      default:
        return Object.fromEntries(
          chance.list(3, () => [chance.of(['a', 'b', 'then', 'toString', '0', '']), this.#data(depth - 1, slots)]),
        );
    }
  }

  // ---- noise --------------------------------------------------------------------------------------------------------------

  /** One place in it, changed. */
  #bent(json: Json): Json {
    const chance = this.#chance;
    if (typeof json !== 'object' || json === null || chance.is(0.15)) return this.#otherThan(json);
    const copy = structuredClone(json) as Record<string, Json> | Json[];
    const keys = Object.keys(copy);
    if (keys.length === 0) return this.#otherThan(json);
    const key = chance.of(keys);
    if (Array.isArray(copy)) {
      const index = Number(key);
      switch (chance.below(6)) {
        case 0:
          copy.splice(index, 1);
          return copy;
        case 1:
          copy.splice(index, 0, structuredClone(copy[chance.below(copy.length)]));
          return copy;
        case 2:
          copy.push(chance.of(edges));
          return copy;
        default:
          copy[index] = this.#bent(copy[index]);
          return copy;
      }
    }
    switch (chance.below(6)) {
      case 0:
        delete copy[key];
        return copy;
      case 1:
        Object.defineProperty(copy, chance.of(['@', '@x', '__proto__', 'then', '@qclass', 'n', 'body', 'type', 'x']), {
          value: chance.of(edges),
          enumerable: true,
          configurable: true,
        });
        return copy;
      default:
        copy[key] = this.#bent(copy[key]);
        return copy;
    }
  }

  #otherThan(json: Json): Json {
    const chance = this.#chance;
    if (typeof json === 'number' && chance.is(0.6)) return json + chance.of([1, -1, 0.5, 2 ** 32, -json - 1, 2 ** 53]);
    if (typeof json === 'string' && chance.is(0.6)) return this.#torn(json);
    if (chance.is(0.2)) return [json];
    if (chance.is(0.2)) return { '@': json };
    return chance.of(edges);
  }

  #torn(text: string): string {
    const chance = this.#chance;
    const at = chance.below(text.length + 1);
    const to = Math.min(text.length, at + chance.below(8));
    switch (chance.below(5)) {
      case 0:
        return text.slice(0, at);
      case 1:
        return text.slice(0, at) + text.slice(to);
      case 2:
        return text.slice(0, to) + text.slice(at);
      case 3:
        return (
          text.slice(0, at) +
          chance.of(['"', '\\', '[', ']', '{', '}', ',', ':', '-', '9', '\u0000', '\ufeff', ' ', 'é']) +
          text.slice(at)
        );
      default:
        return text.slice(0, at) + String.fromCharCode(chance.below(0xffff)) + text.slice(at + 1);
    }
  }

  #bytes(most: number): Uint8Array {
    return Uint8Array.from({ length: most }, () => this.#chance.below(256));
  }
  #letters(): string {
    return String.fromCharCode(...this.#chance.list(60, () => this.#chance.below(this.#chance.is(0.8) ? 128 : 0xffff)));
  }
}
