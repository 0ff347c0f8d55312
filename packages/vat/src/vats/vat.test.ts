/** Vats: turns from outside, dry runs, halting, roots, sturdyrefs, traces. */
import { expect, onTestFinished, test } from 'vitest';
import { openForEachTest } from '../../test/opened.ts';
import { hashSecret } from '../forwarder.ts';
import {
  attempt,
  type Definition,
  define,
  E,
  type Far,
  ledgerLine,
  openVats,
  promise,
  spawn,
  type TurnRecord,
  table,
  trace,
  type Vat,
  type Vats,
} from '../index.ts';

let vats: Vats;
let vat: Vat;
let records: TurnRecord[];
openForEachTest((opened) => ({ vats, a: vat, records } = opened));

interface Log {
  add(x: unknown): number;
  all(): readonly unknown[];
  tell(to: Far<Log>, x: unknown): void;
}
const Log: Definition<Log, [all: readonly unknown[]]> = define('Log', (bcom, all) => ({
  add: (x) => bcom(Log([...all, x]), all.length),
  all: () => all,
  tell: (to, x) => {
    E.sendOnly(to).add(x);
  },
}));

test('vat.turn runs inside the vat as one turn and gives its result, or its very error', async () => {
  const error = new Error('mine');
  expect(await vat.turn(() => spawn(Log([])).add(1))).toBe(0);
  await expect(
    vat.turn(() => {
      throw error;
    }),
  ).rejects.toBe(error);
});

test('vats.vat gives one vat a name, and one meter to it', () => {
  expect(vats.vat('a')).toBe(vat);
  expect(vats.vat('b')).not.toBe(vat);
  expect(() => vats.vat('c', { meter: { name: 'forged', used: () => ({}), limits: () => ({}) } })).toThrow(
    expect.objectContaining({ code: 'invalid' }),
  );
});

test('peek returns the effects that a turn would have and has none: no state, spawn, row, send, line or charge', async () => {
  const log = await vat.spawn(Log([]));
  const far = await vats.vat('b').spawn(Log([]));
  // The hourly budgets of ledger lines are not given back, so they are left out.
  const { turnMs: _, lines: ___, lineBytes: _____, ...before } = vats.meter('a').used();
  let spawned: unknown;
  const { result, changed, sent } = await vat.peek(() => {
    const near = log as unknown as Log;
    spawned = spawn(Log([]));
    const rows = table<number>();
    rows.set('k', 1);
    near.add('x');
    attempt(() => near.add('y'));
    try {
      attempt(() => {
        E.sendOnly(nobody).add('undone');
        throw new Error('undo');
      });
    } catch {}
    E.sendOnly(far).add('z');
    ledgerLine('test', { a: 1 });
    const pledge = promise<number>();
    pledge.resolver.resolve(1);
    return { all: near.all(), answer: E(far).add('w'), pledge: pledge.promise };
  });
  expect(result.all).toEqual(['x', 'y']);
  await expect(result.answer).rejects.toMatchObject({ code: 'peek' });
  expect(changed).toEqual(expect.arrayContaining([expect.stringMatching(/^Log#/), expect.stringMatching(/^table#/)]));
  expect(sent).toEqual([expect.stringMatching(/^Log#/), 'promise']);
  expect([await E(log).all(), await vat.turn(() => E(far).all())]).toEqual([[], []]);
  await expect(E(spawned as Far<Log>).all()).rejects.toMatchObject({ code: 'no-such-object' });
  const { turnMs: __, lines: ____, lineBytes: ______, ...after } = vats.meter('a').used();
  expect(after).toEqual(before);
});
const nobody = {} as Far<Log>;

test('a peek whose body throws says so', async () => {
  await expect(
    vat.peek(() => {
      throw new RangeError('in it');
    }),
  ).rejects.toThrow('in it');
});

test('a halted vat breaks waiting and later messages with vat-halted, and says why', async () => {
  const log = await vat.spawn(Log([]));
  const other = await vats.vat('b').spawn(Log([]));
  const pending = promise<Far<Log>>();
  const piped = E(pending.promise).add(1);
  const waiting = [E(log).add(1), E(log).add(2), vat.turn(() => 1), vat.peek(() => 1)];
  vat.halt(new Error('the session is over'));
  vat.halt(new Error('again'));
  pending.resolver.resolve(log);
  // All at once: one that breaks while another is awaited would count as unhandled.
  const broken = await Promise.allSettled([
    ...waiting,
    piped,
    E(log).all(),
    vat.spawn(Log([])),
    vat.root('r', () => Log([])),
  ]);
  for (const end of broken)
    expect(end).toMatchObject({
      status: 'rejected',
      reason: { code: 'vat-halted', message: expect.stringContaining('session is over') },
    });
  expect(await E(other).add(1)).toBe(0);
  await expect(vats.vat('b').turn(() => E(log).add(1))).rejects.toMatchObject({ code: 'vat-halted' });
});

test('a wait in a halted vat breaks too', async () => {
  const pending = promise<number>();
  const { done } = await vat.turn(() => ({ done: E.when(pending.promise, () => 1) }));
  vat.halt();
  pending.resolver.resolve(1);
  await expect(done).rejects.toMatchObject({ code: 'vat-halted' });
});

test('a root is made once, and again if it could not be made', async () => {
  let made = 0;
  const make = () => {
    made += 1;
    if (made === 1) throw new Error('first');
    return Log([]);
  };
  await expect(vat.root('r', make)).rejects.toThrow('first');
  const [one, two] = await Promise.all([vat.root('r', make), vat.root('r', make)]);
  expect(one).toBe(two);
  expect(made).toBe(2);
  expect(await vat.root('s', make)).not.toBe(one);
});

test('closed vats take no more messages, break waiting ones, and open no new vat', async () => {
  const log = await vat.spawn(Log([]));
  const waiting = expect(E(log).add(1)).rejects.toMatchObject({ code: 'vat-halted' });
  await vats.close();
  await waiting;
  await expect(E(log).all()).rejects.toMatchObject({ code: 'vat-halted' });
  expect(() => vats.vat('new')).toThrow(expect.objectContaining({ code: 'vat-halted' }));
  await vats.close();
});

test('an observer that throws harms no turn', async () => {
  await vats.close();
  const thrown: unknown[] = [];
  const listener = (error: unknown): void => void thrown.push(error);
  const before = process.listeners('uncaughtException');
  process.removeAllListeners('uncaughtException').on('uncaughtException', listener);
  try {
    vats = await openVats({
      observe: () => {
        throw new Error('observer');
      },
    });
    onTestFinished(() => vats.close());
    expect(await vats.vat('a').turn(() => 1)).toBe(1);
    await new Promise((done) => setImmediate(done));
  } finally {
    process.removeListener('uncaughtException', listener);
    for (const one of before) process.on('uncaughtException', one);
  }
  expect(thrown).toHaveLength(1);
});

test('a sturdyref restores its reference, until it is revoked; unknown and revoked look alike', async () => {
  const log = await vat.spawn(Log([]));
  const secret = await vats.sturdyref(log);
  expect(secret).toMatch(/^hob1_[a-z2-7]{52}$/);
  expect(await vats.sturdyref(log)).not.toBe(secret);
  expect(await vats.restore(secret)).toBe(log);
  const refusal = async (what: unknown): Promise<unknown> =>
    vats.restore(what as string).then(String, (error: Error) => error.message);
  await vats.revokeSturdyref(secret);
  const revoked = await refusal(secret);
  expect(await refusal('hob1_unknown')).toBe(revoked);
  expect(await refusal({ toString: () => secret })).toBe(revoked);
  expect(await refusal(hashSecret(secret))).toBe(revoked);
  expect(revoked).not.toContain(secret);
  await expect(vats.sturdyref({} as Far<unknown>)).rejects.toMatchObject({ code: 'invalid' });
});

test('trace prints one story: what led to a turn and what it led to, nothing else', async () => {
  const log = await vat.spawn(Log([]));
  const other = await vats.vat('b').spawn(Log([]));
  records.length = 0;
  await E(log).tell(other, 1);
  await E(log).tell(other, 2);
  await vat.turn(() => E(other).all());
  const [first] = records as [TurnRecord];
  const told = records.find((turn) => turn.cause === first.seq) as TurnRecord;
  const lines = trace(records, told.seq).split('\n');
  expect(lines).toEqual([
    expect.stringMatching(/^#\d+ a: host -> Log#1\.tell {2}\d+\.\d\d ms$/),
    expect.stringMatching(/^ {2}#\d+ b: Log#1 -> Log#1\.add/),
  ]);
  expect(trace(records, first.seq)).toBe(trace(records, told.seq));
  expect(trace(records, 1e9)).toBe('');
});

test('trace leaves out siblings above, shows all below, and does not fill the stack', () => {
  const record = (seq: number, cause?: number): TurnRecord => ({
    seq,
    vat: 'v',
    ...(cause === undefined ? {} : { cause }),
    to: `A#${seq}`,
    method: seq === 4 ? '' : 'm',
    code: seq === 4 ? 'denied' : 'ok',
    ms: 1,
  });
  const records = [record(1), record(2, 1), record(3, 1), record(4, 2), record(5, 2)];
  expect(
    trace(records, 2)
      .split('\n')
      .map((line) => line.replace(/ {2}1\.00.*?( {2}!.*)?$/, '$1')),
  ).toEqual([
    '#1 v: host -> A#1.m',
    '  #2 v: host -> A#2.m',
    '    #4 v: host -> A#4()  ! denied',
    '    #5 v: host -> A#5.m',
  ]);
  const long = Array.from({ length: 20_000 }, (_, i) => record(i + 1, i === 0 ? undefined : i));
  expect(trace(long, 20_000).length).toBeGreaterThan(20_000);
});
