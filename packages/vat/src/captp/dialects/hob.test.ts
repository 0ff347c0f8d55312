/** The dialect `hob.1`, frame by frame: what is refused, what comes out as it went in. */
import { makeTagged, passStyleOf } from '@endo/pass-style';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../../../test/any-character.ts';
import { CapError } from '../../core/errors.ts';
import { Account } from '../../core/meter.ts';
import { driver } from '../../index.ts';
import { pass } from '../../turn/values.ts';
import { defaultLimits, operationsPerFrame } from '../session/limits.ts';
import {
  type DecodedArguments,
  type Frame,
  type IncomingOperations,
  type Slot,
  type Slots,
  Undecodable,
  Violation,
} from '../session/operations.ts';
import { hob1 } from './hob.ts';
import { checkStructure } from './parse-frame.ts';

/** Keeps what was heard. */
class Ear implements IncomingOperations {
  readonly heard: unknown[] = [];
  deliver(to: Slot, method: string, heard: DecodedArguments | CapError, question: number): void {
    this.heard.push(['deliver', to, method, heard instanceof CapError ? heard.code : heard.args, question]);
  }
  bootstrap(question: number): void {
    this.heard.push(['bootstrap', question]);
  }
  answer(question: number, value: unknown): void {
    this.heard.push(['answer', question, value instanceof Undecodable ? value.error : value]);
  }
  refuse(question: number, error: CapError): void {
    this.heard.push(['refuse', question, error.code, error.message]);
  }
  resolve(promise: number, value: unknown): void {
    this.heard.push(['resolve', promise, value]);
  }
  break(promise: number, error: CapError): void {
    this.heard.push(['break', promise, error.code]);
  }
  drop(id: number, mentions: number): void {
    this.heard.push(['drop', id, mentions]);
  }
  done(question: number): void {
    this.heard.push(['done', question]);
  }
  abort(reason: string): void {
    this.heard.push(['abort', reason]);
  }
}

/** A table in which each object has a number, and gets its own back. */
function tables(): Slots {
  const all: object[] = [];
  return {
    give: (value) => {
      if (Object.getPrototypeOf(value) === Uint8Array.prototype || value instanceof Error) return undefined;
      return { kind: 'yours', id: all.push(value) - 1 };
    },
    take: ({ id }) => {
      const found = all[id];
      if (found === undefined) throw new Violation('a value names an object that was never exported');
      return found;
    },
  };
}
function ear(slots: Slots = tables()): { readonly hear: (frame: Frame) => unknown[]; readonly kept: () => number } {
  const listener = new Ear();
  const tongue = hob1.open(slots, listener, defaultLimits, () => {});
  return {
    hear: (frame) => {
      tongue.receive(frame);
      return listener.heard;
    },
    kept: () => tongue.kept,
  };
}
const check = (frame: Frame): string => {
  try {
    const [first] = ear().hear(frame);
    const last = (first as unknown[] | undefined)?.[2];
    return last instanceof CapError ? `${last.code}: ${last.message}` : 'ok';
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return `${error.code} ${error.message}`;
  }
};
const json = (value: unknown): string => check(JSON.stringify(value));
/** Returns `value` as the other end receives it. */
function across(value: unknown): unknown {
  const slots = tables();
  const frames: Frame[] = [];
  const tongue = hob1.open(slots, new Ear(), defaultLimits, (frame) => frames.push(frame));
  tongue.answer(1, pass(value, new Account('test')));
  tongue.flush();
  const other = ear(slots);
  let heard: unknown[] = [];
  for (const frame of frames) heard = other.hear(frame);
  expect(other.kept()).toBe(0);
  const [, , there] = heard[0] as unknown[];
  if (there instanceof CapError && !(value instanceof CapError)) throw there;
  return there;
}

test('every operation passes, and says what it said', () => {
  const operations = [
    ['deliver', 0, 'add', [1, 'two'], 1],
    ['deliver', [1], '', []],
    ['return', 2, { a: 1 }],
    ['fail', 3, 'revoked', 'ask for a new one'],
    ['resolve', 4, null],
    ['break', 5, 'expired', 'too late'],
    ['drop', 6, 1, 7, 2],
    ['done', 1, 2],
  ];
  expect(ear().hear(JSON.stringify(operations))).toEqual([
    ['deliver', { kind: 'yours', id: 0 }, 'add', [1, 'two'], 1],
    ['deliver', { kind: 'answer', id: 1 }, '', [], 0],
    ['answer', 2, { a: 1 }],
    ['refuse', 3, 'revoked', 'ask for a new one'],
    ['resolve', 4, null],
    ['break', 5, 'expired'],
    ['drop', 6, 1],
    ['drop', 7, 2],
    ['done', 1],
    ['done', 2],
  ]);
});

test('a wrong type in any field of any operation closes the connection', () => {
  const right = [
    ['deliver', 0, 'add', [1], 1],
    ['deliver', [1], '', []],
    ['return', 2, 1],
    ['fail', 3, 'revoked', 'why'],
    ['resolve', 4, 1],
    ['break', 5, 'expired', 'why'],
    ['drop', 6, 1],
    ['done', 1],
  ];
  const wrong = [null, true, -1, 0.5, 2 ** 60, 'x', '', [], [0], [[1]], ['x'], {}, { '@': 'object', n: 1 }];
  for (const operation of right) {
    for (let at = 0; at < operation.length; at += 1)
      for (const value of wrong) {
        const made: unknown[] = [...operation];
        made[at] = value;
        const isValue = (operation[0] === 'return' || operation[0] === 'resolve') && at === 2;
        const isMethod = operation[0] === 'deliver' && at === 2 && typeof value === 'string';
        const isArgs = operation[0] === 'deliver' && at === 3 && Array.isArray(value);
        const isText = (operation[0] === 'fail' || operation[0] === 'break') && at > 1 && typeof value === 'string';
        if (isValue || isMethod || isArgs || isText) continue;
        expect(json([made]), JSON.stringify(made)).toMatch(/^4400 /);
      }
    expect(json([[...operation, {}]]), JSON.stringify(operation)).toMatch(/^4400 /);
  }
});

test.each<[string, string]>([
  ['nothing', ''],
  ['junk', 'junk'],
  ['half of something', '[["deliver",0'],
  ['null', 'null'],
  ['a record', '{}'],
  ['an empty frame', '[]'],
  ['an operation that is none', '[1]'],
  ['an operation without a name', '[[]]'],
  ['an unknown one', '[["eval","x"]]'],
  ['a name of the language', '[["__proto__",1]]'],
  ['another name of the language', '[["constructor",1,2]]'],
])('junk closes the connection: %s', (_name, frame) => expect(check(frame)).toMatch(/^4400 /));

test('a value of an unknown kind, or with a field too many or of the wrong type, closes the connection', () => {
  for (const value of [
    { '@': 'function' },
    { '@': 1 },
    { '@': null },
    { '@': 'undefined', v: 1 },
    { '@': 'bigint' },
    { '@': 'bigint', v: '0x10' },
    { '@': 'bigint', v: 7 },
    { '@': 'bigint', v: ' 1' },
    { '@': 'number', v: '7' },
    { '@': 'object', n: -1 },
    { '@': 'object', n: '1' },
    { '@': 'object', n: 1, iface: 'x' },
    { '@': 'error', code: 'x' },
    { '@': 'error', code: 1, message: 'x' },
    { '@': 'symbol', v: 'x'.repeat(300) },
    { '@': 'bytes', at: 0, n: 1 },
    { '@x': 1 },
    { '@': 'constructor', n: 0 },
    { '@': '__proto__', n: 0 },
  ])
    expect(json([['return', 1, [value]]]), JSON.stringify(value)).toMatch(/^4400 /);
});

const frame = (...values: object[]): string => JSON.stringify([['return', 1, values]]);
function heard(bytes: readonly Uint8Array[], text: string): string {
  const { hear } = ear();
  try {
    for (const part of bytes) hear(part);
    hear(text);
    return 'ok';
  } catch (error) {
    return (error as Error).message;
  }
}

test('bytes: none that no value names, none twice, none that did not come', () => {
  const part = new Uint8Array([1, 2, 3]);
  expect(heard([part], frame({ '@': 'bytes', at: 0, n: 3 }))).toBe('ok');
  expect(heard([part, part], frame({ '@': 'bytes', at: 4, n: 2 }, { '@': 'bytes', at: 0, n: 4 }))).toBe('ok');
  expect(heard([part], frame({}))).toBe('the frame brings bytes that no value names');
  expect(heard([part], frame({ '@': 'bytes', at: 0, n: 2 }))).toBe('the frame brings bytes that no value names');
  expect(heard([part], frame({ '@': 'bytes', at: 0, n: 3 }, { '@': 'bytes', at: 0, n: 3 }))).toBe(
    'two values name the same bytes',
  );
  expect(heard([part], frame({ '@': 'bytes', at: 2, n: 2 }))).toBe('a value names bytes that the frame does not bring');
});

test('the parts of a frame’s bytes do not overlap, in whatever order they come', () => {
  const run = fc.array(fc.tuple(fc.nat(7), fc.nat(4)), { maxLength: 6 });
  fc.assert(
    fc.property(run, fc.integer({ min: 1, max: 8 }), (parts, length) => {
      const owners = new Array<number>(length).fill(0);
      for (const [at, n] of parts) for (let i = at; i < at + n; i += 1) owners[i] = (owners[i] ?? 0) + 1;
      const fits = parts.every(([at, n]) => at + n <= length);
      const said = heard([new Uint8Array(length)], frame(...parts.map(([at, n]) => ({ '@': 'bytes', at, n }))));
      if (said === 'ok') expect([fits, owners]).toEqual([true, new Array(length).fill(1)]);
      else if (said === 'two values name the same bytes') expect(Math.max(...owners)).toBeGreaterThan(1);
      else expect(fits && owners.every((count) => count === 1)).toBe(false);
    }),
  );
  const part = (at: number, n: number): object => ({ '@': 'bytes', at, n });
  for (const parts of [
    [part(0, 3), part(1, 3)],
    [part(3, 3), part(2, 3)],
    [part(2, 2), part(0, 3), part(5, 1)],
    [part(5, 1), part(5, 1), part(0, 4)],
  ])
    expect(heard([new Uint8Array(6)], frame(...parts))).toBe('two values name the same bytes');
});

test('a value that is refused costs the frame only itself: the bytes of the others get to them', () => {
  const bytes = (at: number, n: number): object => ({ '@': 'bytes', at, n });
  const tooMany = { '@': 'bigint', v: '9'.repeat(20_000) };
  const { hear } = ear();
  const part = new Uint8Array([1, 2, 3]);
  for (const refused of [[bytes(0, 1), tooMany], [tooMany, bytes(0, 1)], [tooMany]]) {
    hear(part);
    const heard = hear(
      JSON.stringify([
        ['deliver', 1, 'first', [bytes(2, 1)], 1],
        ['deliver', 1, 'refused', [refused], 2],
        ['return', 3, [tooMany]],
        ['deliver', 1, 'last', [bytes(1, 1)], 4],
      ]),
    );
    expect(heard.splice(0)).toMatchObject([
      ['deliver', {}, 'first', [new Uint8Array([3])], 1],
      ['deliver', {}, 'refused', 'invalid', 2],
      ['answer', 3, { code: 'invalid' }],
      ['deliver', {}, 'last', [new Uint8Array([2])], 4],
    ]);
  }
  // Only that frame is excused.
  hear(part);
  expect(() => hear('[["done",1]]')).toThrow('the frame brings bytes that no value names');
});

test('keys that mean something to the language are data or refused', () => {
  expect(check('[["return",1,{"__proto__":{"polluted":1}}]]')).toMatch(/^invalid: /);
  expect(check('[["return",1,{"a":{"__proto__":1}}]]')).toMatch(/^invalid: /);
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
  const odd = { constructor: [undefined], toString: 1n, hasOwnProperty: null, then: [1] };
  expect(across(odd)).toEqual(odd);
});

test('a record with a callable "then" would be taken for a promise: rename the key: refused', () => {
  const slots: Slots = { give: () => undefined, take: () => () => {} };
  const [heard] = ear(slots).hear('[["return",1,{"then":{"@":"yours","n":1}}]]') as [unknown[]];
  expect((heard[2] as CapError).code).toBe('invalid');
});

test('limits: size in bytes, tokens before parsing, operations, depth, digits', () => {
  const text = (inner: string): string => `[["return",1,${inner}]]`;
  expect(check(text(`"${'x'.repeat((1 << 20) - 20)}"`))).toBe('ok');
  expect(check(text(`"${'x'.repeat(1 << 20)}"`))).toMatch(/^1009 /);
  expect(check(text(`"${'é'.repeat(600_000)}"`))).toMatch(/^1009 /);
  expect(check(text(`[${'0,'.repeat(150_000)}0]`))).toBe('ok');
  expect(check(text(`[${'0,'.repeat(250_000)}0]`))).toMatch(/^4400 a frame may have 200000 tokens/);
  expect(check(text('"yes, no, {maybe}: [well], \\"quoted, too\\", "'))).toBe('ok');
  expect(check(text(`["\\\\",${'['.repeat(1000)}`))).toMatch(/^4400 a frame may be nested/);
  expect(check(text('['.repeat(100_000)))).toMatch(/^4400 a frame may be nested/);
  expect(check(text(`${'['.repeat(127)}${']'.repeat(127)}`))).toBe('ok');
  expect(check(text(`${'['.repeat(140)}${']'.repeat(140)}`))).toMatch(/^invalid: data is deeper/);
  expect(check(`[${'["done",1],'.repeat(operationsPerFrame)}["done",1]]`)).toMatch(
    /^4400 a frame may have 4096 operations/,
  );
  expect(check(text(`{"@":"bigint","v":"${'7'.repeat(16_384)}"}`))).toBe('ok');
  expect(check(text(`{"@":"bigint","v":"${'7'.repeat(900_000)}"}`))).toMatch(
    /^invalid: a bigint may have 16384 digits/,
  );
});

const plainData = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom<unknown>(
      null,
      undefined,
      true,
      false,
      -0,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
      Symbol.for('x'),
    ),
    fc.double(),
    fc.bigInt(),
    fc.string({ unit: anyCharacter }),
    fc.uint8Array(),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(
      fc
        .oneof(fc.string(), fc.constantFrom('@', '@@', '@a', 'constructor', 'toString', '7', 'then'))
        .filter((key) => key !== '__proto__'),
      tie('value'),
      { maxKeys: 5, noNullPrototype: true },
    ),
  ),
})).value;

test('any data that is encoded is decoded the same', () => {
  fc.assert(
    fc.property(plainData, (value) => {
      expect(across(value)).toEqual(value);
    }),
    { numRuns: 300 },
  );
});

test('decoded data is frozen at every depth', () => {
  const frozen = (value: unknown): boolean =>
    typeof value !== 'object' ||
    value === null ||
    value instanceof Uint8Array ||
    (Object.isFrozen(value) && Object.values(value).every(frozen));
  fc.assert(
    fc.property(plainData, (value) => frozen(across(value))),
    { numRuns: 100 },
  );
});

test('what crosses is what `@endo/pass-style` calls passable, and bytes', () => {
  const deepFreeze = (value: unknown): unknown => {
    if (typeof value === 'object' && value !== null) {
      Object.values(value).forEach(deepFreeze);
      Object.freeze(value);
    }
    return value;
  };
  const passable = (value: unknown): boolean => {
    try {
      passStyleOf(deepFreeze(value) as never);
      return true;
    } catch {
      return false;
    }
  };
  const crosses = (value: unknown): boolean => {
    try {
      across(value);
      return true;
    } catch {
      return false;
    }
  };
  class Thing {}
  for (const value of [
    null,
    undefined,
    1,
    -0,
    'x',
    2n,
    true,
    Symbol.for('a'),
    Symbol('a'),
    [],
    {},
    [1, { a: [2] }],
    new Map(),
    new Date(0),
    new Thing(),
    () => 1,
    /x/,
    {
      get a() {
        return 1;
      },
    },
    { [Symbol.for('k')]: 1 },
    Object.assign([1], { length: 3 }),
    Object.assign([1], { a: 1 }),
  ])
    expect(crosses(value), String(value)).toBe(passable(value));
  // Endo has a style of its own for what is tagged; here it is data of the dialect `captp` only.
  expect(passable(makeTagged('bytes', 'AAAA'))).toBe(true);
  expect(crosses(new Uint8Array(3))).toBe(true);
});

test('references keep their place, also among data that JSON lacks', () => {
  const cap = driver<{ m(): void }>({ m: () => {} });
  const there = across({ cap, list: [undefined, cap, 1n], '@': cap }) as {
    cap: unknown;
    list: unknown[];
    '@': unknown;
  };
  expect(there.cap).toBe(cap);
  expect(there.list).toEqual([undefined, cap, 1n]);
  expect(there['@']).toBe(cap);
});

test('a value that is too large is refused before any part of it is sent', () => {
  const frames: Frame[] = [];
  const tongue = hob1.open(tables(), new Ear(), defaultLimits, (frame) => frames.push(frame));
  for (const value of ['x'.repeat(1 << 20), Array(300_000).fill(0), new Uint8Array(20 << 20)]) {
    expect(() => tongue.answer(1, value)).toThrowError(CapError);
    tongue.flush();
    expect(frames).toEqual([]);
  }
});

test('a value with more new keys than the peer accepts is refused here, and one with fewer is sent', () => {
  const frames: Frame[] = [];
  const tongue = hob1.open(tables(), new Ear(), defaultLimits, (frame) => frames.push(frame));
  const keys = (count: number) => Array.from({ length: count }, (_, n) => [`k${n}`, 1] as const);
  const one = (count: number): unknown => Object.fromEntries(keys(count));
  const each = (count: number): unknown => keys(count).map(([key, value]) => ({ [key]: value }));
  for (const value of [one(13_000), each(13_000)]) {
    expect(() => tongue.answer(1, value)).toThrowError(/larger than a frame may be/);
    tongue.flush();
    expect(frames).toEqual([]);
  }
  for (const value of [one(8_400), each(8_200)]) {
    tongue.answer(1, value);
    tongue.flush();
    expect(() => checkStructure(frames.at(-1) as string, defaultLimits)).not.toThrow();
  }
});

test('no frame is larger than its receiver takes: what just fits, alone and with what is forgotten after it', () => {
  const brackets = '["return",1,""]'.length;
  for (const spare of [-1, 0, 1, 2, 3, 10]) {
    const frames: Frame[] = [];
    const tongue = hob1.open(tables(), new Ear(), defaultLimits, (frame) => frames.push(frame));
    const said = (): void => {
      tongue.answer(1, 'x'.repeat(defaultLimits.frameBytes - brackets - spare));
      tongue.done(2, false);
      tongue.flush();
    };
    if (spare < 2) expect(said).toThrowError(/larger than a frame may be/);
    else said();
    for (const frame of frames) expect(frame.length).toBeLessThanOrEqual(defaultLimits.frameBytes);
    expect(frames.length).toBe(spare < 2 ? 0 : 2);
  }
});

test('all that one turn says is one frame', () => {
  const frames: Frame[] = [];
  const tongue = hob1.open(tables(), new Ear(), defaultLimits, (frame) => frames.push(frame));
  tongue.done(1, false);
  tongue.drop(3, 2);
  tongue.deliver({ kind: 'yours', id: 0 }, 'a', [], 1);
  tongue.deliver({ kind: 'answer', id: 1 }, 'b', [1], 2);
  tongue.refuse(7, new Error('at /srv/secret'));
  tongue.flush();
  tongue.flush();
  expect(frames.map((frame) => JSON.parse(frame as string) as unknown)).toEqual([
    [
      ['done', 1],
      ['drop', 3, 2],
      ['deliver', 0, 'a', [], 1],
      ['deliver', [1], 'b', [1], 2],
      ['fail', 7, 'error', 'the call failed at its target, which gives no reason'],
    ],
  ]);
});

test('an operation with a long text has a frame of its own, after all earlier operations', () => {
  const frames: Frame[] = [];
  const tongue = hob1.open(tables(), new Ear(), defaultLimits, (frame) => frames.push(frame));
  const long = 'x'.repeat(100_000);
  tongue.deliver({ kind: 'yours', id: 0 }, 'before', [], 1);
  tongue.done(1, false);
  tongue.deliver({ kind: 'yours', id: 0 }, 'long', [long, { a: ['"', long] }], 2);
  tongue.deliver({ kind: 'yours', id: 0 }, 'after', [], 3);
  tongue.flush();
  expect(frames.map((frame) => JSON.parse(frame as string) as unknown)).toEqual([
    [
      ['deliver', 0, 'before', [], 1],
      ['done', 1],
    ],
    [['deliver', 0, 'long', [long, { a: ['"', long] }], 2]],
    [['deliver', 0, 'after', [], 3]],
  ]);
});

test('attack: a long answer counts with its own length, not with that of the answer before it', () => {
  const tongue = hob1.open(tables(), new Ear(), defaultLimits, () => {});
  tongue.answer(1, 'short');
  expect(tongue.lastSize).toBeLessThan(1000);
  tongue.answer(2, 'x'.repeat(100_000));
  expect(tongue.lastSize).toBeGreaterThan(100_000);
});

test('attack: many short keys, in one operation or in several that share a frame, reach no receiver as a frame that it refuses', () => {
  const keysOf = (from: number, count: number): Record<string, number> =>
    Object.fromEntries(Array.from({ length: count }, (_, n) => [String.fromCharCode(0x4e00 + from + n), 1]));
  const sent = (act: (session: ReturnType<typeof hob1.open>) => void): readonly Frame[] => {
    const frames: Frame[] = [];
    const session = hob1.open(tables(), new Ear(), defaultLimits, (frame) => frames.push(frame));
    act(session);
    session.flush();
    return frames;
  };
  const answers = (count: number, keys: number) =>
    sent((session) => {
      for (let n = 0; n < count; n += 1) session.answer(n + 1, keysOf(n * keys, keys));
    });
  // Each key costs 41 tokens after the first 4,096 of a frame.
  expect(() => answers(1, 10_000)).toThrow(/larger than a frame may be/);
  for (const frames of [answers(2, 5_000), answers(10, 1_000), answers(100, 100)])
    for (const frame of frames) expect(() => checkStructure(frame as string, defaultLimits)).not.toThrow();
  // Small operations still share a frame.
  expect(answers(100, 10)).toHaveLength(1);
});

test('a list of just as many items as a frame may have is sent or refused here, and not refused by the receiver', () => {
  for (let items = 199_980; items < 200_005; items += 1) {
    const frames: Frame[] = [];
    const session = hob1.open(tables(), new Ear(), defaultLimits, (frame) => frames.push(frame));
    try {
      session.answer(1, new Array(items).fill(1));
    } catch (error) {
      expect(error).toBeInstanceOf(CapError);
    }
    session.flush();
    for (const frame of frames) expect(() => checkStructure(frame as string, defaultLimits)).not.toThrow();
  }
});

test('an answer that is kept weighs the memory of its value, and not only its text', () => {
  const session = hob1.open(tables(), new Ear(), defaultLimits, () => {});
  session.answer(
    1,
    Array.from({ length: 1000 }, () => ({})),
  );
  expect(session.lastSize).toBeGreaterThan(1000 * 56);
});
