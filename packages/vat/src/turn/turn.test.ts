/** A turn is a transaction: it happens completely, or leaves one broken promise. */
import { expect, test } from 'vitest';
import { openForEachTest } from '../../test/opened.ts';
import { hasPassed } from '../forwarder.ts';
import {
  attempt,
  CapError,
  type Definition,
  define,
  E,
  type Far,
  promise,
  spawn,
  type Table,
  type TurnRecord,
  table,
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
}
const Log: Definition<Log, [all: readonly unknown[]]> = define('Log', (bcom, all) => ({
  add: (x) => bcom(Log([...all, x]), all.length),
  all: () => all,
}));

async function stage(): Promise<{ near: Far<Log>; far: Far<Log>; rows: Far<Rows> }> {
  return {
    near: await vat.spawn(Log([])),
    far: await vats.vat('b').spawn(Log([])),
    rows: await vat.turn(() => spawn(Rows(table()))),
  };
}
interface Rows {
  set(key: string, value: number): void;
  all(): readonly (readonly [string, number])[];
}
const Rows: Definition<Rows, [rows: Table<number>]> = define('Rows', (_bcom, rows) => ({
  set: (key, value) => rows.set(key, value),
  all: () => [...rows.entries()],
}));

interface Doer {
  everything(near: Log, far: Far<Log>, rows: Rows, then: string): string;
  count(): number;
}
let leaked: { readonly log: Log; readonly answer: Promise<unknown>; readonly pledge: Promise<unknown> } | undefined;
const Doer: Definition<Doer, [count: number]> = define('Doer', (bcom, count) => ({
  everything: (near, far, rows, then) => {
    near.add('near');
    rows.set('k', count);
    const log = spawn(Log([]));
    const answer = E(far).add('far');
    const { promise: pledge, resolver } = promise<number>();
    resolver.resolve(1);
    E.sendOnly(log).add('spawned');
    leaked = { log, answer, pledge };
    if (then === 'throw') throw new RangeError('no');
    return bcom(Doer(count + 1), 'done');
  },
  count: () => count,
}));

test('a turn that throws drops every become, table write, spawn, send and resolution, and breaks one promise', async () => {
  const { near, far, rows } = await stage();
  const doer = await vat.spawn(Doer(0));
  const used = vats.meter('a').used();
  const before = records.length;
  await expect(E(doer).everything(near, far, rows, 'throw')).rejects.toThrow('no');
  expect(records.slice(before).map((turn) => turn.code)).toEqual(['error']);
  const { log, answer, pledge } = leaked as NonNullable<typeof leaked>;
  await expect(E(log).all()).rejects.toMatchObject({ code: 'no-such-object' });
  await expect(answer).rejects.toThrow('no');
  await expect(pledge).rejects.toThrow('no');
  expect([await E(near).all(), await E(far).all(), await E(rows).all(), await E(doer).count()]).toEqual([
    [],
    [],
    [],
    0,
  ]);
  const { turnMs: _, ...after } = vats.meter('a').used();
  const { turnMs: __, ...was } = used;
  expect(after).toEqual(was);
});

test('a turn that commits keeps it all, and sends in the order it sent', async () => {
  const { near, far, rows } = await stage();
  const doer = await vat.spawn(Doer(0));
  expect(await E(doer).everything(near, far, rows, 'commit')).toBe('done');
  const { log, answer, pledge } = leaked as NonNullable<typeof leaked>;
  expect([await answer, await pledge]).toEqual([0, 1]);
  expect([
    await E(near).all(),
    await E(far).all(),
    await E(rows).all(),
    await E(doer).count(),
    await E(log).all(),
  ]).toEqual([['near'], ['far'], [['k', 0]], 1, ['spawned']]);
});

test('the next message runs from the old state', async () => {
  const doer = await vat.spawn(Doer(5));
  const { near, far, rows } = await stage();
  const failing = E(doer).everything(near, far, rows, 'throw');
  const next = E(doer).count();
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe(5);
});

test('nothing is sent before the turn is over', async () => {
  const far = await vats.vat('b').spawn(Log([]));
  await vat.turn(() => {
    E.sendOnly(far).add(1);
    E.sendOnly(far).add(2);
    expect(records.filter((turn) => turn.to.startsWith('Log'))).toEqual([]);
  });
  expect(await vat.turn(() => E(far).all())).toEqual([1, 2]);
});

test('an error caught inside a turn rolls nothing back', async () => {
  const seen = await vat.turn(() => {
    const log = spawn(Log([]));
    try {
      log.add(1);
      throw new Error('caught');
    } catch {
      log.add(2);
    }
    return log.all();
  });
  expect(seen).toEqual([1, 2]);
});

test('attempt is a savepoint: what it did is undone, what was before stays, and they nest', async () => {
  const { far } = await stage();
  const seen = await vat.turn(() => {
    const log = spawn(Log([]));
    const rows = table<number>();
    let spawned: Log | undefined;
    const fail = (body: () => void): void => {
      expect(() =>
        attempt(() => {
          body();
          throw new Error('undo');
        }),
      ).toThrow('undo');
    };
    log.add('before');
    rows.set('k', 1);
    fail(() => {
      log.add('x');
      rows.set('k', 2);
      rows.delete('k');
      spawned = spawn(Log([]));
      E.sendOnly(far).add('never');
      fail(() => log.add('y'));
      expect(log.all()).toEqual(['before', 'x']);
      attempt(() => log.add('z'));
      expect(log.all()).toEqual(['before', 'x', 'z']);
    });
    expect(() => spawned?.all()).toThrow(/undone/);
    E.sendOnly(far).add('sent');
    expect(attempt(() => log.add('after'))).toBe(1);
    fail(() => log.add('again'));
    return [log.all(), rows.get('k')];
  });
  expect(seen).toEqual([['before', 'after'], 1]);
  expect(await vat.turn(() => E(far).all())).toEqual(['sent']);
});

test('attempt with an asynchronous body is undone and refused', async () => {
  const seen = await vat.turn(() => {
    const log = spawn(Log([]));
    expect(() => attempt(async () => log.add(1))).toThrow(CapError);
    return log.all();
  });
  expect(seen).toEqual([]);
});

test('recursion that fills the stack, through attempts at every depth, leaves nothing behind', async () => {
  const Deep: Definition<{ down(): number; count(): number; tell(): number }, [count: number]> = define(
    'Deep',
    (bcom, count) => ({
      down: () =>
        bcom(
          Deep(count + 1),
          attempt(() => bcom.self.tell() + bcom.self.down()),
        ),
      tell: () => bcom(Deep(count + 1), 0),
      count: () => count,
    }),
  );
  const far = await vat.spawn(Deep(0));
  await expect(E(far).down()).rejects.toBeDefined();
  expect(await E(far).count()).toBe(0);
  expect(await E(far).tell()).toBe(0);
  expect(await E(far).count()).toBe(1);
});

test('turn records say who caused what: sequence, sender, receiver, method, code', async () => {
  const Sender: Definition<{ send(to: Far<Log>): void }, []> = define('Sender', () => ({
    send: (to) => {
      E.sendOnly(to).add('x');
      (E.sendOnly(to) as unknown as { nope(): void }).nope();
    },
  }));
  const log = await vats.vat('b').spawn(Log([]));
  const sender = await vat.spawn(Sender());
  records.length = 0;
  await E(sender).send(log);
  await vat.turn(() => E(log).all());
  const [first, ...others] = records;
  expect(first).toMatchObject({ vat: 'a', to: expect.stringMatching(/^Sender#/), method: 'send', code: 'ok' });
  expect('cause' in (first as object)).toBe(false);
  expect('from' in (first as object)).toBe(false);
  expect(others.slice(0, 2)).toMatchObject([
    { cause: first?.seq, from: first?.to, vat: 'b', method: 'add', code: 'ok' },
    { cause: first?.seq, from: first?.to, vat: 'b', method: 'nope', code: 'no-such-method' },
  ]);
  expect(records.every((turn, i) => i === 0 || turn.seq > (records[i - 1] as TurnRecord).seq)).toBe(true);
  expect(records.every((turn) => Object.isFrozen(turn) && turn.ms >= 0)).toBe(true);
});

test('spawn, table, attempt and become outside a turn say where they work', () => {
  for (const run of [() => spawn(Log([])), () => table(), () => attempt(() => 1)])
    expect(run).toThrow(expect.objectContaining({ code: 'not-callable' }));
});

test('a deadline has passed if either clock has reached it, or if it is no number', async () => {
  const never = Number.POSITIVE_INFINITY;
  const passed = (vatMs: number, wall: number) => vat.turn(() => hasPassed({ vat: vatMs, wall }));
  expect(await passed(never, never)).toBe(false);
  for (const reached of [0, Number.NaN])
    expect([await passed(reached, never), await passed(never, reached)]).toEqual([true, true]);
});
