/**
 * Frames that are no frames: junk, bad JSON, wrong types in every field of every message. Each closes, and
 * says how it was wrong.
 */
import type { DialectName } from '../../src/captp/captp.ts';
import type { Attack, Scene } from '../attack.ts';

/** Each frame on a connection of its own; where nothing comes of it, the next call is answered. */
async function each(frames: readonly (string | Uint8Array)[], scene: Scene): Promise<readonly string[]> {
  const outcomes: string[] = [];
  for (const frame of frames) {
    const peer = await scene.enter();
    // A callback and a promise are known, so that it is the form that is wrong.
    peer.call(0, 'echo', 1);
    peer.raw(frame);
    const outcome = await peer.alive();
    outcomes.push(outcome === 'answered ok' ? `passed: ${String(frame).slice(0, 100)}` : outcome);
    peer.leave();
  }
  return outcomes;
}

const junk: Readonly<Record<DialectName, readonly string[]>> = {
  'hob.1': [
    'null',
    '[]',
    '{}',
    '0',
    '"x"',
    'true',
    '[null]',
    '[[]]',
    '[{}]',
    '[["unknown"]]',
    '[[null]]',
    '[["__proto__",1]]',
    '[["constructor",0,"echo",[],9]]',
    '{"0":["done",1],"length":1}',
  ],
  captp: [
    'null',
    '[]',
    '0',
    '"x"',
    'true',
    '{}',
    '{"type":"CTP_NONE"}',
    '{"type":null}',
    '{"type":{}}',
    '{"type":"__proto__"}',
    '{"__proto__":{"type":"CTP_DISCONNECT"}}',
    '{"type":"CTP_CALL"}',
    '{"type":"CTP_RETURN"}',
    '[{"type":"CTP_DISCONNECT"}]',
  ],
};

const badJson: readonly string[] = [
  '',
  ' ',
  '[',
  '{',
  ']',
  '[1,]',
  '[["done",1]]x',
  "['done',1]",
  'undefined',
  'NaN',
  '[["done",01]]',
  '[["done",1]',
  '"\\x"',
  '"\u0000"',
  '\ufeff[["done",1]]',
  '[["done",1]]\u0000',
  '/**/[]',
  '[["\\ud800]]',
];

const pool: readonly unknown[] = [
  null,
  true,
  false,
  0,
  1,
  -1,
  0.5,
  2 ** 53,
  1e300,
  '',
  '0',
  'x',
  '__proto__',
  [],
  [[]],
  [1],
  [1, 2],
  ['x'],
  {},
  { '@': 'object', n: 1 },
  { '@qclass': 'slot', index: 0 },
];

type Check = (value: unknown) => boolean;
const id: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
const question: Check = (value) => id(value) && value !== 0;
const text: Check = (value) => typeof value === 'string';
const list: Check = Array.isArray;
const anything: Check = () => true;
const to: Check = (value) => id(value) || (Array.isArray(value) && value.length === 1 && question(value[0]));

/** Operations that nothing is wrong with, and what each of their fields may be. */
const operations: readonly (readonly [readonly unknown[], readonly Check[]])[] = [
  [
    ['deliver', 0, 'echo', [], 50],
    [to, text, list, question],
  ],
  [
    ['deliver', 0, 'echo', []],
    [to, text, list],
  ],
  [
    ['return', 50, null],
    [() => false, anything],
  ],
  [
    ['fail', 50, 'error', 'text'],
    [() => false, text, text],
  ],
  [
    ['resolve', 50, null],
    [id, anything],
  ],
  [
    ['break', 50, 'error', 'text'],
    [id, text, text],
  ],
  [
    ['drop', 50, 1],
    [id, id],
  ],
  [
    ['drop', 50, 1, 51, 1],
    [id, id, id, id],
  ],
  [['done', 50], [question]],
  [
    ['done', 50, 51],
    [question, question],
  ],
];

function* wrongOperations(): Iterable<string> {
  for (const [operation, checks] of operations) {
    for (const [index, check] of checks.entries())
      for (const wrong of pool)
        if (!check(wrong)) yield JSON.stringify([operation.map((field, at) => (at === index + 1 ? wrong : field))]);
    for (let length = 1; length < operation.length; length += 1)
      if (!isOperation(operation.slice(0, length))) yield JSON.stringify([operation.slice(0, length)]);
    const longer = [...operation, null];
    yield JSON.stringify([longer]);
    yield JSON.stringify([[...longer, null]]);
  }
}
const isOperation = ([name, ...fields]: readonly unknown[]): boolean =>
  (name === 'deliver' && fields.length === 3) ||
  (name === 'drop' && fields.length > 0 && fields.length % 2 === 0) ||
  (name === 'done' && fields.length > 0);

/** Values of a kind of their own, and what each of their fields may be. */
const values: readonly (readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, Check>>])[] = [
  [{ '@': 'object', n: 5 }, { n: id }],
  [{ '@': 'promise', n: 6 }, { n: id }],
  [{ '@': 'yours', n: 0 }, { n: (value) => value === 0 }],
  [{ '@': 'answer', n: 1 }, { n: (value) => value === 1 }],
  [
    { '@': 'bytes', at: 0, n: 0 },
    { at: (value) => value === 0, n: (value) => value === 0 },
  ],
  [
    { '@': 'error', code: 'x', message: 'y' },
    { code: text, message: text },
  ],
  [{ '@': 'bigint', v: '1' }, { v: (value) => value === '0' }],
  [{ '@': 'number', v: 'NaN' }, { v: () => false }],
  [{ '@': 'symbol', v: 'x' }, { v: text }],
  [{ '@': 'undefined' }, {}],
];

function* wrongValues(): Iterable<string> {
  const calls = (value: unknown): string => JSON.stringify([['deliver', 0, 'echo', [value], 50]]);
  for (const [value, fields] of values) {
    for (const [key, check] of Object.entries(fields))
      for (const wrong of pool) if (!check(wrong)) yield calls({ ...value, [key]: wrong });
    for (const key of Object.keys(fields))
      yield calls(Object.fromEntries(Object.entries(value).filter(([name]) => name !== key)));
    yield calls({ ...value, more: 1 });
    yield calls({ ...value, '@@': 1 });
  }
  for (const wrong of pool) if (wrong !== 'x') yield calls({ '@': wrong });
  yield calls({ '@x': 1 });
}

const capData: Check = (value) => typeof value === 'object' && value !== null && 'body' in value;
const slot =
  (letters: string): Check =>
  (value) =>
    typeof value === 'string' && new RegExp(`^[${letters}]-\\d+$`).test(value);
const messages: readonly (readonly [Readonly<Record<string, unknown>>, Readonly<Record<string, Check>>])[] = [
  [
    { type: 'CTP_CALL', epoch: 0, questionID: 'q-50', target: 'o-1', method: { body: '["echo",[]]', slots: [] } },
    { questionID: slot('q'), target: slot('opq'), method: capData },
  ],
  [{ type: 'CTP_BOOTSTRAP', epoch: 0, questionID: 'q-50' }, { questionID: slot('q') }],
  [
    { type: 'CTP_RETURN', epoch: 0, answerID: 'q-50', result: { body: 'null', slots: [] } },
    { answerID: () => false, result: () => false },
  ],
  [
    { type: 'CTP_RETURN', epoch: 0, answerID: 'q-50', exception: { body: 'null', slots: [] } },
    { answerID: () => false, exception: () => false },
  ],
  [
    { type: 'CTP_RESOLVE', promiseID: 'p-50', res: { body: 'null', slots: [] } },
    { promiseID: slot('p'), res: capData },
  ],
  [
    { type: 'CTP_RESOLVE', promiseID: 'p-50', rej: { body: 'null', slots: [] } },
    { promiseID: slot('p'), rej: capData },
  ],
  [
    { type: 'CTP_DROP', epoch: 0, slotID: 'o-50', decRefs: 1 },
    { slotID: slot('opq'), decRefs: id },
  ],
];
const names: readonly unknown[] = [
  ...pool,
  'o+1',
  'q+1',
  'p+1',
  'q--1',
  'q-1x',
  'q-0.5',
  'q-99999999999999999999',
  'q- 1',
  'x-1',
  'o-',
  { body: 1, slots: [] },
  { slots: [] },
  { body: 'null' },
  { body: 'null', slots: {} },
  { body: 'null', slots: ['x'] },
  { body: 'null', slots: ['q+1'] },
  { body: 'null', slots: [1] },
  { body: 'null', slots: [null] },
];
const malformedData: Check = (value) =>
  typeof value === 'object' &&
  value !== null &&
  (typeof (value as { body?: unknown }).body !== 'string' || !isSlots((value as { slots?: unknown }).slots));
const isSlots = (slots: unknown): boolean => Array.isArray(slots) && slots.length === 0;

function* wrongMessages(): Iterable<string> {
  for (const [message, fields] of messages)
    for (const [key, check] of Object.entries(fields)) {
      for (const wrong of names)
        if (!check(wrong) || (check === capData && malformedData(wrong)))
          yield JSON.stringify({ ...message, [key]: wrong });
      const without = Object.fromEntries(Object.entries(message).filter(([name]) => name !== key));
      if (key !== 'decRefs') yield JSON.stringify(without);
    }
  for (const trap of [true, 'x', {}, 1]) yield JSON.stringify({ ...messages[0]?.[0], trap });
}

/** Bodies of a call that are none, in both encodings. */
const bodies: readonly string[] = [
  '1',
  '"x"',
  'null',
  '{}',
  '[]',
  '["echo",[],1]',
  '[["echo"],[]]',
  '[true,[]]',
  '[1,[]]',
  '["echo",1]',
  '["echo",{}]',
  '["echo",null]',
  '["echo",[{"@qclass":"none"}]]',
  '["echo",[{"@qclass":null}]]',
  '["echo",[{"@qclass":{}}]]',
  '["echo",[{"@qclass":"__proto__"}]]',
  '["echo",[{"@qclass":"slot"}]]',
  '["echo",[{"@qclass":"slot","index":-1}]]',
  '["echo",[{"@qclass":"slot","index":0.5}]]',
  '["echo",[{"@qclass":"slot","index":"0"}]]',
  '["echo",[{"@qclass":"slot","index":7}]]',
  '["echo",[{"@qclass":"slot","index":1e9}]]',
  '["echo",[{"@qclass":"bigint"}]]',
  '["echo",[{"@qclass":"bigint","digits":1}]]',
  '["echo",[{"@qclass":"bigint","digits":"1.5"}]]',
  '["echo",[{"@qclass":"bigint","digits":""}]]',
  '["echo",[{"@qclass":"symbol"}]]',
  '["echo",[{"@qclass":"symbol","name":1}]]',
  '["echo",[{"@qclass":"error"}]]',
  '["echo",[{"@qclass":"error","message":{}}]]',
  '["echo",[{"@qclass":"hilbert","original":1,"rest":1}]]',
  '["echo",[{"@qclass":"hilbert","original":1,"rest":{"@qclass":"x"}}]]',
  '#["echo",["#none"]]',
  '#["echo",["$0"]]',
  '#["echo",["&0"]]',
  '#["echo",["$x"]]',
  '#["echo",["+"]]',
  '#["echo",["-x"]]',
  '#["echo",["*"]]',
  '#["echo",[{"#error":1}]]',
  '#["echo",[{"#other":1}]]',
  '#1',
  '#',
  '["echo",[',
];
const refusedBodies: readonly string[] = [
  '["echo",[{"@qclass":"tagged","tag":"copySet","payload":[]}]]',
  '["echo",[{"@qclass":"tagged","tag":"bytes","payload":1}]]',
  '["echo",[{"@qclass":"tagged","tag":"bytes","payload":"???"}]]',
  '["echo",[{"@qclass":"symbol","name":"@@none"}]]',
  '["echo",[{"__proto__":1}]]',
  '["echo",[{"@qclass":"hilbert","original":1,"rest":{"__proto__":1}}]]',
  '#["echo",[{"#tag":"#x","payload":1}]]',
  '#["echo",["%@@none"]]',
  '["echo"]',
];
const calling = (body: string, id: number): string =>
  JSON.stringify({ type: 'CTP_CALL', epoch: 0, questionID: `q-${id}`, target: 'o-1', method: { body, slots: [] } });

export const forms: readonly Attack[] = [
  {
    name: 'junk, 14 kinds',
    expected: ['closed 4400 *'],
    act: (peer, scene) => each(junk[peer.dialect], scene),
  },
  {
    name: 'bad JSON',
    expected: ['closed 4400 a frame is not JSON'],
    act: (_peer, scene) => each(badJson, scene),
  },
  {
    name: 'wrong types in every field of every operation',
    dialects: ['hob.1'],
    expected: ['closed 4400 *'],
    act: (_peer, scene) => each([...wrongOperations()], scene),
  },
  {
    name: 'wrong types in every field of every value',
    dialects: ['hob.1'],
    expected: ['closed 4400 *'],
    act: (_peer, scene) => each([...wrongValues()], scene),
  },
  {
    name: 'wrong types in every field of every message',
    dialects: ['captp'],
    expected: ['closed 4400 *'],
    act: (_peer, scene) => each([...wrongMessages()], scene),
  },
  {
    name: 'wrong types in every field of every value',
    dialects: ['captp'],
    expected: ['closed 4400 *'],
    act: (_peer, scene) =>
      each(
        bodies.map((body) => calling(body, 50)),
        scene,
      ),
  },
  {
    name: 'values that are well formed and not understood',
    dialects: ['captp'],
    expected: ['answered invalid'],
    act: (peer) => {
      const outcomes = refusedBodies.map((body, index) => {
        peer.raw(calling(body, 100 + index));
        return peer.outcome(100 + index);
      });
      return Promise.all(outcomes);
    },
  },
  {
    name: 'a binary frame where none belongs',
    dialects: ['captp'],
    expected: ['closed 4400 binary frame: this dialect is text'],
    act: (_peer, scene) => each([new Uint8Array(3), new Uint8Array(0)], scene),
  },
  {
    name: 'bytes that no value names, or two name, or that did not come',
    dialects: ['hob.1'],
    expected: ['closed 4400 *bytes*'],
    act: async (_peer, scene) => {
      const outcomes: string[] = [];
      for (const [bytes, args] of [
        [3, '1'],
        [3, '{"@":"bytes","at":0,"n":2}'],
        [3, '{"@":"bytes","at":1,"n":3}'],
        [3, '{"@":"bytes","at":0,"n":3},{"@":"bytes","at":0,"n":3}'],
        [0, '{"@":"bytes","at":0,"n":1}'],
      ] as const) {
        const peer = await scene.enter();
        if (bytes > 0) peer.raw(new Uint8Array(bytes));
        peer.raw(`[["deliver",0,"echo",[${args}],1]]`);
        outcomes.push(await peer.end());
      }
      return outcomes;
    },
  },
];
