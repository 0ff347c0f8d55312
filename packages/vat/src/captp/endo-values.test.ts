/** The values that cross the Endo wire, and the objects that cannot be reached through it. */
import { expect, test } from 'vitest';
import { closedAfterEachTest, openForEachTest } from '../../test/opened.ts';
import { ask, askFor, endoPeer, RawPeer, refusal, wire } from '../../test/wire.ts';
import { CapError, type Definition, define, driver, E, type Far, type Vats } from '../index.ts';
import { type Connection, captp } from './captp.ts';

interface Desk {
  echo(value: unknown): unknown;
  same(a: unknown, b: unknown): boolean;
  keep(value: unknown): void;
  kept(): unknown;
  data(): unknown;
  fail(how: string): unknown;
  tell(listener: object, value: unknown): unknown;
}
const Desk: Definition<Desk, [kept: unknown]> = define('Desk', (bcom, kept) => ({
  echo: (value) => value,
  same: (a, b) => a === b,
  keep: (value) => bcom(Desk(value)),
  kept: () => kept,
  data: () => ['a', 'b'],
  fail: (how): never => {
    if (how === 'cap') throw new CapError('revoked', 'this grant was revoked: ask for a new one');
    if (how === 'path') throw new Error("ENOENT: no such file or directory, open '/srv/state/store.db'");
    throw how;
  },
  tell: (listener, value) => E(listener as { hear(value: unknown): unknown }).hear(value),
}));

let vats: Vats;
let desk: Far<Desk>;
openForEachTest(async (opened) => {
  ({ vats } = opened);
  desk = await vats.vat('desk').spawn(Desk(undefined));
});
const open = closedAfterEachTest<Connection>();

function serve(bootstrap: object = desk): ReturnType<typeof wire>[1] {
  const [ours, theirs] = wire();
  open.push(captp(ours, { dialect: 'captp', bootstrap }));
  return theirs;
}
async function raw(bootstrap?: object): Promise<RawPeer> {
  const peer = new RawPeer(serve(bootstrap));
  peer.start();
  await peer.answer('q-1');
  return peer;
}

const inherited = [
  'toString',
  'toLocaleString',
  'valueOf',
  'constructor',
  'hasOwnProperty',
  'isPrototypeOf',
  'propertyIsEnumerable',
  '__proto__',
  '__defineGetter__',
  '__lookupGetter__',
  'then',
  'catch',
  'get',
  'set',
  'apply',
  'call',
  'bind',
  'toJSON',
  'inspect',
  '__getMethodNames__',
  '__getInterfaceGuard__',
  '',
  'admit',
  'target',
];

test('no inherited name is a method of a reference, on the bootstrap, on an answer, on a promise', async () => {
  const peer = await raw();
  peer.call('q-2', 'q-1', 'echo', [{ '@qclass': 'slot', index: 0 }], ['o-1']);
  let id = 10;
  for (const target of ['o-1', 'q-1', 'q-2'])
    for (const name of inherited) {
      id += 1;
      peer.call(`q-${id}`, target, name, []);
      expect(await peer.answer(`q-${id}`), `${target}.${name}()`).toMatch(/^no-such-method: /);
    }
});

test('no property of a reference can be read', async () => {
  const peer = await raw();
  let id = 10;
  for (const name of [...inherited, 'echo', 'length', 'name', 'message']) {
    id += 1;
    peer.call(`q-${id}`, 'o-1', name);
    expect(await peer.answer(`q-${id}`), name).toMatch(/^invalid: a reference has no properties/);
  }
});

test('a method is a string and nothing else', async () => {
  const peer = await raw();
  const kinds = [
    {},
    { '@qclass': 'undefined' },
    { '@qclass': 'symbol', name: '@@asyncIterator' },
    { '@qclass': 'symbol', name: 'passStyle' },
    { '@qclass': 'bigint', digits: '1' },
    { '@qclass': 'error', name: 'TypeError', message: 'echo' },
  ];
  for (const [index, method] of kinds.entries()) {
    peer.call(`q-${index + 10}`, 'o-1', method, []);
    expect(await peer.answer(`q-${index + 10}`), JSON.stringify(method)).toMatch(/^(no-such-method|invalid): /);
  }
});

test('an answer that is data takes no calls: nothing that data inherits is run here', async () => {
  const peer = await raw();
  peer.call('q-2', 'o-1', 'data', []);
  peer.call('q-3', 'q-2', 'join', ['+']);
  peer.call('q-4', 'q-2', 'constructor');
  // Three steps to the peer's own text run in this process, where nothing stands in between.
  peer.call('q-5', 'q-4', 'constructor');
  peer.call('q-6', 'q-5', null, ['return process.version']);
  peer.call('q-7', 'q-6', null, []);
  peer.call('q-8', 'o-1', 'echo', ['x']);
  // Half a gigabyte of text, kept as an answer.
  peer.call('q-9', 'q-8', 'repeat', [1 << 29]);
  for (const id of [3, 4, 5, 6, 7, 9]) expect(await peer.answer(`q-${id}`)).toMatch(/^(not-callable|invalid): /);
  // Nor later, when the answer has long been given.
  peer.call('q-20', 'q-2', 'join', ['+']);
  peer.call('q-21', 'q-8', 'length');
  for (const id of [20, 21]) expect(await peer.answer(`q-${id}`)).toMatch(/^(not-callable|invalid): /);
});

test('a promise that becomes data takes no calls either', async () => {
  const slow = Promise.withResolvers<unknown>();
  const peer = await raw(driver<{ slow(): unknown }>({ slow: () => ({ later: slow.promise }) }));
  peer.call('q-2', 'q-1', 'slow', []);
  const [given = ''] = (await peer.until((said) => said.answerID === 'q-2'))?.result?.slots ?? [];
  const promise = given.replace('+', '-');
  peer.call('q-3', promise, 'join', ['+']);
  peer.call('q-4', 'q-3', 'repeat', [1 << 29]);
  slow.resolve(['a', 'b']);
  expect(await peer.answer('q-3')).toMatch(/^(not-callable|invalid): /);
  expect(await peer.answer('q-4')).toMatch(/^(not-callable|invalid): /);
  expect(peer.said.find((said) => said.promiseID === promise)?.res?.body).toBe('["a","b"]');
  peer.call('q-5', promise, 'constructor');
  expect(await peer.answer('q-5')).toMatch(/^(not-callable|invalid): /);
});

test('calls on an answer that breaks break with the same reason', async () => {
  const peer = await raw();
  peer.call('q-2', 'o-1', 'fail', ['cap']);
  peer.call('q-3', 'q-2', 'list', []);
  peer.call('q-4', 'q-3', 'list', []);
  for (const id of [2, 3, 4])
    expect(await peer.answer(`q-${id}`)).toBe('revoked: this grant was revoked: ask for a new one');
});

test('bytes cross as a tagged text, both ways', async () => {
  const { bootstrap } = endoPeer(serve());
  const { makeTagged } = await import('@endo/pass-style');
  const bytes = makeTagged('bytes', Buffer.from([0, 255, 7]).toString('base64'));
  await ask(bootstrap, 'keep', bytes);
  expect(await E(desk).kept()).toEqual(new Uint8Array([0, 255, 7]));
  const back = (await ask(bootstrap, 'kept')) as { payload: string };
  expect(Buffer.from(back.payload, 'base64')).toEqual(Buffer.from([0, 255, 7]));
  for (const wrong of [
    makeTagged('bytes', 'not base64!'),
    makeTagged('bytes', 7 as never),
    makeTagged('other', 'AAAA'),
  ])
    expect(await refusal(ask(bootstrap, 'keep', wrong))).toBe('invalid');
});

test('data comes home as it went', async () => {
  const { bootstrap } = endoPeer(serve());
  for (const value of [
    null,
    undefined,
    true,
    Number.NaN,
    2n ** 200n,
    '',
    'ünïcødé \u2028',
    [1, [2]],
    { a: { b: [] } },
    { '@qclass': 'slot', index: 0 },
  ])
    expect(await ask(bootstrap, 'echo', value)).toEqual(value);
});

test('an error says its code and its text, and no stack; one that is not ours says nothing', async () => {
  const { bootstrap } = endoPeer(serve());
  const why = async (how: string): Promise<Error> =>
    (await ask(bootstrap, 'fail', how).catch((error: unknown) => error)) as Error;
  expect((await why('cap')).message).toBe('revoked: this grant was revoked: ask for a new one');
  for (const how of ['path', 'a text that names /srv/me', '']) {
    const error = await why(how);
    expect(error).toBeInstanceOf(Error);
    expect(error.message).toBe('error: the call failed at its target, which gives no reason');
  }
  const peer = await raw();
  peer.call('q-2', 'o-1', 'fail', ['path']);
  await peer.answer('q-2');
  const bytes = JSON.stringify(peer.said);
  expect(bytes).not.toMatch(/srv|store\.db|ENOENT|\.ts:/);
});

test('an error as data crosses without its stack too', async () => {
  const peer = await raw();
  peer.call('q-2', 'o-1', 'echo', [{ '@qclass': 'error', name: 'Error', message: 'expired: it was ours' }]);
  expect(await peer.answer('q-2')).toBe(
    '{"@qclass":"error","errorId":"error:hob","message":"expired: it was ours","name":"Error"}',
  );
  const failing = await raw(driver<{ why(): unknown }>({ why: () => ({ inner: new Error('at /etc/hob/keys') }) }));
  failing.call('q-2', 'q-1', 'why', []);
  expect(await failing.answer('q-2')).not.toContain('/etc');
});

test('identity holds both ways: what comes home is what went', async () => {
  const { Far } = await import('@endo/pass-style');
  const { bootstrap } = endoPeer(serve());
  const listener = Far('listener', { hear: (value: unknown) => value });
  const boot = await bootstrap;
  expect(await ask(boot, 'echo', boot)).toBe(boot);
  expect(await ask(boot, 'echo', listener)).toBe(listener);
  expect(await ask(boot, 'same', listener, listener)).toBe(true);
  expect(await ask(boot, 'same', boot, listener)).toBe(false);
  await ask(boot, 'keep', listener);
  expect(await ask(boot, 'kept')).toBe(listener);
  expect(await ask(boot, 'tell', listener, boot)).toBe(boot);
});

test('one peer’s object, handed to another, is a reference like any other: with its own meter and without inherited names', async () => {
  const { Far } = await import('@endo/pass-style');
  const first = endoPeer(serve());
  const heard: unknown[] = [];
  await ask(
    first.bootstrap,
    'keep',
    Far('listener', {
      hear: (value: unknown) => {
        heard.push(value);
        throw new Error('at /srv/first/secret');
      },
    }),
  );
  const second = await raw();
  second.call('q-2', 'q-1', 'kept', []);
  second.call('q-3', 'q-2', 'hear', ['from the second']);
  expect(await second.answer('q-3')).not.toContain('stack');
  expect(heard).toEqual(['from the second']);
  second.call('q-4', 'q-2', 'constructor', []);
  expect(await second.answer('q-4')).toMatch(/^no-such-method: /);
  second.call('q-5', 'q-2', 'length');
  expect(await second.answer('q-5')).toMatch(/^invalid: a reference has no properties/);
});

test('an object of this process with Endo’s mark shows a peer its methods by message and nothing that it inherits', async () => {
  const { Far } = await import('@endo/pass-style');
  const local = Far('local', { greet: () => 'hello' });
  const peer = await raw(driver<{ local(): unknown }>({ local: () => local }));
  peer.call('q-2', 'q-1', 'local', []);
  peer.call('q-3', 'q-2', 'greet', []);
  expect(await peer.answer('q-3')).toBe('"hello"');
  peer.call('q-4', 'q-2', 'constructor');
  peer.call('q-5', 'q-2', 'greet');
  for (const id of [4, 5]) expect(await peer.answer(`q-${id}`)).toMatch(/^invalid: a reference has no properties/);
});

test('a refused argument harms nothing else: a promise beside it that breaks later ends no process', async () => {
  const peer = await raw();
  const promise = { '@qclass': 'slot', index: 0 };
  const junk = { '@qclass': 'tagged', tag: 'other', payload: 1 };
  for (const [index, args] of [[promise, junk], [[promise, [junk]]], [{ a: promise, b: junk }]].entries()) {
    peer.call(`q-${index + 10}`, 'o-1', 'echo', args, [`p+${index + 1}`]);
    expect(await peer.answer(`q-${index + 10}`)).toMatch(/^invalid: /);
    peer.send({
      type: 'CTP_RESOLVE',
      promiseID: `p-${index + 1}`,
      rej: { body: '{"@qclass":"error","name":"Error","message":"gone"}', slots: [] },
    });
  }
  await new Promise((resolve) => setTimeout(resolve, 20)); // vitest fails the run for a rejection that nobody handles
  peer.call('q-20', 'o-1', 'data', []);
  expect(await peer.answer('q-20')).toBe('["a","b"]');
});

test('keys that mean something to the language are data or refused', async () => {
  const peer = await raw();
  const body = '["echo",[{"__proto__":{"polluted":1}}]]';
  peer.send({ type: 'CTP_CALL', questionID: 'q-2', target: 'q-1', method: { body, slots: [] } });
  expect(await peer.answer('q-2')).toMatch(/^(invalid|error): |^closed 4400/);
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
  const other = await raw();
  other.call('q-2', 'q-1', 'echo', [{ then: 1, constructor: 2 }]);
  expect(await other.answer('q-2')).toBe('{"then":1,"constructor":2}');
});

test('a property access through an honest peer is refused like any', async () => {
  const { bootstrap } = endoPeer(serve());
  expect(await refusal(askFor(bootstrap, 'echo'))).toBe('invalid');
});
