/** A peer that does what it likes, against a session that speaks `hob.1`. */
import { expect, test } from 'vitest';
import { HobPeer } from '../../test/hob-peer.ts';
import { closedAfterEachTest, openForEachTest } from '../../test/opened.ts';
import { CapError, type Definition, define, driver, E, type Far, promise, table, type Vats } from '../index.ts';
import { type CapTPOptions, type Connected, captp, release } from './captp.ts';
import { memoryPair } from './transport/memory-pair.ts';

interface Room {
  add(line: string): number;
  lines(): readonly string[];
  self(): Room;
  echo(value: unknown): unknown;
  call(listener: object, value: unknown): unknown;
}
const Room: Definition<Room, [lines: readonly string[]]> = define('Room', (bcom, lines) => ({
  add: (line) => bcom(Room([...lines, line]), lines.length + 1),
  lines: () => lines,
  self: () => bcom.self,
  echo: (value) => value,
  call: (listener, value) => E(listener as { hear(value: unknown): unknown }).hear(value),
}));

let vats: Vats;
let room: Far<Room>;
openForEachTest(async (opened) => {
  ({ vats } = opened);
  room = await vats.vat('rooms').spawn(Room([]));
});
const open = closedAfterEachTest<Connected<object>>();
function raw(options: CapTPOptions = {}): { readonly peer: HobPeer; readonly ours: Connected<object> } {
  const [a, b] = memoryPair();
  const ours = captp<object>(a, { bootstrap: room, ...options });
  open.push(ours);
  return { peer: new HobPeer(b), ours };
}
const ended = async (say: (peer: HobPeer) => void, options?: CapTPOptions): Promise<string> => {
  const { peer, ours } = raw(options);
  say(peer);
  const why = await peer.end();
  expect(ours.stats()).toEqual({ questions: 0, answers: 0, imports: 0, exports: 0, promises: 0, bytes: 0 });
  return why;
};

test('no number that was not given out reaches an object', async () => {
  expect(await ended((peer) => peer.say(['deliver', 7, 'echo', [1], 1]))).toMatch(/^4400 .*never exported/);
  expect(await ended((peer) => peer.say(['deliver', [7], 'echo', [1], 1]))).toMatch(/^4400 .*never asked/);
  expect(await ended((peer) => peer.say(['deliver', [1], 'echo', [1], 1]))).toMatch(/^4400 .*never asked/);
  expect(await ended((peer) => peer.say(['deliver', 0, 'echo', [{ '@': 'yours', n: 9 }], 1]))).toMatch(/^4400/);
  expect(await ended((peer) => peer.say(['deliver', 0, 'echo', [{ '@': 'answer', n: 9 }], 1]))).toMatch(/^4400/);
  expect(await ended((peer) => peer.say(['return', 9, 1]))).toMatch(/^4400 .*not asked/);
  expect(await ended((peer) => peer.say(['fail', 9, 'x', 'y']))).toMatch(/^4400 .*not asked/);
});

test('each refusal over a limit slows the peer, and no other error does', async () => {
  const [a, b] = memoryPair();
  let slowed = 0;
  const slow = (ms: number): void => {
    slowed += ms;
  };
  open.push(captp<object>(Object.assign(a, { slow }), { bootstrap: room, limits: { questions: 2 } }));
  const peer = new HobPeer(b);
  peer.say(['deliver', 0, 'noSuchMethod', [], 1], ['deliver', 0, 'add', ['a'], 2]);
  await Promise.all([peer.answer(1), peer.answer(2)]);
  expect(slowed).toBe(0);
  const ids = Array.from({ length: 12 }, (_, n) => n + 3);
  peer.say(...ids.map((id) => ['deliver', 0, 'lines', [], id] as const));
  const answers = await Promise.all(ids.map((id) => peer.answer(id)));
  const refused = answers.filter((answer) => answer.startsWith('limit: ')).length;
  expect(refused).toBeGreaterThan(5);
  expect(slowed).toBe(8 * refused);
});

test('a peer that asks again and again for a result larger than a frame is slowed, too', async () => {
  const [a, b] = memoryPair();
  let slowed = 0;
  const shelf = driver<{ all(): string }>({ all: async () => 'x'.repeat(2 << 20) });
  const slow = (ms: number): void => {
    slowed += ms;
  };
  open.push(captp<object>(Object.assign(a, { slow }), { bootstrap: shelf }));
  const peer = new HobPeer(b);
  peer.say(['deliver', 0, 'all', [], 1], ['deliver', 0, 'all', [], 2]);
  for (const id of [1, 2]) expect(await peer.answer(id)).toMatch(/^limit: /);
  expect(slowed).toBe(16);
});

test('a peer is not read while too many of its calls wait for a turn; those that wait for its promise do not count', async () => {
  const [a, b] = memoryPair();
  let isFull: (() => boolean) | undefined;
  const hold = (given: () => boolean): void => {
    isFull = given;
  };
  open.push(captp<object>(Object.assign(a, { hold }), { bootstrap: room }));
  const peer = new HobPeer(b);
  // These calls wait for a promise of the peer. Only a frame of the peer can resolve it, so the peer must be read.
  peer.say(['deliver', 0, 'echo', [{ '@': 'promise', n: 5 }], 1]);
  const waiting = Array.from({ length: 1500 }, (_, n) => n + 2);
  peer.say(...waiting.map((id) => ['deliver', [1], 'lines', [], id] as const));
  peer.say(['deliver', 0, 'lines', [], 2000]);
  await peer.answer(2000);
  expect(isFull).toBeUndefined();
  const many = Array.from({ length: 1500 }, (_, n) => n + 2001);
  peer.say(...many.map((id) => ['deliver', 0, 'lines', [], id] as const));
  await expect.poll(() => isFull?.()).toBe(true);
  await Promise.all(many.map((id) => peer.answer(id)));
  expect(isFull?.()).toBe(false);
});

test('an object of one session that fails with limit does not slow the sessions that call it', async () => {
  let held: unknown;
  const shelf = driver<{ put(x: unknown): void; get(): unknown }>({
    put: async ([x]) => {
      held = x;
    },
    get: async () => held,
  });
  const attacker = raw({ bootstrap: shelf }).peer;
  attacker.say(['deliver', 0, 'put', [{ '@': 'object', n: 5 }], 1]);
  await attacker.answer(1);
  const [a, b] = memoryPair();
  let slowed = 0;
  const slow = (ms: number): void => {
    slowed += ms;
  };
  open.push(captp<object>(Object.assign(a, { slow }), { bootstrap: shelf }));
  const victim = new HobPeer(b);
  victim.say(['deliver', 0, 'get', [], 1], ['deliver', [1], 'use', [], 2]);
  const asked = await attacker.until(([name, , method]) => name === 'deliver' && method === 'use');
  attacker.say(['fail', asked?.[4], 'limit', 'too much']);
  expect(await victim.answer(2)).toBe('limit: too much');
  expect(slowed).toBe(0);
});

test('a session cannot name the exports of another', async () => {
  const first = raw();
  first.peer.say(['deliver', 0, 'echo', [{ '@': 'object', n: 5 }], 1]);
  await first.peer.answer(1);
  const secret = driver<{ m(): string }>({ m: () => 'mine' });
  const giver = raw({ bootstrap: driver<{ give(): unknown }>({ give: () => secret }) });
  giver.peer.say(['deliver', 0, 'give', [], 1]);
  expect(await giver.peer.answer(1)).toBe('{"@":"object","n":1}');
  first.peer.say(['deliver', 1, 'm', [], 2]);
  expect(await first.peer.end()).toMatch(/^4400/);
});

test('question numbers are used once, and rise', async () => {
  for (const second of [1, 2])
    expect(
      await ended((peer) => peer.say(['deliver', 0, 'echo', [1], 2], ['done', 2], ['deliver', 0, 'echo', [2], second])),
    ).toMatch(/^4400 .*same question number was used twice/);
});

test('no inherited name is a method, of an object, an answer, a promise', async () => {
  const { peer } = raw();
  const later = promise<unknown>();
  void later;
  peer.say(['deliver', 0, 'self', [], 1]);
  await peer.answer(1);
  let id = 1;
  for (const target of [0, [1]])
    for (const name of [
      'toString',
      'valueOf',
      'constructor',
      'hasOwnProperty',
      '__proto__',
      '__lookupGetter__',
      'then',
      'catch',
      'apply',
      '__getMethodNames__',
      'toJSON',
      '',
      'lines\u0000',
    ]) {
      id += 1;
      peer.say(['deliver', target, name, [], id]);
      expect(await peer.answer(id), name).toMatch(/^no-such-method: /);
    }
});

test('an answer that could not be carried takes no calls: it is broken for who asked, and for who pipelined', async () => {
  const inner = driver<{ admin(): string }>({ admin: () => 's3cr3t' });
  // A table goes by reference here, and over no wire.
  const { peer } = raw({
    bootstrap: await vats
      .vat('t')
      .turn(() => table())
      .then((held) =>
        driver<{ list(): unknown; cap(): unknown; big(): unknown }>({
          list: () => ({ held }),
          cap: () => [inner, held],
          big: () => 'x'.repeat(2 << 20),
        }),
      ),
  });
  peer.say(['deliver', 0, 'list', [], 1], ['deliver', [1], 'get', ['x'], 2]);
  peer.say(
    ['deliver', 0, 'cap', [], 3],
    ['deliver', [3], 'admin', [], 4],
    ['deliver', 0, 'big', [], 5],
    ['deliver', [5], 'slice', [0, 1], 6],
  );
  expect(await peer.answer(1)).toMatch(/^invalid: /);
  expect(await peer.answer(2)).toMatch(/^(invalid|not-callable): /);
  expect(await peer.answer(3)).toMatch(/^invalid: /);
  expect(await peer.answer(4)).toMatch(/^(invalid|not-callable): /);
  expect(await peer.answer(5)).toMatch(/^limit: /);
  expect(await peer.answer(6)).toMatch(/^(limit|not-callable): /);
  peer.say(['deliver', [5], 'slice', [0, 1], 7]);
  expect(await peer.answer(7)).toMatch(/^limit: /);
  expect(JSON.stringify(peer.said)).not.toContain('s3cr3t');
});

test('an object of the peer’s that is also a promise closes the connection', async () => {
  expect(
    await ended((peer) =>
      peer.say([
        'deliver',
        0,
        'echo',
        [
          { '@': 'object', n: 5 },
          { '@': 'promise', n: 5 },
        ],
        1,
      ]),
    ),
  ).toMatch(/^4400 .*object and for a promise/);
});

test('a promise is settled once, and only one’s own; what is unknown is no violation', async () => {
  const { peer } = raw();
  peer.say(['deliver', 0, 'echo', [[{ '@': 'promise', n: 3 }]], 1]);
  const answer = await peer.answer(1);
  const [{ n }] = JSON.parse(answer) as [{ n: number }];
  expect(answer).toMatch(/"yours"|"promise"/);
  peer.say(['resolve', 99, 1], ['break', 98, 'x', 'y'], ['drop', 97, 3]);
  peer.say(['resolve', 3, 'first'], ['resolve', 3, 'second'], ['break', 3, 'x', 'y']);
  peer.say(['deliver', 0, 'echo', ['still here'], 2]);
  expect(await peer.answer(2)).toBe('"still here"');
  void n;
});

test('a promise that becomes itself, or goes round in a circle, breaks', async () => {
  const { peer, ours } = raw();
  peer.say(['deliver', 0, 'echo', [{ '@': 'promise', n: 3 }], 1], ['resolve', 3, { '@': 'promise', n: 3 }]);
  expect(await peer.answer(1)).toMatch(/^cycle: /);
  peer.say(['deliver', 0, 'echo', [{ '@': 'promise', n: 4 }], 2], ['resolve', 4, { '@': 'answer', n: 2 }]);
  await Promise.race([peer.answer(2), new Promise((resolve) => setTimeout(resolve, 100))]);
  peer.say(['deliver', 0, 'echo', ['still here'], 3]);
  expect(await peer.answer(3)).toBe('"still here"');
  expect(ours.stats().questions).toBeLessThan(3);
});

test('counts: too large ones are clamped, unknown ones ignored', async () => {
  const { peer, ours } = raw({
    bootstrap: driver<{ make(): unknown }>({ make: () => driver<{ m(): number }>({ m: () => 1 }) }),
  });
  peer.say(['deliver', 0, 'make', [], 1]);
  expect(await peer.answer(1)).toBe('{"@":"object","n":1}');
  peer.say(['drop', 1, 1000, 55, 3, 0, 7], ['done', 1]);
  peer.say(['deliver', 0, 'make', [], 2]);
  expect(await peer.answer(2)).toBe('{"@":"object","n":2}');
  expect(ours.stats().exports).toBe(2);
});

test('the memory that a peer can make a connection keep is limited', async () => {
  const limits = { memoryBytes: 200_000 };
  const full = /^4400 this connection keeps more than it may/;
  const stuck = driver<{ stuck(): unknown; data(): string; echo(): number }>({
    stuck: () => new Promise(() => {}),
    data: () => 'x'.repeat(10_000),
    echo: () => 1,
  });
  expect(
    await ended(
      (peer) => {
        for (let id = 1; id < 100; id += 1) peer.say(['deliver', 0, 'stuck', ['x'.repeat(5000)], id]);
      },
      { limits, bootstrap: stuck },
    ),
  ).toMatch(full);
  // Answers that it never says it is done with.
  const kept = raw({ limits, bootstrap: stuck });
  for (let id = 1; kept.peer.closed === undefined && id < 200; id += 1) {
    kept.peer.say(['deliver', 0, 'data', [], id]);
    await kept.peer.answer(id);
  }
  expect(await kept.peer.end()).toMatch(full);
  // Bytes for a frame that never comes.
  expect(
    await ended(
      (peer) => {
        for (let i = 0; i < 5; i += 1) peer.raw(new Uint8Array(100_000));
      },
      { limits },
    ),
  ).toMatch(full);
  expect(
    await ended(
      (peer) => {
        for (let i = 0; i < 50; i += 1)
          peer.say([
            'deliver',
            0,
            'echo',
            Array.from({ length: 100 }, (_, n) => ({ '@': 'object', n: i * 100 + n + 1 })),
            i + 1,
          ]);
      },
      { limits },
    ),
  ).toMatch(full);
  expect(
    await ended(
      (peer) => {
        for (let i = 0; i < 50; i += 1)
          peer.say([
            'deliver',
            0,
            'echo',
            [Array.from({ length: 100 }, (_, n) => ({ '@': 'promise', n: i * 100 + n + 1 }))],
            i + 1,
          ]);
      },
      { limits },
    ),
  ).toMatch(full);
});

test('more unanswered calls than allowed are answered with limit; there is room again after an answer', async () => {
  const later = promise<string>();
  const { peer } = raw({
    limits: { questions: 3 },
    bootstrap: driver<{ stuck(): unknown; quick(): string }>({ stuck: () => later.promise, quick: () => 'quick' }),
  });
  peer.say(...[1, 2, 3, 4].map((id) => ['deliver', 0, 'stuck', [], id]));
  expect(await peer.answer(4)).toMatch(/^limit: /);
  later.resolver.resolve('free');
  expect(await peer.answer(3)).toBe('"free"');
  peer.say(['deliver', 0, 'quick', [], 5]);
  expect(await peer.answer(5)).toBe('"quick"');
});

test('20,000 promises, 40,000 calls: no frame costs more than its share, others are served', async () => {
  const other = raw();
  const { peer, ours } = raw();
  for (let frame = 0; frame < 5; frame += 1)
    peer.say([
      'deliver',
      0,
      'echo',
      [Array.from({ length: 4000 }, (_, n) => ({ '@': 'promise', n: frame * 4000 + n + 1 }))],
      frame + 1,
    ]);
  for (let frame = 0; frame < 10; frame += 1)
    peer.say(...Array.from({ length: 4000 }, (_, n) => ['deliver', 0, 'lines', [], 10 + frame * 4000 + n]));
  other.peer.say(['deliver', 0, 'echo', ['served'], 1]);
  expect(await other.peer.answer(1)).toBe('"served"');
  await peer.answer(40_009);
  peer.leave();
  await ours.closed;
  // So many are told in portions that it is over.
  for (let i = 0; i < 10; i += 1) await new Promise(setImmediate);
});

test('a chain of ten thousand calls, each on the answer before it, breaks without running out of stack', async () => {
  const { peer } = raw();
  for (let from = 1; from < 10_000; from += 1000)
    peer.say(
      ...Array.from({ length: 1000 }, (_, n) => from + n).map((id) => [
        'deliver',
        id === 1 ? 0 : [id - 1],
        'echo',
        ['data'],
        id,
      ]),
    );
  expect(await peer.answer(10_000)).toMatch(/^(not-callable|limit): /);
});

test('a refused argument harms nothing else: a promise beside it that breaks later ends no process', async () => {
  const { peer } = raw();
  peer.raw('[["deliver",0,"echo",[{"@":"promise","n":1},{"__proto__":1}],1]]');
  expect(await peer.answer(1)).toMatch(/^invalid: /);
  peer.say(['break', 1, 'error', 'gone']);
  peer.say(['deliver', 0, 'lines', [], 2]);
  expect(await peer.answer(2)).toBe('[]');
});

test('callbacks that never answer, and a peer that vanishes midway, leave nothing', async () => {
  const { peer, ours } = raw();
  peer.say(['deliver', 0, 'call', [{ '@': 'object', n: 1 }, 7], 1]);
  const asked = await peer.until(([name]) => name === 'deliver');
  expect(asked?.slice(0, 4)).toEqual(['deliver', 1, 'hear', [7]]);
  expect(ours.stats().questions).toBe(1);
  peer.leave();
  await ours.closed;
  expect(ours.stats()).toEqual({ questions: 0, answers: 0, imports: 0, exports: 0, promises: 0, bytes: 0 });
});

test('a peer’s error is text with a code, whatever it says', async () => {
  const { peer } = raw();
  peer.say(['deliver', 0, 'call', [{ '@': 'object', n: 1 }, 7], 1]);
  const [, , , , question] = (await peer.until(([name]) => name === 'deliver')) as unknown[];
  peer.say(['fail', question, 'not a code!', 'x'.repeat(100_000)]);
  const answer = await peer.answer(1);
  expect(answer).toMatch(/^error: x+$/);
  expect(answer.length).toBeLessThan(5000);
  void CapError;
});

test('a question is answered once, also while what it became has to wait', async () => {
  const { peer, ours } = raw();
  const { cap, heard } = ((): { cap: Far<object>; heard: unknown[] } => {
    const all: unknown[] = [];
    return { cap: driver<{ hear(value: unknown): void }>({ hear: ([value]) => void all.push(value) }), heard: all };
  })();
  const far = ours.bootstrap as Far<{ echo(value: unknown): { hear(value: unknown): void } }>;
  const p = E(far).echo(cap);
  const broken = Promise.all(
    [E(p).hear(1), p].map((asked) => expect(asked).rejects.toMatchObject({ code: 'disconnected' })),
  );
  const [, , , , first] = (await peer.until(
    ([name, , method]) => name === 'deliver' && method === 'echo',
  )) as unknown[];
  // It says that it is ours, so we ask whether what went before has arrived; then it says something else.
  peer.say(['return', first, { '@': 'yours', n: 1 }]);
  await peer.until(([, , method]) => method === '__flush__');
  peer.say(['return', first, 'another']);
  expect(await peer.end()).toMatch(/^4400 .*not asked/);
  await broken;
  expect(heard).toEqual([]);
});

test('a message that is sent late, or to a released object, charges its sender once', async () => {
  const { peer, ours } = raw();
  const meter = vats.meter('sender');
  const vat = vats.vat('sender', { meter });
  peer.say(['deliver', 0, 'echo', [{ '@': 'object', n: 1 }], 1]);
  await peer.answer(1);
  ours.close();
  await ours.closed;
  const far = ours.bootstrap as Far<{ m(): void }>;
  await vat.turn(() => {
    for (let i = 0; i < 5; i += 1) E.sendOnly(far).m();
  });
  await expect(vat.turn(() => E(far).m())).rejects.toMatchObject({ code: 'disconnected' });
  expect(meter.used()['messages']).toBe(0);
  expect(meter.used()['promises']).toBe(0);
});

test('no error tells a peer how many objects others have made', async () => {
  interface Kit {
    m(): void;
    elsewhere(other: object): void;
    later(): unknown;
    wrong(): unknown;
    twice(): unknown;
  }
  let kept: unknown;
  const Kit: Definition<Kit, []> = define('Kit', (bcom) => ({
    m: () => {},
    elsewhere: (other) => (other as Kit).m(),
    later: async () => {},
    wrong: () => bcom('nothing' as never),
    twice: () => (kept ??= bcom(Kit())),
  }));
  for (let i = 0; i < 3; i += 1) await vats.vat('kits').spawn(Kit());
  const other = await vats.vat('others').spawn(Kit());
  const { peer } = raw({ bootstrap: await vats.vat('kits').spawn(Kit()) });
  peer.say(
    ['deliver', 0, 'none', [], 1],
    ['deliver', 0, '', [], 2],
    ['deliver', 0, 'later', [], 3],
    ['deliver', 0, 'wrong', [], 4],
    ['deliver', 0, 'twice', [], 5],
    ['deliver', 0, 'twice', [], 6],
  );
  for (const id of [1, 2, 3, 4, 6]) {
    const said = await peer.answer(id);
    expect(said).toMatch(/^[a-z-]+: .*Kit/);
    expect(said).not.toMatch(/#/);
  }
  const near = await vats.vat('kits').spawn(Kit());
  const why = await E(near)
    .elsewhere(other)
    .then(null, (error: Error) => error.message);
  expect(why).toMatch(/^Kit is in another vat/);
});

// ---- what docs/wire.md says of rare mentions --------------------------------------------------------------

test('object 0 is mentioned like others and never given back', async () => {
  const { peer, ours } = raw();
  const values = [
    { '@': 'object', n: 0 },
    { '@': 'yours', n: 0 },
  ];
  peer.say(['deliver', 0, 'echo', [values], 1]);
  expect(JSON.parse(await peer.answer(1))).toEqual([
    { '@': 'yours', n: 0 },
    { '@': 'object', n: 0 },
  ]);
  peer.say(['drop', 0, 5], ['deliver', 0, 'echo', ['still'], 2]);
  expect(await peer.answer(2)).toBe('"still"');
  release(ours.bootstrap);
  peer.say(['deliver', 0, 'echo', ['and still'], 3]);
  await peer.answer(3);
  expect(peer.said.filter(([name]) => name === 'drop')).toEqual([]);
  peer.say(['deliver', 0, 'echo', [{ '@': 'promise', n: 0 }], 4]);
  expect(await peer.end()).toBe('4400 one number is used for an object and for a promise');
});

test('a call of 0 where nothing is offered fails, and a value that names it closes', async () => {
  const [a, b] = memoryPair();
  open.push(captp<object>(a));
  const peer = new HobPeer(b);
  peer.say(['deliver', 0, 'm', [], 1]);
  expect(await peer.answer(1)).toMatch(/^no-such-object: /);
  peer.say(['deliver', 0, 'm', [{ '@': 'yours', n: 0 }], 2]);
  expect(await peer.end()).toMatch(/^4400 .*never exported/);
});

test('after `done` a call of the answer fails, and a value that names it closes', async () => {
  const { peer } = raw();
  peer.say(['deliver', 0, 'self', [], 1], ['done', 1], ['deliver', [1], 'echo', [1], 2]);
  expect(await peer.answer(2)).toMatch(/^not-callable: /);
  peer.say(['deliver', 0, 'echo', [{ '@': 'answer', n: 1 }], 3]);
  expect(await peer.end()).toMatch(/^4400 /);
});

test('a question that is answered with a promise becomes that promise, and calls on it keep their order', async () => {
  const { peer, ours } = raw();
  const asked = E(ours.bootstrap as Far<{ ask(): { m(n: number): void } }>).ask();
  const [, , , , question] = (await peer.until(([, , method]) => method === 'ask')) as unknown[];
  void Promise.resolve(E(asked).m(1)).catch(() => {});
  peer.say(['return', question, { '@': 'promise', n: 5 }]);
  await peer.until(([, , method]) => method === 'm');
  peer.say(['resolve', 5, { '@': 'object', n: 6 }]);
  await asked;
  void Promise.resolve(E(asked).m(2)).catch(() => {});
  await peer.until(([, to, method, args]) => method === 'm' && to === 6 && (args as number[])[0] === 2);
  expect(peer.said.filter(([, , method]) => method === 'm').map(([, , , args]) => args)).toEqual([[1], [2]]);
});

test('a method has at most 1,024 letters', async () => {
  const { peer } = raw();
  peer.say(['deliver', 0, 'm'.repeat(1024), [], 1], ['deliver', 0, 'm'.repeat(1025), [], 2]);
  expect(await peer.answer(1)).toMatch(/^no-such-method: .*m{64}"$/);
  expect(await peer.answer(2)).toBe('no-such-method: the name of this method is too long');
});
