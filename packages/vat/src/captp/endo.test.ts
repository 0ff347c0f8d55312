/** Connections: honest Endo peers, and others. */
import { expect, test } from 'vitest';
import { closedAfterEachTest, openForEachTest } from '../../test/opened.ts';
import { ask, type End, endoPeer, RawPeer, refusal, wire } from '../../test/wire.ts';
import { type Definition, define, driver, E, type Far, type Vats } from '../index.ts';
import { type CapTPOptions, type Connected, captp } from './captp.ts';

interface Room {
  add(line: string): number;
  lines(): readonly string[];
  open(name: string): Room;
  later(promise: Promise<unknown>): Promise<unknown>;
  call(listener: object, value: unknown): Promise<unknown>;
  echo(value: unknown): unknown;
}
const Room: Definition<Room, [name: string, lines: readonly string[]]> = define('Room', (bcom, name, lines) => ({
  add: (line) => bcom(Room(name, [...lines, line]), lines.length + 1),
  lines: () => lines,
  open: () => bcom.self,
  later: (promise) => promise,
  call: (listener, value) => E(listener as { hear(value: unknown): Promise<unknown> }).hear(value),
  echo: (value) => value,
}));

let vats: Vats;
let room: Far<Room>;
openForEachTest(async (opened) => {
  ({ vats } = opened);
  room = await vats.vat('rooms').spawn(Room('hall', []));
});
const open = closedAfterEachTest<Connected<object>>();

function serve(options: CapTPOptions = {}): { ours: End; theirs: End; connection: Connected<object> } {
  const [ours, theirs] = wire();
  const connection = captp<object>(ours, { dialect: 'captp', bootstrap: room, ...options });
  open.push(connection);
  return { ours, theirs, connection };
}
function raw(options: CapTPOptions = {}): RawPeer {
  const peer = new RawPeer(serve(options).theirs);
  peer.start();
  return peer;
}
const slot = (index: number): object => ({ '@qclass': 'slot', index });
/** The host still serves others. */
async function servesOthers(): Promise<void> {
  const { bootstrap } = endoPeer(serve().theirs);
  expect(await ask(bootstrap, 'echo', 'still here')).toBe('still here');
}

test('an Endo peer calls, pipelines, hears back and is told what breaks', async () => {
  const { Far } = await import('@endo/pass-style');
  const { bootstrap } = endoPeer(serve().theirs);
  expect(await ask(bootstrap, 'add', 'one')).toBe(1);
  expect(await ask(ask(ask(bootstrap, 'open', 'a'), 'open', 'b'), 'add', 'two')).toBe(2);
  const heard: unknown[] = [];
  const listener = Far('listener', { hear: (value: unknown) => heard.push(value) });
  expect(await ask(bootstrap, 'call', listener, { from: 'hall' })).toBe(1);
  expect(heard).toEqual([{ from: 'hall' }]);
  expect(await refusal(ask(bootstrap, 'call', listener))).toMatch(/no refusal: 2/);
  expect(await refusal(ask(bootstrap, 'nothing'))).toBe('no-such-method');
});

test('a whole session in one frame’s time: calls on a bootstrap that was not answered yet wait for it', async () => {
  const peer = raw();
  peer.call('q-2', 'q-1', 'add', ['one']);
  peer.call('q-3', 'q-1', 'open', ['a']);
  peer.call('q-4', 'q-3', 'add', ['two']);
  expect(await peer.answer('q-4')).toBe('2');
});

test('promises cross both ways', async () => {
  const { bootstrap } = endoPeer(serve().theirs);
  const later = Promise.withResolvers<string>();
  const answer = ask(bootstrap, 'later', later.promise);
  later.resolve('at last');
  expect(await answer).toBe('at last');
  const broken = Promise.withResolvers<string>();
  const refused = refusal(ask(bootstrap, 'later', broken.promise));
  broken.reject(new Error('expired: it took too long'));
  expect(await refused).toBe('expired');
  const ours = Promise.withResolvers<string>();
  const giver = endoPeer(
    serve({ bootstrap: driver<{ give(): unknown }>({ give: () => ({ later: ours.promise }) }) }).theirs,
  );
  const given = (await ask(giver.bootstrap, 'give')) as { later: Promise<string> };
  ours.resolve('from the host');
  expect(await given.later).toBe('from the host');
});

test('calls on one target arrive in the order in which they were sent', async () => {
  const { bootstrap } = endoPeer(serve().theirs);
  const to = ask(bootstrap, 'open', 'a');
  const sent = Array.from({ length: 200 }, (_, index) => String(index));
  await Promise.all(sent.map((line) => ask(to, 'add', line)));
  expect(await ask(bootstrap, 'lines')).toEqual(sent);
});

test('our own program calls a peer’s objects, and pipelines', async () => {
  const { Far } = await import('@endo/pass-style');
  const { theirs, connection } = serve();
  endoPeer(theirs, Far('peer', { door: () => Far('door', { knock: (name: string) => `who is ${name}?` }) }));
  const door = E(connection.bootstrap as Far<{ door(): { knock(name: string): string } }>).door();
  expect(await E(door).knock('there')).toBe('who is there?');
});

test('order holds through an Endo peer: what is sent to its answer, which is an object of ours, is not overtaken', async () => {
  const { Far } = await import('@endo/pass-style');
  const { theirs, connection } = serve();
  endoPeer(theirs, Far('peer', { echo: (value: unknown) => value }));
  interface Heard {
    hear(value: unknown): unknown;
  }
  const heard: unknown[] = [];
  const cap = driver<Heard>({ hear: ([value]) => heard.push(value) });
  const peer = connection.bootstrap as Far<{ echo(value: unknown): Heard }>;
  for (let round = 0; round < 3; round += 1) {
    const p = E(peer).echo(cap) as unknown as Promise<Far<Heard>>;
    const answers = [E(p).hear(`${round} 1`), E(p).hear(`${round} 2`)];
    const settled = await p;
    answers.push(E(p).hear(`${round} 3`), E(settled).hear(`${round} 4`));
    await Promise.all(answers);
  }
  expect(heard).toEqual([0, 1, 2].flatMap((round) => [1, 2, 3, 4].map((n) => `${round} ${n}`)));
});

test('a peer that collects what it was given can be given it again', async () => {
  const { theirs } = serve();
  const peer = new RawPeer(theirs);
  peer.start();
  await peer.answer('q-1');
  // Endo with gcImports: it drops the object, with a count that is too high, and is given it once more.
  peer.send({ type: 'CTP_DROP', slotID: 'o-1', decRefs: 7, epoch: 0 });
  peer.call('q-2', 'q-1', 'open', ['a']);
  await peer.answer('q-2');
  peer.call('q-3', 'o-1', 'echo', ['again']);
  expect(await peer.answer('q-3')).toBe('"again"');
});

test.each<[string, (peer: RawPeer) => void, RegExp]>([
  ['no JSON', (peer) => peer.raw('junk'), /^4400 a frame is not JSON/],
  ['null', (peer) => peer.raw('null'), /^4400 not a message/],
  ['an unknown type', (peer) => peer.send({ type: 'CTP_ROOT' }), /^4400 unknown/],
  ['binary', (peer) => peer.raw(new Uint8Array(3)), /^4400 binary/],
  ['too large', (peer) => peer.raw(' '.repeat((1 << 20) + 1)), /^1009/],
  ['an object that was never given', (peer) => peer.call('q-2', 'o-9999', 'echo', []), /^4400 .*never exported/],
  ['a question that was never asked', (peer) => peer.call('q-2', 'q-9999', 'echo', []), /^4400 .*never asked/],
  ['a promise that was never given', (peer) => peer.call('q-2', 'p-9999', 'echo', []), /^4400 .*never exported/],
  ['itself as the target', (peer) => peer.call('q-2', 'q-2', 'echo', []), /^4400 .*never asked/],
  ['its own object as the target', (peer) => peer.call('q-2', 'o+7', 'echo', []), /^4400 malformed/],
  ['an argument that was never given', (peer) => peer.call('q-2', 'q-1', 'echo', [slot(0)], ['o-99']), /^4400/],
  ['a slot that is not there', (peer) => peer.call('q-2', 'q-1', 'echo', [slot(3)], []), /^4400/],
  [
    'an answer to nothing',
    (peer) => peer.send({ type: 'CTP_RETURN', answerID: 'q-77', result: { body: '1', slots: [] } }),
    /^4400 .*not asked/,
  ],
  [
    'one question twice',
    (peer) => {
      peer.call('q-2', 'q-1', 'echo', [1]);
      peer.call('q-2', 'q-1', 'echo', [2]);
    },
    /^4400 .*twice/,
  ],
  ['a decoder’s nonsense', (peer) => peer.call('q-2', 'q-1', 'echo', [{ '@qclass': 'nonsense' }]), /^4400/],
  ['deep', (peer) => peer.raw(`{"type":"CTP_DISCONNECT","a":${'['.repeat(5000)}${']'.repeat(5000)}}`), /^4400/],
])('%s closes the connection with a reason, or is answered; others are served', async (_name, say, reason) => {
  const peer = raw();
  await peer.answer('q-1');
  say(peer);
  await peer.until(() => false);
  expect(`${peer.closed?.code} ${peer.closed?.reason}`).toMatch(reason);
  await servesOthers();
});

test('a resolution of a promise that is gone is no violation: messages cross', async () => {
  const peer = raw();
  peer.send({ type: 'CTP_RESOLVE', promiseID: 'p-77', res: { body: '1', slots: [] } });
  peer.send({ type: 'CTP_DROP', slotID: 'o-77', decRefs: 1 });
  peer.call('q-2', 'q-1', 'echo', ['here']);
  expect(await peer.answer('q-2')).toBe('"here"');
});

test('a peer that does not read what it asked for is closed', async () => {
  const { ours, theirs } = serve({ limits: { bufferedBytes: 1000 } });
  const peer = new RawPeer(theirs);
  peer.start();
  await peer.answer('q-1');
  ours.buffered = 2 << 20;
  peer.call('q-2', 'q-1', 'lines', []);
  expect(await peer.answer('q-2')).toBe('closed 4400 the peer does not read what it asked for');
});

test('20,000 calls that return plain data survive, by a peer that never drops anything', async () => {
  const peer = raw();
  await peer.answer('q-1');
  for (let round = 0; round < 20; round += 1) {
    for (let id = 2; id < 1002; id += 1) peer.call(`q-${round * 1000 + id}`, 'o-1', 'echo', [id]);
    expect(await peer.answer(`q-${round * 1000 + 1001}`)).toBe('1001');
    peer.said.length = 0;
  }
});

test('an honest Endo client that calls a thousand times is answered a thousand times', async () => {
  const { bootstrap } = endoPeer(serve().theirs);
  const to = await bootstrap;
  const answers = await Promise.all(Array.from({ length: 1000 }, (_, index) => ask(to, 'echo', index)));
  expect(answers).toEqual(Array.from({ length: 1000 }, (_, index) => index));
});

test('the memory that a connection keeps until it closes is limited', async () => {
  const limits = { memoryBytes: 100_000 };
  const calls = raw({ limits });
  for (let id = 2; id < 400; id += 1) calls.call(`q-${id}`, 'q-1', 'echo', [id]);
  await calls.until(() => false);
  expect(calls.closed).toEqual({ code: 4400, reason: 'this connection keeps more than it may: connect again' });
  const imports = raw({ limits });
  const slots = Array.from({ length: 300 }, (_, index) => `o+${index + 1}`);
  imports.call('q-2', 'q-1', 'echo', slots.map((_, index) => slot(index)), slots); // biome-ignore format: one line
  expect(await imports.answer('q-2')).toMatch(/^closed 4400 this connection keeps more/);
  await servesOthers();
});

test('calls that nobody answers have an end: the next is refused with limit, and there is room again after an answer', async () => {
  const stuck = Promise.withResolvers<string>();
  const bootstrap = driver<{ stuck(): string; quick(): string }>({ stuck: () => stuck.promise, quick: () => 'quick' });
  const peer = raw({ bootstrap, limits: { questions: 5 } });
  peer.call('q-2', 'q-1', 'stuck', []);
  for (let id = 3; id < 8; id += 1) peer.call(`q-${id}`, 'q-2', 'quick', []);
  expect(await peer.answer('q-7')).toMatch(/^limit: /);
  stuck.resolve('free');
  for (let id = 3; id < 7; id += 1) expect(await peer.answer(`q-${id}`)).toMatch(/^not-callable: /);
  peer.call('q-8', 'q-1', 'quick', []);
  expect(await peer.answer('q-8')).toBe('"quick"');
});

test('a chain of ten thousand calls, each on the answer before it, breaks without running out of stack', async () => {
  const peer = raw();
  peer.call('q-2', 'q-1', 'echo', ['data']);
  for (let id = 3; id < 10_000; id += 1) peer.call(`q-${id}`, `q-${id - 1}`, 'echo', []);
  expect(await peer.answer('q-9999')).toMatch(/^(not-callable|limit): /);
  await servesOthers();
});

test('an answer larger than a frame says so; the connection goes on', async () => {
  const peer = raw({
    bootstrap: driver<{ big(): string; list(): number[] }>({
      big: () => 'x'.repeat(2 << 20),
      list: () => Array(300_000).fill(0),
    }),
  });
  peer.call('q-2', 'q-1', 'big', []);
  peer.call('q-3', 'q-1', 'list', []);
  expect(await peer.answer('q-2')).toMatch(/^limit: /);
  expect(await peer.answer('q-3')).toMatch(/^limit: /);
  peer.call('q-4', 'q-2', 'slice', [0, 1]);
  expect(await peer.answer('q-4')).toMatch(/^limit: /);
});

test('a call of ours larger than a frame breaks with limit, and the connection goes on', async () => {
  const { Far } = await import('@endo/pass-style');
  const { theirs, connection } = serve();
  endoPeer(theirs, Far('peer', { take: (text: string) => text.length }));
  const peer = connection.bootstrap as Far<{ take(text: string): number }>;
  expect(await refusal(E(peer).take('x'.repeat(2 << 20)))).toBe('limit');
  expect(await E(peer).take('xyz')).toBe(3);
});

test('a connection that is gone breaks what waits with disconnected, on both sides of the vat', async () => {
  const { Far } = await import('@endo/pass-style');
  const { theirs, connection } = serve();
  const never = new Promise<never>(() => {});
  const peer = endoPeer(theirs, Far('peer', { wait: () => never }));
  const waits = E(connection.bootstrap as Far<{ wait(): unknown }>).wait();
  await ask(peer.bootstrap, 'echo', 1);
  theirs.close(1006, 'lost');
  expect(await refusal(waits)).toBe('disconnected');
  expect(await refusal(E(connection.bootstrap as Far<{ wait(): unknown }>).wait())).toBe('disconnected');
  expect(await connection.closed).toEqual({ code: 1006, reason: 'lost' });
});

test('closing tells the peer why, once', async () => {
  const { theirs, connection } = serve();
  const peer = new RawPeer(theirs);
  connection.close('a newer connection of this session took its place', 4401);
  connection.close('again', 1000);
  expect(await connection.closed).toEqual({ code: 4401, reason: 'a newer connection of this session took its place' });
  expect(peer.closed?.code).toBe(4401);
});

test('a meter pays for what its peer sends: over it, calls break with limit', async () => {
  const meter = vats.meter('peer', { messages: 50 });
  const peer = raw({ meter });
  await peer.answer('q-1');
  for (let id = 2; id < 202; id += 1) peer.call(`q-${id}`, 'q-1', 'echo', [id]);
  const answers = await Promise.all(Array.from({ length: 200 }, (_, index) => peer.answer(`q-${index + 2}`)));
  expect(answers.some((answer) => answer.startsWith('limit: '))).toBe(true);
  expect(answers.some((answer) => answer === '2')).toBe(true);
  peer.call('q-300', 'q-1', 'echo', ['after']);
  expect(await peer.answer('q-300')).toBe('"after"');
});

test('a bootstrap that is no reference is refused before anything is sent', () => {
  const [ours] = wire();
  expect(() => captp(ours, { bootstrap: { secret: () => 1 } })).toThrowError(/a bootstrap is a reference/);
});
