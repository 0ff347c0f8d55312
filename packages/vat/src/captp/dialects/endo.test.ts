/** The Endo wire, frame by frame: what is refused before anything believes it. */
import { expect, test } from 'vitest';
import { CapError } from '../../core/errors.ts';
import { defaultLimits } from '../session/limits.ts';
import { type IncomingOperations, Undecodable, Violation } from '../session/operations.ts';
import { endo } from './endo.ts';

const capData = (body: unknown, slots: readonly unknown[] = []): unknown => ({ body: JSON.stringify(body), slots });
const call = (fields: Record<string, unknown> = {}): Record<string, unknown> => ({
  type: 'CTP_CALL',
  epoch: 0,
  questionID: 'q-1',
  target: 'o-1',
  method: capData(['list', []]),
  ...fields,
});

/** Tables in which everything was given, and a listener that keeps what could not be decoded. */
const refused: string[] = [];
const note = (value: unknown): void => {
  const error = value instanceof Undecodable ? value.error : value;
  if (error instanceof CapError) refused.push(`${error.code}: ${error.message}`);
};
const listener: IncomingOperations = {
  deliver: (_to, _method, heard) => note(heard),
  bootstrap: () => {},
  answer: (_question, value) => note(value),
  refuse: () => {},
  resolve: (_promise, value) => note(value),
  break: () => {},
  drop: () => {},
  done: () => {},
  abort: () => {},
};
const checkText = (text: string | Uint8Array): string => {
  const slots = { give: () => undefined, take: () => Object.freeze({}) };
  refused.length = 0;
  try {
    endo.open(slots, listener, defaultLimits, () => {}).receive(text);
  } catch (error) {
    if (!(error instanceof Violation)) throw error;
    return `${error.code} ${error.message}`;
  }
  return refused[0] ?? 'ok';
};
const check = (message: unknown): string => checkText(JSON.stringify(message));
const frameLimits = defaultLimits;

test('every message of the Endo wire passes', () => {
  const result = capData('done');
  for (const message of [
    { type: 'CTP_BOOTSTRAP', epoch: 0, questionID: 'q-1' },
    call(),
    call({ target: 'p-7', method: capData([null, []]), trap: false }),
    { type: 'CTP_RETURN', epoch: 0, answerID: 'q-2', result },
    { type: 'CTP_RETURN', epoch: 0, answerID: 'q-2', exception: result },
    call({ method: { body: '#["list",["$0.Alleged: x","!text","#undefined","+7"]]', slots: ['o+3'] } }),
    { type: 'CTP_RESOLVE', promiseID: 'p-2', res: capData({ '@qclass': 'slot', index: 0 }, ['o+3']) },
    { type: 'CTP_RESOLVE', promiseID: 'p-2', rej: result },
    { type: 'CTP_DROP', slotID: 'o-2', decRefs: 3, epoch: 0 },
    { type: 'CTP_DROP', slotID: 'q-2' },
    { type: 'CTP_DISCONNECT', epoch: 0, reason: capData('bye') },
  ])
    expect(check(message), JSON.stringify(message)).toBe('ok');
});

test.each<[string, unknown, string]>([
  ['null', null, 'not a message'],
  ['a list', [], 'not a message'],
  ['a number', 7, 'not a message'],
  ['a text', 'CTP_CALL', 'not a message'],
  ['nothing in it', {}, 'unknown message type'],
  ['a type that is no text', { type: 7 }, 'unknown message type'],
  ['an unknown type', { type: 'CTP_ROOT' }, 'unknown message type'],
  ['a type of the language', { type: '__proto__' }, 'unknown message type'],
  ['another type of the language', { type: 'constructor' }, 'unknown message type'],
  ['a call without its fields', { type: 'CTP_CALL' }, 'malformed CTP_CALL'],
  ['a call without a target', call({ target: undefined }), 'malformed CTP_CALL'],
  ['a call without a method', call({ method: undefined }), 'malformed CTP_CALL'],
  ['an answer without an answer', { type: 'CTP_RETURN', answerID: 'q-1' }, 'malformed CTP_RETURN'],
  [
    'an answer with two',
    { type: 'CTP_RETURN', answerID: 'q-1', result: capData(1), exception: capData(1) },
    'malformed CTP_RETURN',
  ],
  ['a trap', call({ trap: true }), 'malformed CTP_CALL'],
  [
    'a step of a trap',
    { type: 'CTP_TRAP_ITERATE', questionID: 'q-1', serialized: capData([]) },
    'unknown message type',
  ],
])('junk is refused: %s', (_name, message, reason) => {
  expect(check(message)).toBe(`4400 ${reason}`);
});

test('a frame that is no JSON is refused, and so is one that is no text', () => {
  for (const text of ['', 'junk', '{', '{"type":"CTP_CALL"', '\u0000', "{'type':1}"])
    expect(checkText(text)).toBe('4400 a frame is not JSON');
  expect(checkText(new Uint8Array([123, 125]))).toBe('4400 binary frame: this dialect is text');
});

test.each([
  'x-1',
  'o-',
  'o--1',
  'o1',
  'o-1 ',
  'o-1e3',
  't-1',
  ' o-1',
  'o-99999999999999999999',
  'o-01',
  'o-00',
  'p-007',
  'o-+1',
  '__proto__',
  7,
  null,
  ['o-1'],
])('a forged slot %j is no target and in no list of slots', (slot) => {
  expect(check(call({ target: slot }))).toBe('4400 malformed CTP_CALL');
  expect(check(call({ method: capData(['list', []], [slot]) }))).toBe('4400 malformed CTP_CALL');
});

test('a peer cannot name its own objects where only those of the other side have a meaning', () => {
  // Reflected, a call would come back to whoever sent it, twice as large.
  for (const target of ['o+7', 'p+7', 'q+7']) expect(check(call({ target }))).toBe('4400 malformed CTP_CALL');
  expect(check(call({ questionID: 'o+1' }))).toBe('4400 malformed CTP_CALL');
  expect(check(call({ questionID: 'p-1' }))).toBe('4400 malformed CTP_CALL');
  expect(check({ type: 'CTP_DROP', slotID: 'o+1', decRefs: 1 })).toBe('4400 malformed CTP_DROP');
  // The same table settles questions and promises in the package: neither may pass for the other.
  expect(check({ type: 'CTP_RETURN', answerID: 'p-1', result: capData(1) })).toBe('4400 malformed CTP_RETURN');
  expect(check({ type: 'CTP_RESOLVE', promiseID: 'q-1', res: capData(1) })).toBe('4400 malformed CTP_RESOLVE');
});

test.each([-1, 0.5, '3', null, {}, 2 ** 60])('a drop of %j references is refused', (decRefs) => {
  expect(check({ type: 'CTP_DROP', slotID: 'o-1', decRefs })).toBe('4400 malformed CTP_DROP');
});

const error = { '@qclass': 'error', errorId: 'error:x#1', message: 'denied: no', name: 'Error' };
/** Bodies that a call `["list", [VALUE]]` may not have; the slots are `o+3` and `p+4`. */
const malformedValues: readonly [string, unknown][] = [
  ['an error whose name is a number', { ...error, name: 5 }],
  ['an error whose name is a record', { ...error, name: {} }],
  ['an error without a name', { ...error, name: undefined }],
  ['an error whose message is a number', { ...error, message: 5 }],
  ['an error whose id is a number', { ...error, errorId: 5 }],
  ['a slot that is described by a number', { '@qclass': 'slot', iface: 5, index: 0 }],
  ['a slot with a text for an index', { '@qclass': 'slot', index: '0' }],
  ['a slot that is not there', { '@qclass': 'slot', index: 2 }],
  ['a record without the key that it is about', { '@qclass': 'hilbert', rest: { a: 1 } }],
];
const malformedSmall: readonly [string, string][] = [
  ['an error whose name is a number', '{"#error":"denied: no","name":5}'],
  ['an error without a name', '{"#error":"denied: no"}'],
  ['an error whose name is no text', '{"#error":"denied: no","name":"#undefined"}'],
  ['an error whose id is a number', '{"#error":"denied: no","name":"Error","errorId":5}'],
  ['a slot with zeros before its number', '"$00"'],
  ['a slot that is not there', '"$2"'],
];
test('errors and slots have the form that marshal gives them', () => {
  const slots = ['o+3', 'p+4'];
  expect(check(call({ method: capData(['list', [error]], slots) }))).toBe('ok');
  expect(check(call({ method: capData(['list', [{ ...error, errorId: undefined }]], slots) }))).toBe('ok');
  expect(
    check(call({ method: capData(['list', [{ '@qclass': 'slot', iface: 'Alleged: x', index: 0 }]], slots) })),
  ).toBe('ok');
  for (const [name, value] of malformedValues)
    expect(check(call({ method: capData(['list', [value]], slots) })), name).toMatch(/^4400 /);
  const small = (text: string): unknown => call({ method: { body: `#["list",[${text}]]`, slots } });
  expect(check(small('{"#error":"denied: no","name":"Error","errorId":"!x"},"$0.Alleged: x"'))).toBe('ok');
  for (const [name, text] of malformedSmall) expect(check(small(text)), name).toMatch(/^4400 /);
});

test('a call is [method, arguments] or [property], and nothing that a decoder would take apart', () => {
  for (const body of [
    [],
    'list',
    { 0: 'list' },
    ['list', 'abc'],
    ['list', { length: 1 }],
    ['list', [], 1],
    [['list'], []],
    [7, []],
    [true, []],
    [[]],
    null,
    7,
  ])
    expect(check(call({ method: capData(body) })), JSON.stringify(body)).toBe('4400 malformed CTP_CALL');
  expect(check(call({ method: { body: '#["list",', slots: [] } }))).toBe('4400 a body is not JSON');
});

test('a frame over the limit is 1009, one of that size is not', () => {
  const filler = (length: number): string => JSON.stringify({ type: 'CTP_DISCONNECT', reason: 'x'.repeat(length) });
  const around = filler(0).length;
  expect(checkText(filler(frameLimits.frameBytes - around))).toBe('ok');
  expect(checkText(filler(frameLimits.frameBytes - around + 1))).toMatch(/^1009 /);
});

test('structure is counted before it is parsed, outside and inside the body', () => {
  const many = Array.from({ length: frameLimits.tokens }, () => 0);
  expect(check({ type: 'CTP_DISCONNECT', many })).toMatch(/^4400 a frame may have 200000 tokens/);
  expect(check(call({ method: capData(['list', many]) }))).toMatch(/^4400 a body may have 200000 tokens/);
});

test('text that a person reads may have as many commas as it likes', () => {
  const prose = 'yes, no, {maybe}: [well], "quoted, too", '.repeat(10_000);
  expect(check(call({ method: capData(['write', [prose]]) }))).toBe('ok');
});

test('a string cannot hide structure: escapes and quotes are followed as JSON does', () => {
  const hidden = `{"type":"CTP_DISCONNECT","a":"\\\\","b":${'['.repeat(1000)}`;
  expect(checkText(hidden)).toMatch(/^4400 a frame may be nested 128 deep/);
  expect(checkText(`{"type":"CTP_DISCONNECT","a":"\\"","b":"${'['.repeat(1000)}"}`)).toBe('ok');
});

test('nesting of 100,000 is refused outside and inside, and nothing runs out of stack', () => {
  const deep = (depth: number): string => '['.repeat(depth) + ']'.repeat(depth);
  expect(checkText(`{"type":"CTP_DISCONNECT","a":${deep(100_000)}}`)).toMatch(/^4400 a frame may/);
  for (const depth of [400, 5000, 100_000])
    expect(check(call({ method: { body: `["list",${deep(depth)}]`, slots: [] } }))).toMatch(/^4400 a body may/);
  // More than the vat lets any value have.
  expect(check(call({ method: { body: `["list",${deep(200)}]`, slots: [] } }))).toMatch(
    /^invalid: data is deeper than 128/,
  );
});

test('a number of a million digits is not read', () => {
  const big = (digits: number): unknown =>
    call({ method: capData(['list', [{ '@qclass': 'bigint', digits: '7'.repeat(digits) }]]) });
  expect(check(big(16_384))).toBe('ok');
  expect(check(big(900_000))).toBe('invalid: a bigint may have 16384 digits');
  const disguised = `["list",[{"\\u0040qclass":"bigint","\\u0064igits":"${'7'.repeat(20_000)}"}]]`;
  expect(check(call({ method: { body: disguised, slots: [] } }))).toBe('invalid: a bigint may have 16384 digits');
});

test('a key "__proto__" changes no object of ours', () => {
  const text = `{"type":"CTP_CALL","questionID":"q-1","target":"o-1","__proto__":{"polluted":1},"method":${JSON.stringify(capData(['list', []]))}}`;
  expect(checkText(text)).toBe('ok');
  expect(checkText('{"__proto__":{"type":"CTP_DISCONNECT"}}')).toBe('4400 unknown message type');
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

test('a check of the largest frame costs what parsing it costs, a few times over at most', () => {
  const text = JSON.stringify(call({ method: capData(['write', ['x,'.repeat(500_000)]]) }));
  const took = (work: () => void): number => {
    const started = performance.now();
    work();
    return performance.now() - started;
  };
  let parsed = Number.POSITIVE_INFINITY;
  let checked = Number.POSITIVE_INFINITY;
  // Twice to twelve times, as a rule; a check that looks again at each character is hundreds. A busy machine pauses the longer
  // of the two nearly each time, so it may try often: the slow check never gets there.
  for (let round = 0; round < 7 || (round < 200 && checked >= 30 * parsed); round++) {
    parsed = Math.min(
      parsed,
      took(() => JSON.parse(text)),
    );
    checked = Math.min(
      checked,
      took(() => expect(checkText(text)).toBe('ok')),
    );
  }
  expect(checked / parsed).toBeLessThan(30);
});

test('we accept every frame that we send', () => {
  const sized = (value: unknown): boolean => {
    const said: string[] = [];
    const tongue = endo.open({ give: () => undefined, take: () => ({}) }, listener, defaultLimits, (frame) =>
      said.push(frame as string),
    );
    try {
      tongue.answer(7, value);
    } catch (error) {
      expect((error as CapError).code).toBe('limit');
      expect(said).toEqual([]);
      return false;
    }
    expect(checkText(said[0] as string)).toBe('ok');
    return true;
  };
  expect(sized('x'.repeat(1000))).toBe(true);
  expect(sized('é'.repeat(500_000))).toBe(true);
  expect(sized('é'.repeat(600_000))).toBe(false); // bytes, not characters
  expect(sized('x'.repeat(1 << 20))).toBe(false);
  expect(sized(Array.from({ length: 10_000 }, () => 'name'))).toBe(true);
  expect(sized(Array.from({ length: 300_000 }, () => 0))).toBe(false);
});
