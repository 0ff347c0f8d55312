/**
 * Scenarios of any two peers: one table, played by every program that speaks the wire.
 *
 * A scenario enters a host, once or several times, and returns what it has seen. It knows the other end only
 * by the wire and by the fixture that is offered there (`scenario-sides.ts`). Re-derived from the behaviour
 * groups of capnweb's tests and from the promise scenarios of liveslots.
 */
import type { Side } from './scenario-sides.ts';

export interface World {
  /** One more connection to the host. */
  enter(): Promise<Side>;
  /** The wire of `side` breaks. */
  cut(side: Side): void;
  /** All that is on its way has arrived. */
  quiet(): Promise<void>;
  /** The growth of the tables of our ends since the first question, after rubbish was collected. */
  left(): Promise<Readonly<Record<string, number>>>;
}

export interface Scenario {
  readonly group: string;
  readonly name: string;
  run(world: World): Promise<unknown>;
  readonly is: unknown;
}

/** The outcome of a promise: its value, or `broken CODE`. */
export const become = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    (value) => value,
    (error: Error & { code?: string }) => `broken ${error.code ?? /^[\w-]+(?=: )/.exec(error.message)?.[0] ?? 'error'}`,
  );

const all = (promises: readonly Promise<unknown>[]): Promise<unknown[]> => Promise.all(promises.map(become));
/** An object that keeps what it hears. */
function ear(side: Side): { readonly cap: object; readonly heard: unknown[] } {
  const heard: unknown[] = [];
  return { heard, cap: side.far({ hear: (value: unknown) => heard.push(value) }) };
}
const first = async (list: Promise<unknown>): Promise<unknown> => ((await list) as [unknown])[0];
const nested = (depth: number): unknown => {
  let value: unknown = 0;
  for (let i = 0; i < depth; i += 1) value = [value];
  return value;
};

type Row = readonly [name: string, run: (world: World) => Promise<unknown>, is: unknown];
const group = (name: string, rows: readonly Row[]): Scenario[] =>
  rows.map(([scenario, run, is]) => ({ group: name, name: scenario, run, is }));

export const SCENARIOS: readonly Scenario[] = [
  ...group('basic', [
    [
      'data goes there and comes home',
      async (world) => {
        const { send, fixture } = await world.enter();
        return send(fixture, 'list', null, true, -1.5, 'ü\u2028', [[], {}], { a: { b: 'c' } }, 2n ** 80n, undefined);
      },
      [null, true, -1.5, 'ü\u2028', [[], {}], { a: { b: 'c' } }, 2n ** 80n, undefined],
    ],
    [
      'calls at the same time are answered each with its own',
      async (world) => {
        const { send, fixture } = await world.enter();
        return Promise.all([3, 1, 2].map((n) => send(fixture, 'echo', n)));
      },
      [3, 1, 2],
    ],
    [
      'an error has its code, and the next call is answered',
      async (world) => {
        const { send, fixture } = await world.enter();
        return all([send(fixture, 'fail', 'revoked'), send(fixture, 'echo', 'next')]);
      },
      ['broken revoked', 'next'],
    ],
    [
      'what is no method is refused',
      async (world) => {
        const { send, fixture } = await world.enter();
        return all(['nothing', 'toString', 'hasOwnProperty', '__getMethodNames__'].map((name) => send(fixture, name)));
      },
      ['broken no-such-method', 'broken no-such-method', 'broken no-such-method', 'broken no-such-method'],
    ],
    [
      'the host calls back while it answers',
      async (world) => {
        const side = await world.enter();
        const { cap, heard } = ear(side);
        return [await side.send(side.fixture, 'tell', cap, 'hear', ['back']), heard];
      },
      [1, ['back']],
    ],
    [
      'what wants no answer arrives',
      async (world) => {
        const side = await world.enter();
        const log = side.send(side.fixture, 'log');
        side.sendOnly(log, 'add', 'one');
        side.sendOnly(log, 'add', 'two');
        return side.send(log, 'lines');
      },
      ['one', 'two'],
    ],
  ]),
  ...group('capability passing', [
    [
      'an object comes home as itself',
      async (world) => {
        const side = await world.enter();
        const { cap } = ear(side);
        const home = await side.send(side.fixture, 'list', cap, [cap]);
        return (home as [unknown, [unknown]])[0] === cap && (home as [unknown, [unknown]])[1][0] === cap;
      },
      true,
    ],
    [
      'the host’s objects are themselves at home, and one is not another',
      async (world) => {
        const { send, fixture } = await world.enter();
        const [a, b] = await Promise.all([send(fixture, 'log'), send(fixture, 'log')]);
        return Promise.all([
          send(fixture, 'same', a, a),
          send(fixture, 'same', a, b),
          send(fixture, 'same', fixture, a),
        ]);
      },
      [true, false, false],
    ],
    [
      'three parties: one uses what another has left with the host, and is called back',
      async (world) => {
        const [a, b] = [await world.enter(), await world.enter()];
        const heard: unknown[] = [];
        const bell = a.far({
          ring: (from: string, back: unknown) => {
            heard.push(from);
            return a.send(back, 'hear', 'rung');
          },
        });
        await a.send(a.fixture, 'keep', 'bell', [bell]);
        const found = await first(b.send(b.fixture, 'kept', 'bell'));
        const mine = ear(b);
        return [await b.send(found, 'ring', 'b', mine.cap), heard, mine.heard];
      },
      [1, ['b'], ['rung']],
    ],
    [
      'three parties: an object that went round comes home as itself',
      async (world) => {
        const [a, b] = [await world.enter(), await world.enter()];
        const { cap } = ear(a);
        const door = a.far({ give: () => cap, same: (x: unknown) => x === cap });
        await a.send(a.fixture, 'keep', 'door', [door]);
        const found = await first(b.send(b.fixture, 'kept', 'door'));
        return b.send(found, 'same', await b.send(found, 'give'));
      },
      true,
    ],
    [
      'three parties: a promise of one is settled for another',
      async (world) => {
        const [a, b] = [await world.enter(), await world.enter()];
        const { promise, resolve } = a.promise();
        await a.send(a.fixture, 'keep', 'later', [promise]);
        const later = become(first(b.send(b.fixture, 'kept', 'later')));
        await world.quiet();
        resolve('settled');
        return later;
      },
      'settled',
    ],
    [
      'what one session was given another cannot name',
      async (world) => {
        const [a, b] = [await world.enter(), await world.enter()];
        const log = await a.send(a.fixture, 'log');
        await a.send(log, 'add', 'a’s');
        const other = await b.send(b.fixture, 'log');
        return [await b.send(other, 'lines'), await become(first(b.send(b.fixture, 'kept', 'log')))];
      },
      [[], undefined],
    ],
  ]),
  ...group('pipelining', [
    [
      'a chain of calls is sent at once',
      async (world) => {
        const { send, fixture } = await world.enter();
        const log = send(send(send(fixture, 'self'), 'self'), 'log');
        return all([send(log, 'add', 1), send(log, 'add', 2), send(log, 'lines')]);
      },
      [1, 2, [1, 2]],
    ],
    [
      'an answer that is not there yet is an argument',
      async (world) => {
        const { send, fixture } = await world.enter();
        return send(fixture, 'outcome', [send(fixture, 'echo', send(fixture, 'echo', 7))]);
      },
      ['ok', 7],
    ],
    [
      'an error goes through what was pipelined, as target and as argument, and nobody else hears of it',
      async (world) => {
        const { send, fixture } = await world.enter();
        const broken = send(fixture, 'fail', 'expired');
        return all([
          send(broken, 'echo', 1),
          send(send(broken, 'echo', 1), 'echo', 2),
          send(fixture, 'outcome', [broken]),
        ]);
      },
      ['broken expired', 'broken expired', ['broken', 'expired']],
    ],
    [
      'data takes no calls',
      async (world) => {
        const { send, fixture } = await world.enter();
        return become(send(send(fixture, 'echo', 'text'), 'repeat', 3));
      },
      'broken not-callable',
    ],
    [
      'calls wait at a promise, in order, until the host settles it',
      async (world) => {
        const { send, fixture } = await world.enter();
        const at = (await send(fixture, 'promise', 'q')) as [Promise<unknown>];
        const answers = [send(at[0], 'add', 'x'), send(at[0], 'add', 'y')];
        await send(fixture, 'resolve', 'q', send(fixture, 'log'));
        return all(answers);
      },
      [1, 2],
    ],
    [
      'nobody reaches an object that could not be passed',
      async (world) => {
        const { send, fixture } = await world.enter();
        const vault = send(fixture, 'impassable');
        const seen = await all([vault, send(vault, 'reveal')]);
        return seen.map((each) => (/^broken (?!disconnected)/.test(String(each)) ? 'refused' : each));
      },
      ['refused', 'refused'],
    ],
  ]),
  ...group('e-order', [
    [
      'to one object',
      async (world) => {
        const side = await world.enter();
        const log = side.send(side.fixture, 'log');
        for (let i = 0; i < 50; i += 1) side.sendOnly(log, 'add', i);
        return side.send(log, 'lines');
      },
      Array.from({ length: 50 }, (_, i) => i),
    ],
    [
      'to an answer that turns out to be the sender’s own',
      async (world) => {
        const side = await world.enter();
        const { cap, heard } = ear(side);
        const p = side.send(side.fixture, 'echo', cap);
        const answers = [side.send(p, 'hear', 1), side.send(p, 'hear', 2)];
        const known = await p;
        answers.push(side.send(p, 'hear', 3), side.send(known, 'hear', 4));
        await Promise.all(answers);
        return heard;
      },
      [1, 2, 3, 4],
    ],
    [
      'to a promise of the host that turns out to be the sender’s own',
      async (world) => {
        const side = await world.enter();
        const { cap, heard } = ear(side);
        const [p] = (await side.send(side.fixture, 'promise', 'p')) as [Promise<unknown>];
        const answers = [side.send(p, 'hear', 1)];
        side.sendOnly(side.fixture, 'resolve', 'p', cap);
        answers.push(side.send(p, 'hear', 2));
        await p;
        answers.push(side.send(p, 'hear', 3));
        await Promise.all(answers);
        return heard;
      },
      [1, 2, 3],
    ],
    [
      'three parties: to another’s promise, which becomes an object of the host',
      async (world) => {
        const [a, b] = [await world.enter(), await world.enter()];
        const { promise, resolve } = a.promise();
        const log = await a.send(a.fixture, 'log');
        await a.send(a.fixture, 'keep', 'later', [promise]);
        const [later] = (await b.send(b.fixture, 'kept', 'later')) as [Promise<unknown>];
        const answers = [b.send(later, 'add', 1), b.send(later, 'add', 2)];
        resolve(log);
        answers.push(b.send(later, 'add', 3));
        const known = await later;
        answers.push(b.send(later, 'add', 4), b.send(known, 'add', 5));
        await Promise.all(answers);
        return a.send(log, 'lines');
      },
      [1, 2, 3, 4, 5],
    ],
    [
      'three parties: to another’s promise, which becomes the sender’s own',
      async (world) => {
        const [a, b] = [await world.enter(), await world.enter()];
        const { promise, resolve } = a.promise();
        const { cap, heard } = ear(b);
        await a.send(a.fixture, 'keep', 'later', [promise]);
        const [later] = (await b.send(b.fixture, 'kept', 'later')) as [Promise<unknown>];
        await b.send(b.fixture, 'keep', 'mine', [cap]);
        const answers = [b.send(later, 'hear', 1)];
        resolve(await first(a.send(a.fixture, 'kept', 'mine')));
        answers.push(b.send(later, 'hear', 2));
        const known = await later;
        answers.push(b.send(known, 'hear', 3));
        await Promise.all(answers);
        return [heard, known === cap];
      },
      [[1, 2, 3], true],
    ],
  ]),
  ...group('broken', [
    [
      'a lost connection breaks calls, promises and references',
      async (world) => {
        const side = await world.enter();
        const [promise] = (await side.send(side.fixture, 'promise', 'p')) as [Promise<unknown>];
        const waits = all([side.send(side.fixture, 'never'), promise, side.send(promise, 'hear', 1)]);
        await world.quiet();
        world.cut(side);
        return [...(await waits), await become(side.send(side.fixture, 'echo', 1))];
      },
      ['broken disconnected', 'broken disconnected', 'broken disconnected', 'broken disconnected'],
    ],
    [
      'whoever is left finds what the other had given broken',
      async (world) => {
        const [a, b] = [await world.enter(), await world.enter()];
        const { promise } = a.promise();
        const lazy = a.far({ wait: () => new Promise(() => {}) });
        await a.send(a.fixture, 'keep', 'given', [[lazy, promise]]);
        const [given] = (await b.send(b.fixture, 'kept', 'given')) as [[object, Promise<unknown>]];
        const waits = all([b.send(given[0], 'wait'), given[1]]);
        await world.quiet();
        world.cut(a);
        return [...(await waits), await become(b.send(given[0], 'wait')), await b.send(b.fixture, 'echo', 'here')];
      },
      ['broken disconnected', 'broken disconnected', 'broken disconnected', 'here'],
    ],
    [
      'a promise that breaks breaks with its code at the other end',
      async (world) => {
        const side = await world.enter();
        const mine = side.promise();
        const seen = side.send(side.fixture, 'outcome', [mine.promise]);
        const [theirs] = (await side.send(side.fixture, 'promise', 'p')) as [Promise<unknown>];
        mine.break('expired');
        await side.send(side.fixture, 'break', 'p', 'denied');
        return [await seen, await become(theirs)];
      },
      [['broken', 'expired'], 'broken denied'],
    ],
  ]),
  ...group('disposal', [
    [
      'when all is answered and nobody holds anything, nothing is left',
      async (world) => {
        const side = await world.enter();
        await side.send(side.fixture, 'echo', 0);
        await world.left();
        for (let i = 0; i < 20; i += 1) {
          const log = side.send(side.fixture, 'log');
          await side.send(log, 'add', ear(side).cap);
          await side.send(side.fixture, 'outcome', [Promise.resolve(i)]);
          await become(side.send(side.fixture, 'fail', 'denied'));
        }
        await world.quiet();
        return world.left();
      },
      { questions: 0, answers: 0, imports: 0, exports: 0, promises: 0 },
    ],
    [
      'what was given back can be given again',
      async (world) => {
        const side = await world.enter();
        const give = async (): Promise<void> => {
          const log = await side.send(side.fixture, 'log');
          await side.send(side.fixture, 'keep', 'log', [log]);
          side.release(log);
        };
        await give();
        await world.left();
        return side.send(await first(side.send(side.fixture, 'kept', 'log')), 'add', 'x');
      },
      1,
    ],
  ]),
  ...group('limits', [
    [
      'a value that is too deep is refused, and the connection goes on',
      async (world) => {
        const { send, fixture } = await world.enter();
        return all([send(fixture, 'echo', nested(200)), send(fixture, 'echo', 'on')]);
      },
      ['broken invalid', 'on'],
    ],
    [
      'a frame that is too large is not sent, and the connection goes on',
      async (world) => {
        const { send, fixture } = await world.enter();
        return all([send(fixture, 'echo', 'x'.repeat(2 << 20)), send(fixture, 'echo', 'on')]);
      },
      ['broken limit', 'on'],
    ],
    [
      'a thousand calls that are not answered keep nobody from being answered',
      async (world) => {
        const { send, fixture } = await world.enter();
        for (let i = 0; i < 1000; i += 1) void become(send(fixture, 'never'));
        return send(fixture, 'echo', 'here');
      },
      'here',
    ],
  ]),
  ...group('liveslots', [
    [
      'promiseArg1: a promise as an argument, resolved after it was sent',
      async (world) => {
        const side = await world.enter();
        const { promise, resolve } = side.promise();
        const seen = side.send(side.fixture, 'outcome', [promise]);
        resolve('hi');
        return seen;
      },
      ['ok', 'hi'],
    ],
    [
      'promiseArg2: resolved before it was sent',
      async (world) => {
        const side = await world.enter();
        const { promise, resolve } = side.promise();
        resolve('hi');
        return side.send(side.fixture, 'outcome', [promise]);
      },
      ['ok', 'hi'],
    ],
    [
      'promiseArg3: resolved after its receiver has answered',
      async (world) => {
        const side = await world.enter();
        const { promise, resolve } = side.promise();
        await side.send(side.fixture, 'keep', 'p', [promise]);
        const seen = side.send(side.fixture, 'outcome', await side.send(side.fixture, 'kept', 'p'));
        resolve('hi');
        return seen;
      },
      ['ok', 'hi'],
    ],
    [
      'promiseChain: each promise is asked for when the one before it is settled',
      async (world) => {
        const side = await world.enter();
        const seen: unknown[] = [];
        for (let i = 0; i < 4; i += 1) {
          const [p] = (await side.send(side.fixture, 'promise', `p${i}`)) as [Promise<unknown>];
          side.sendOnly(side.fixture, 'resolve', `p${i}`, i);
          seen.push(await p);
        }
        return seen;
      },
      [0, 1, 2, 3],
    ],
    [
      'promiseCycle: two promises of the host become lists with each other in them',
      async (world) => {
        const side = await world.enter();
        const [[x], [y]] = (await Promise.all(['x', 'y'].map((name) => side.send(side.fixture, 'promise', name)))) as [
          [Promise<unknown>],
          [Promise<unknown>],
        ];
        side.sendOnly(side.fixture, 'resolve', 'x', [y]);
        side.sendOnly(side.fixture, 'resolve', 'y', [x]);
        return [await inside(await x, 3), await inside(await y, 3)];
      },
      ['a list of a promise, 3 deep', 'a list of a promise, 3 deep'],
    ],
    [
      'promiseCycleMultiCrank: one of them is settled before the other',
      async (world) => {
        const side = await world.enter();
        const [[x], [y]] = (await Promise.all(['x', 'y'].map((name) => side.send(side.fixture, 'promise', name)))) as [
          [Promise<unknown>],
          [Promise<unknown>],
        ];
        await side.send(side.fixture, 'resolve', 'x', [y]);
        await x;
        await world.quiet();
        await side.send(side.fixture, 'resolve', 'y', [x]);
        return [await inside(await x, 3), await inside(await y, 3)];
      },
      ['a list of a promise, 3 deep', 'a list of a promise, 3 deep'],
    ],
    [
      'promiseCrosswise: two parties’ promises become lists with each other’s in them',
      async (world) => {
        const [a, b] = [await world.enter(), await world.enter()];
        const mine = b.promise();
        await b.send(b.fixture, 'keep', 'y', [mine.promise]);
        const [x] = (await a.send(a.fixture, 'promise', 'x')) as [Promise<unknown>];
        const [y] = (await a.send(a.fixture, 'kept', 'y')) as [Promise<unknown>];
        await a.send(a.fixture, 'keep', 'x', [x]);
        const [theirs] = (await b.send(b.fixture, 'kept', 'x')) as [Promise<unknown>];
        await a.send(a.fixture, 'resolve', 'x', [y]);
        mine.resolve([theirs]);
        return [await inside(await x, 3), await inside(await y, 3)];
      },
      ['a list of a promise, 3 deep', 'a list of a promise, 3 deep'],
    ],
    [
      'promiseIndirect: a promise becomes a promise, which becomes data',
      async (world) => {
        const side = await world.enter();
        const [[x], [y]] = (await Promise.all(['x', 'y'].map((name) => side.send(side.fixture, 'promise', name)))) as [
          [Promise<unknown>],
          [Promise<unknown>],
        ];
        side.sendOnly(side.fixture, 'resolveWith', 'x', [y]);
        side.sendOnly(side.fixture, 'resolve', 'y', 'hello');
        return x;
      },
      'hello',
    ],
    [
      'passResult: an answer is an argument, before it is there',
      async (world) => {
        const { send, fixture } = await world.enter();
        const p = send(fixture, 'echo', 'first answer');
        return all([p, send(fixture, 'outcome', [p])]);
      },
      ['first answer', ['ok', 'first answer']],
    ],
    [
      'passResultPromise: an answer that is a promise is an argument, and is settled by the call that it is given to',
      async (world) => {
        const side = await world.enter();
        const { send, fixture } = side;
        const held = side.promise();
        const target = side.far({ first: () => held.promise, second: () => held.resolve('from second') });
        const p = send(fixture, 'tell', target, 'first', []);
        const seen = send(fixture, 'outcome', [p]);
        await send(fixture, 'tell', target, 'second', [p]);
        return [await p, await seen];
      },
      ['from second', ['ok', 'from second']],
    ],
    [
      'resolvePipeline: what is sent to an answer goes to what it becomes',
      async (world) => {
        const { send, fixture } = await world.enter();
        const log = send(fixture, 'log');
        const second = send(log, 'add', 'x');
        return [typeof (await log), await second];
      },
      ['object', 1],
    ],
    [
      'messageToPromise: what is sent to a promise before it is resolved goes to what it becomes',
      async (world) => {
        const { send, sendOnly, fixture } = await world.enter();
        const [p] = (await send(fixture, 'promise', 'p')) as [Promise<unknown>];
        const answer = send(p, 'add', 'deferred');
        await world.quiet();
        sendOnly(fixture, 'resolve', 'p', send(fixture, 'log'));
        await send(fixture, 'echo', 'loopback');
        return answer;
      },
      1,
    ],
  ]),
];

/** Opens lists of one promise, so deep. */
async function inside(value: unknown, depth: number): Promise<string> {
  let at = value;
  for (let i = 0; i < depth; i += 1) {
    if (!Array.isArray(at) || at.length !== 1 || !(at[0] instanceof Promise)) return `no list of a promise at ${i}`;
    at = await at[0];
  }
  return `a list of a promise, ${depth} deep`;
}
