/** A crash, a slow disk, a full disk or a hostile program against a durable vat. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { spawn } from '../actor/actor.ts';
import { table } from '../actor/table.ts';
import { CapError } from '../core/errors.ts';
import type { AnyDefinition, Definition, Far, Outcome, Table } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { promise } from '../eventual/resolver.ts';
import { verifyLedger } from '../ledger/verify.ts';
import { diskOf } from '../store/disk.ts';
import { engineOn, makeEngine } from '../store/engine.ts';
import { memoryRows } from '../store/memory.ts';
import { Full, type Rows } from '../store/rows.ts';
import { sqliteRows } from '../store/sqlite.ts';
import { openStore, type Store, storeOf } from '../store/store.ts';
import { testClock } from '../testing/test-clock.ts';
import { driver } from '../turn/driver.ts';
import { define } from '../turn/portrait.ts';
import { attempt, ledgerLine, under } from '../turn/turn.ts';
import type { Vats, VatsOptions } from '../vats/interface.ts';
import { openVats, openVatsThrough } from '../vats/vats.ts';
import type { Commit } from './output-commit.ts';

interface Log {
  add(what: unknown): void;
  all(): readonly unknown[];
  fail(): void;
}
const Log: Definition<Log, [said: readonly unknown[]]> = define('Log', (bcom, said) => ({
  add: (what) => bcom(Log([...said, what])),
  all: () => said,
  fail: () => {
    throw new RangeError('no');
  },
}));
interface Holder {
  keep(what: unknown): void;
  kept(): object;
}
const Holder: Definition<Holder, [held: unknown]> = define('Holder', (bcom, held) => ({
  keep: (what) => bcom(Holder(what)),
  kept: () => held as object,
}));
interface Rowed {
  set(key: string, value: unknown): void;
  get(key: string): unknown;
  keys(): readonly string[];
}
const Rowed: Definition<Rowed, [rows: Table<unknown>]> = define('Rowed', (_bcom, rows) => ({
  set: (key, value) => rows.set(key, value),
  get: (key) => rows.get(key),
  keys: () => [...rows.entries()].map(([key]) => key),
}));
interface Waiter {
  wait(for_: unknown): void;
  /** Hears what becomes of a message to each. */
  ask(whom: readonly unknown[]): void;
  woken(outcome: Outcome, note: unknown): void;
  heard(): readonly string[];
}
const Waiter: Definition<Waiter, [heard: readonly string[]]> = define('Waiter', (bcom, heard) => ({
  wait: (on) => E.to(bcom.self, 'woken', 'note').on(on as Promise<unknown>),
  ask(whom) {
    for (const one of whom) E.to(bcom.self, 'woken', 'asked').on(E(one as Far<Log>).all());
  },
  woken: (outcome, note) => bcom(Waiter([...heard, `${outcome.ok ? 'ok' : outcome.code} ${note}`])),
  heard: () => heard,
}));
const all: readonly AnyDefinition[] = [Log, Holder, Rowed, Waiter];

/**
 * A store that many processes open, one after the other. `dies` ends the vats like a kill: nothing more
 * reaches the disk.
 */
function machine(definitions: readonly AnyDefinition[] = all) {
  const folder = join(mkdtempSync(join(tmpdir(), 'hob-attack-')), 'state');
  mkdirSync(folder);
  let last: { vats: Vats; store: Store } | undefined;
  const down = async (): Promise<void> => {
    await last?.vats.close();
    await last?.store.close();
    last = undefined;
  };
  onTestFinished(async () => {
    await down();
    rmSync(dirname(folder), { recursive: true });
  });
  return {
    folder,
    down,
    async boot(
      other: Partial<VatsOptions> = {},
      through: (commit: Commit) => Commit = (commit) => commit,
    ): Promise<Vats> {
      await down();
      const store = await openStore({ path: folder });
      try {
        last = { vats: await openVatsThrough({ store, definitions, ...other }, through), store };
      } catch (error) {
        await store.close();
        throw error;
      }
      return last.vats;
    },
  };
}

/** A disk whose writes complete when the test says so, and that can lose them. */
function slow() {
  const waiting: ((lose?: boolean) => void)[] = [];
  let held = false;
  const done = (lose = false): void => {
    for (const one of waiting.splice(0)) one(lose);
  };
  const free = (): void => {
    held = false;
    done();
  };
  return {
    hold: () => void (held = true),
    /** Completes the pending write. */
    done,
    free,
    through(commit: Commit): Commit {
      onTestFinished(free);
      return (writes, finished) => {
        if (!held) return commit(writes, finished);
        waiting.push((lose) => (lose === true ? finished(new Error('EIO')) : commit(writes, finished)));
      };
    },
  };
}

const turns = async (count = 5): Promise<void> => {
  for (let i = 0; i < count; i += 1) await new Promise(setImmediate);
};
async function outcomeOf(asked: Promise<unknown>): Promise<string> {
  let said = 'waits';
  asked.then(
    () => (said = 'answered'),
    (error: { code?: string }) => (said = error.code ?? 'broken'),
  );
  await turns();
  return said;
}

test('nothing reaches the host program before the disk: answers, read-only answers, leaked promises, promises asked late', async () => {
  const disk = slow();
  const { boot } = machine();
  const vats = await boot({}, disk.through);
  const log = await vats.vat('v').root('log', () => Log([]));
  disk.hold();
  let leaked: Promise<unknown> | undefined;
  const asked = {
    answer: E(log).add(1),
    readOnly: E(log).all(),
    failed: E(log).fail(),
    turn: vats.vat('v').turn(() => {
      leaked = E(log).all();
      return 1;
    }),
    pipelined: E(E(log).add(2) as unknown as Far<Log>).all(),
    peek: vats.vat('v').peek(() => 1),
    when: E.when(E(log).all(), () => 1),
    spawn: vats.vat('w').spawn(Log([])),
  };
  await turns();
  const settled = vats.settled();
  const said: string[] = [];
  for (const one of [...Object.values(asked), leaked as Promise<unknown>, settled]) said.push(await outcomeOf(one));
  expect(new Set(said)).toEqual(new Set(['waits']));
  disk.free();
  await turns();
  disk.free();
  expect(await asked.readOnly).toEqual([1]);
  await expect(asked.failed).rejects.toThrow(/no/);
  await expect(asked.pipelined).rejects.toMatchObject({ code: 'not-callable' });
  expect(await leaked).toEqual([1, 2]);
});

test('a promise that a turn resolved is not known outside before that turn is durable, however it is asked', async () => {
  const disk = slow();
  const { boot } = machine();
  const vats = await boot({}, disk.through);
  const log = await vats.vat('v').root('log', () => Log([]));
  const first = promise<number>();
  const second = promise<unknown>();
  const hostMade = promise<number>();
  disk.hold();
  const linked = vats.vat('v').turn(() => {
    (log as unknown as Log).add('x');
    first.resolver.resolve(7);
    return hostMade.promise;
  });
  await turns();
  // The host resolved it, but the fact that it is this turn's answer is not durable.
  hostMade.resolver.resolve(8);
  // A host promise that resolves to one whose outcome is not durable.
  second.resolver.resolve(first.promise);
  const outcomes = [linked, first.promise, second.promise, E.when(first.promise, (value) => value)];
  for (const one of outcomes) expect(await outcomeOf(one)).toBe('waits');
  disk.free();
  expect(await Promise.all(outcomes)).toEqual([8, 7, 7, 7]);
});

test('a driver chosen by a turn that is not durable is not called, also by the host through a promise', async () => {
  const disk = slow();
  const { boot } = machine();
  const vats = await boot({}, disk.through);
  const log = await vats.vat('v').root('log', () => Log([]));
  const called: string[] = [];
  const outside = driver<{ act(how: string): string; look(): string }>(
    {
      act([how]) {
        called.push(how);
        return how;
      },
      look() {
        called.push('look');
        return 'seen';
      },
    },
    { reads: ['look'] },
  );
  disk.hold();
  const chosen = promise<object>();
  const pipelined = (E(chosen.promise) as unknown as { act(how: string): Promise<string> }).act('pipelined');
  const looked = vats.vat('v').turn(() => {
    (log as unknown as Log).add('x');
    chosen.resolver.resolve(outside as unknown as object);
    E.sendOnly(outside).act('sent');
    return E(outside).look();
  });
  await turns();
  // A read runs ahead of the disk; its result does not leave before it.
  expect(called).toEqual(['look']);
  expect(await outcomeOf(looked)).toBe('waits');
  expect(await outcomeOf(pipelined)).toBe('waits');
  disk.free();
  expect([await looked, await pipelined]).toEqual(['seen', 'pipelined']);
  expect(called).toEqual(['look', 'pipelined', 'sent']);
});

test('a commit that fails: what waited breaks, nothing of it leaves, and the vats go on from what is durable', async () => {
  const disk = slow();
  const { boot } = machine();
  const vats = await boot({}, disk.through);
  const log = await vats.vat('v').root('log', () => Log([]));
  await E(log).add('durable');
  const called: unknown[] = [];
  const outside = driver<{ act(): void }>({ act: () => void called.push(1) });
  const told: string[] = [];
  const stop = vats.onLoss((why) => told.push(why.code));
  disk.hold();
  const lost = E(log).add('lost');
  const sent = vats.vat('v').turn(() => E(outside).act());
  await turns();
  const behind = E(log).all();
  await turns();
  disk.done(true);
  for (const one of [lost, sent, behind]) await expect(one).rejects.toMatchObject({ code: 'unknown-outcome' });
  expect(told).toEqual(['unknown-outcome']);
  stop();
  disk.free();
  expect(await E(log).all()).toEqual(['durable']);
  await E(log).add('after');
  expect(await vats.vat('new').turn(() => 1)).toBe(1);
  await vats.settled();
  expect(called).toEqual([]);
  const again = await (await boot()).vat('v').root('log', () => Log(['new']));
  expect(await E(again).all()).toEqual(['durable', 'after']);
});

/** A disk of SQLite that fails when the test says so. */
function frail(folder: string) {
  const frailty = { broken: false, gone: false, full: false };
  const disk = diskOf(() => {
    if (frailty.gone) throw new Error('no such device');
    const rows = sqliteRows(folder);
    return {
      ...rows,
      append(...given: Parameters<Rows['append']>) {
        if (frailty.broken) throw new Error('EIO');
        if (frailty.full) throw new Full();
        rows.append(...given);
      },
      release() {
        frailty.full = false;
        return rows.release();
      },
      refill: () => !frailty.full,
    };
  });
  return { frailty, store: storeOf(engineOn(disk)) };
}

test('a disk that says EIO once is opened again, and nothing that was acknowledged is missing', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'hob-attack-')), 'state');
  mkdirSync(folder);
  onTestFinished(() => rmSync(dirname(folder), { recursive: true, force: true }));
  const { frailty, store } = frail(folder);
  const vats = await openVats({ store, definitions: all });
  const log = await vats.vat('v').root('log', () => Log([]));
  await E(log).add('one');
  frailty.broken = true;
  const lost = E(log).add('two');
  await expect(lost).rejects.toMatchObject({ code: 'unknown-outcome' });
  await expect(E(log).add('three')).rejects.toMatchObject({ code: 'unknown-outcome' });
  frailty.broken = false;
  await E(log).add('four');
  expect(await E(log).all()).toEqual(['one', 'four']);
  expect(await verifyLedger(store)).toMatchObject({ ok: true });
  // A store that cannot be reopened ends the vats: nobody knows its contents.
  frailty.broken = true;
  frailty.gone = true;
  await expect(E(log).add('five')).rejects.toMatchObject({ code: 'unknown-outcome' });
  await expect(E(log).all()).rejects.toMatchObject({ code: 'vat-halted' });
  await expect(vats.vat('new').turn(() => 1)).rejects.toMatchObject({ code: 'vat-halted' });
  await vats.close();
  await store.close();
  const later = await openStore({ path: folder });
  const again = await openVats({ store: later, definitions: all });
  expect(await E(await again.vat('v').root('log', () => Log([]))).all()).toEqual(['one', 'four']);
  await again.close();
  await later.close();
});

test('a full disk refuses each turn that writes, before it happens; what ends authority is taken; with room again all goes on', async () => {
  const folder = join(mkdtempSync(join(tmpdir(), 'hob-attack-')), 'state');
  mkdirSync(folder);
  onTestFinished(() => rmSync(dirname(folder), { recursive: true, force: true }));
  const { frailty, store } = frail(folder);
  const clock = testClock();
  const vats = await openVats({ store, definitions: all, clock });
  const log = await vats.vat('v').root('log', () => Log([]));
  const far = await vats.vat('w').root('log', () => Log([]));
  await E(log).add('kept');
  frailty.full = true;
  // The first turn to meet the full disk gets `unknown-outcome`; later ones are refused before they run.
  await expect(E(log).add('met it')).rejects.toMatchObject({ code: 'unknown-outcome' });
  await expect(E(log).add('later')).rejects.toMatchObject({ code: 'unavailable' });
  await expect(vats.sturdyref(log)).rejects.toMatchObject({ code: 'unavailable' });
  expect(await E(log).all()).toEqual(['kept']);
  const revoking = vats.vat('v').turn(() => {
    ledgerLine('revoke', { grant: 'g1' });
    (log as unknown as Log).add('revoked');
    E.sendOnly(far as unknown as Log).add('told');
  });
  await revoking;
  await expect(E(log).add('still full')).rejects.toMatchObject({ code: 'unavailable' });
  expect([await E(log).all(), await E(far).all()]).toEqual([['kept', 'revoked'], []]);
  clock.advance(2000);
  // It looks again when somebody asks; the message that could not be taken then is on its way again.
  await expect(E(log).add('asks')).rejects.toMatchObject({ code: 'unavailable' });
  await E(log).add('room');
  await vats.settled();
  expect([await E(log).all(), await E(far).all()]).toEqual([['kept', 'revoked', 'room'], ['told']]);
  expect(await verifyLedger(store)).toMatchObject({ ok: true });
  await vats.close();
  await store.close();
  const later = await openStore({ path: folder });
  const again = await openVats({ store: later, definitions: all });
  expect(await E(await again.vat('v').root('log', () => Log([]))).all()).toEqual(['kept', 'revoked', 'room']);
  expect(await E(await again.vat('w').root('log', () => Log([]))).all()).toEqual(['told']);
  await again.close();
  await later.close();
});

test('closing in good order loses no message that was on its way', async () => {
  const { boot } = machine();
  const vats = await boot();
  const log = await vats.vat('v').root('log', () => Log([]));
  await vats.vat('w').turn(() => {
    for (let i = 0; i < 50; i += 1) E.sendOnly(log as unknown as Log).add(i);
  });
  // The answer of that turn came before the messages were delivered, or after some of them.
  const again = await (await boot()).vat('v').root('log', () => Log([]));
  expect(await E(again).all()).toEqual(Array.from({ length: 50 }, (_, i) => i));
});

test('a vat that the program halts consumes what is on its way to it: who was told so is not contradicted by a restart', async () => {
  const { boot } = machine();
  const vats = await boot();
  const log = await vats.vat('v').root('log', () => Log([]));
  vats.vat('v').halt();
  await expect(vats.vat('w').turn(() => E(log).add(1))).rejects.toMatchObject({ code: 'vat-halted' });
  await vats.settled();
  const again = await (await boot()).vat('v').root('log', () => Log([]));
  expect(await E(again).all()).toEqual([]);
});

test('messages that were on their way come back in order, with what ended with the process broken as restarted', async () => {
  const { boot } = machine();
  const vats = await boot();
  const log = await vats.vat('v').root('log', () => Log([]));
  const waiter = await vats.vat('v').root('waiter', () => Waiter([]));
  const fleeting = driver<{ act(): void }>({ act: () => {} });
  const never = promise<unknown>();
  const known = promise<unknown>();
  known.resolver.resolve(log);
  await turns();
  await vats
    .vat('w')
    .turn(() => {
      E.sendOnly(log as unknown as Log).add(1);
      E.sendOnly(waiter as unknown as Waiter).ask([fleeting, never.promise, known.promise]);
      E.sendOnly(log as unknown as Log).add(2);
      // Closed now: this turn still commits, and none of what it sent is delivered here.
      void vats.close();
    })
    .catch(() => {});
  const later = await boot();
  expect(await E(await later.vat('v').root('log', () => Log([]))).all()).toEqual([1, 2]);
  await turns();
  const heard = await E(await later.vat('v').root('waiter', () => Waiter([]))).heard();
  expect([...heard].sort()).toEqual(['ok asked', 'restarted asked', 'restarted asked']);
});

test('a message that waited at a promise keeps its place before those that were sent after, and is there after a crash', async () => {
  const { boot } = machine();
  const vats = await boot();
  const log = await vats.vat('v').root('log', () => Log([]));
  const where = promise<object>();
  await vats.vat('w').turn(() => E.sendOnly(where.promise as never as Log).add('first'));
  await vats
    .vat('w')
    .turn(() => {
      where.resolver.resolve(log as unknown as object);
      E.sendOnly(log as unknown as Log).add('second');
      void vats.close();
    })
    .catch(() => {});
  const again = await (await boot()).vat('v').root('log', () => Log([]));
  expect(await E(again).all()).toEqual(['first', 'second']);
});

test('a failed turn consumes its message', async () => {
  const { boot } = machine();
  let vats = await boot();
  const log = await vats.vat('v').root('log', () => Log([]));
  let failures = 0;
  await vats.vat('w').turn(() => E.sendOnly(log as unknown as Log).fail());
  await turns();
  await vats.settled();
  vats = await boot({ observe: ({ method, code }) => void (method === 'fail' && code !== 'ok' && (failures += 1)) });
  await turns();
  expect(failures).toBe(0);
});

test('a message that was cut on its way is not delivered after a restart either', async () => {
  const { boot } = machine();
  const vats = await boot();
  const log = await vats.vat('v').root('log', () => Log([]));
  await vats
    .vat('w')
    .turn(() => {
      under('grant-1', () => E.sendOnly(log as unknown as Log).add('cut'));
      under('grant-2', () => E.sendOnly(log as unknown as Log).add('live'));
      void vats.cut('grant-1', new CapError('revoked', 'it was revoked'));
      void vats.close();
    })
    .catch(() => {});
  for (let i = 0; i < 2; i += 1) {
    const again = await (await boot()).vat('v').root('log', () => Log([]));
    expect(await E(again).all()).toEqual(['live']);
  }
});

test('E.to: settled in the same turn, after a crash, and never twice', async () => {
  const { boot } = machine();
  let vats = await boot();
  const known = await vats.vat('v').root('known', () => Waiter([]));
  await E(known).wait('data at once');
  const lost = await vats.vat('v').root('lost', () => Waiter([]));
  const never = promise<unknown>();
  await E(lost).wait(never.promise);
  await E(lost).wait(never.promise);
  await vats.settled();
  for (let i = 0; i < 3; i += 1) {
    vats = await boot();
    expect(await E(await vats.vat('v').root('known', () => Waiter([]))).heard()).toEqual(['ok note']);
    expect(await E(await vats.vat('v').root('lost', () => Waiter([]))).heard()).toEqual([
      'restarted note',
      'restarted note',
    ]);
  }
});

test('an undone part of a turn leaves no row, no message and no wait; a reference to what it made is a dead one', async () => {
  const { boot } = machine();
  const vats = await boot();
  const log = await vats.vat('v').root('log', () => Log([]));
  const rowed = await vats.vat('v').root('rowed', () => Rowed(table()));
  const holder = await vats.vat('v').root('holder', () => Holder(null));
  await vats.vat('v').turn(() => {
    let made: object | undefined;
    (rowed as unknown as Rowed).set('kept', 1);
    try {
      attempt(() => {
        made = spawn(Log(['never']));
        (rowed as unknown as Rowed).set('kept', 2);
        (rowed as unknown as Rowed).set('gone', 2);
        E.sendOnly(log as unknown as Log).add('never');
        throw new Error('undone');
      });
    } catch {}
    (holder as unknown as Holder).keep(made);
  });
  const later = await boot();
  const vat = later.vat('v');
  expect(await E(await vat.root('log', () => Log([]))).all()).toEqual([]);
  const again = await vat.root('rowed', () => Rowed(table()));
  expect([await E(again).keys(), await E(again).get('kept')]).toEqual([['kept'], 1]);
  // The holder of the reference survives, and can continue.
  const dead = await vat.root('holder', () => Holder(null));
  await expect(E((await E(dead).kept()) as never as Far<Log>).all()).rejects.toMatchObject({ code: 'no-such-object' });
  await E(dead).keep([await E(dead).kept()]);
  await E(dead).keep('fine');
  expect(await E(dead).kept()).toBe('fine');
});

test('an upgrade that spawns is written with what it made, or not at all; one that fails can be tried again', async () => {
  const { boot, down } = machine([Log]);
  await E(await (await boot()).vat('v').root('log', () => Log([]))).add('old');
  await down();
  let refuses = true;
  interface Book extends Log {
    diary(): Log;
    failAfter(): void;
  }
  const Diary: Definition<Log, [said: readonly unknown[]]> = define('Diary', (bcom, said) => ({
    add: (what) => bcom(Diary([...said, what])),
    all: () => said,
    fail: () => {},
  }));
  const Book: Definition<Book, [said: readonly unknown[], diary: Log]> = define(
    'Log',
    (bcom, said, diary) => ({
      add: (what) => bcom(Book([...said, what], diary)),
      all: () => said,
      fail: () => {},
      diary: () => diary,
      failAfter: () => {
        throw new RangeError('undone');
      },
    }),
    {
      version: 1,
      upgrade: {
        0: (said: never) => {
          const diary = spawn(Diary([]));
          if (refuses) throw new RangeError('not yet');
          return [said, diary] as [readonly unknown[], Log];
        },
      },
    },
  );
  const make = (): ReturnType<typeof Book> => Book([], spawn(Diary([])));
  let book = await (await boot({ definitions: [Book, Diary] })).vat('v').root('log', make);
  await expect(E(book).all()).rejects.toThrow(/not yet/);
  refuses = false;
  // A turn that fails puts it back to sleep, with its diary undone.
  await expect(E(book).failAfter()).rejects.toThrow(/undone/);
  await E(E(book).diary()).add('page');
  book = await (await boot({ definitions: [Book, Diary] })).vat('v').root('log', make);
  expect(await E(E(book).diary()).all()).toEqual(['page']);
  expect(await E(book).all()).toEqual(['old']);
});

test('a definition that got a method is near with it, though its actors were written without', async () => {
  const { boot } = machine([Log, Holder]);
  const vats = await boot();
  const log = await vats.vat('v').root('log', () => Log(['a']));
  await vats.vat('v').root('holder', () => Holder(log));
  const More: Definition<Log & { size(): number }, [said: readonly unknown[]]> = define('Log', (bcom, said) => ({
    add: (what) => bcom(More([...said, what])),
    all: () => said,
    fail: () => {},
    size: () => said.length,
  }));
  const later = await boot({ definitions: [More, Holder] });
  const holder = await later.vat('v').root('holder', () => Holder(null));
  expect(
    await later.vat('v').turn(() => ((holder as unknown as Holder).kept() as unknown as { size(): number }).size()),
  ).toBe(1);
});

test('actors of two versions back are not forgotten: a program that cannot upgrade them is refused at open', async () => {
  const one: Definition<object, []> = define('Kind', () => ({ a: () => 1 }));
  const two: Definition<object, []> = define('Kind', () => ({ a: () => 2 }), { version: 1, upgrade: { 0: () => [] } });
  const three: Definition<object, []> = define('Kind', () => ({ a: () => 3 }), {
    version: 2,
    upgrade: { 1: () => [] },
  });
  const { boot, down } = machine();
  await (await boot({ definitions: [one] })).vat('v').root('first', () => one());
  await (await boot({ definitions: [two] })).vat('v').root('second', () => two());
  await down();
  await expect(boot({ definitions: [three] })).rejects.toThrow(/version 0.*upgrade\[0\]/);
});

test('vats, roots and rows may be called anything that is text; what is not Unicode is refused, not confused', async () => {
  const names = ['a/b', '%2F', 'é🙂', 'nul\0', ' ', '__proto__', 'constructor', 'x'.repeat(3000), 'a/b/c', '.', '..'];
  const { boot } = machine();
  let vats = await boot();
  for (const name of names) {
    const rowed = await vats.vat(name).root(name, () => Rowed(table()));
    for (const key of names) await E(rowed).set(key, [name, key]);
  }
  await expect(E(await vats.vat('a/b').root('a/b', () => Rowed(table()))).set('\ud800', 1)).rejects.toMatchObject({
    code: 'invalid',
  });
  expect(() => vats.vat('\ud800')).toThrow(CapError);
  vats = await boot();
  for (const name of names) {
    const rowed = await vats.vat(name).root(name, () => Rowed(table()));
    expect(new Set(await E(rowed).keys())).toEqual(new Set(names));
    for (const key of names) expect(await E(rowed).get(key)).toEqual([name, key]);
  }
});

test('data that would grow beyond measure when it is written fails its turn, not the store', async () => {
  const { boot } = machine();
  const vats = await boot();
  const log = await vats.vat('v').root('log', () => Log([]));
  let shared: unknown = 'x'.repeat(100);
  for (let i = 0; i < 60; i += 1) shared = [shared, shared];
  await expect(E(log).add(shared)).rejects.toMatchObject({ code: 'limit' });
  await expect(vats.vat('w').turn(() => E(log).add(shared))).rejects.toMatchObject({ code: 'limit' });
  await E(log).add('fine');
  expect(await E(log).all()).toEqual(['fine']);
});

test('a reference of another store has no name in this one', async () => {
  const { boot } = machine();
  const vats = await boot();
  const holder = await vats.vat('v').root('holder', () => Holder(null));
  const otherStore = storeOf(makeEngine(memoryRows()));
  const other = await openVats({ store: otherStore, definitions: all });
  const stranger = await other.vat('v').root('log', () => Log(['secret']));
  await expect(E(holder).keep(stranger)).rejects.toMatchObject({ code: 'invalid' });
  expect(await E(holder).kept()).toBe(null);
  await other.close();
  await otherStore.close();
});

test('a message to another store waits for the disk of the one it leaves', async () => {
  const disk = slow();
  const { boot } = machine();
  const vats = await boot({}, disk.through);
  const log = await vats.vat('v').root('log', () => Log([]));
  const memory = await openVats();
  const outside = await memory.vat('m').spawn(Log([]));
  disk.hold();
  void vats.vat('v').turn(() => {
    (log as unknown as Log).add('x');
    E.sendOnly(outside as unknown as Log).add('left');
  });
  await turns();
  expect(await E(outside).all()).toEqual([]);
  disk.free();
  await vats.settled();
  expect(await E(outside).all()).toEqual(['left']);
  await memory.close();
});

test('an actor that was collected while its portrait is only in a batch is found again as it was', async () => {
  const disk = slow();
  const { boot } = machine();
  const vats = await boot({}, disk.through);
  const rowed = await vats.vat('v').root('rowed', () => Rowed(table()));
  disk.hold();
  void vats.vat('v').turn(() => {
    (rowed as unknown as Rowed).set('log', spawn(Log(['first'])));
  });
  await turns();
  await collect();
  const read = vats.vat('v').turn(() => ((rowed as unknown as Rowed).get('log') as Log).all());
  await turns();
  disk.free();
  await turns();
  disk.free();
  expect(await read).toEqual(['first']);
});

/** An actor that holds no earlier references. */
async function collect(): Promise<void> {
  for (let i = 0; i < 3; i += 1) {
    (globalThis as { gc?: () => void }).gc?.();
    await turns(2);
  }
}

test('the meter of a vat is the program’s to choose, though the store spoke of the vat first', async () => {
  const { boot } = machine();
  let vats = await boot();
  const log = await vats.vat('v').root('log', () => Log([]));
  await vats.vat('w').root('holder', () => Holder(log));
  vats = await boot();
  expect(
    await E((await E(await vats.vat('w').root('holder', () => Holder(null))).kept()) as never as Far<Log>).all(),
  ).toEqual([]);
  const meter = vats.meter('v', { actors: 1 });
  const vat = vats.vat('v', { meter });
  await vat.spawn(Log([]));
  await expect(vat.spawn(Log([]))).rejects.toMatchObject({ code: 'limit' });
});

test('named drivers: unavailable until it is named, the latest of that name answers, and a turn may not name one', async () => {
  const { boot } = machine();
  const name = `disk-${Math.random()}`;
  interface Disk {
    read(): string;
  }
  let vats = await boot();
  const holder = await vats.vat('v').root('holder', () => Holder(null));
  const first = driver<Disk>({ read: () => 'one' }, { name });
  await E(holder).keep(first);
  vats = await boot();
  const held = (await E(await vats.vat('v').root('holder', () => Holder(null))).kept()) as never as Far<Disk>;
  expect(held).toBe(first);
  driver<Disk>({ read: () => 'two' }, { name });
  expect(await E(held).read()).toBe('two');
  await expect(vats.vat('v').turn(() => void driver<Disk>({ read: () => 'mine' }, { name }))).rejects.toMatchObject({
    code: 'not-callable',
  });
  expect(await E(held).read()).toBe('two');
});

test('a store that is refused gets no line, and opens again', async () => {
  const { boot, down } = machine();
  await (await boot()).vat('v').root('log', () => Log([]));
  await down();
  await expect(boot({ definitions: [Holder] })).rejects.toThrow(/"Log"/);
  expect(await E(await (await boot()).vat('v').root('log', () => Log(['x']))).all()).toEqual([]);
});

test('a ledger line that no ledger takes fails its turn, not the store', async () => {
  const { boot } = machine();
  const vats = await boot();
  const log = await vats.vat('v').root('log', () => Log([]));
  for (const bad of [
    () => ledgerLine('nonsense', {}),
    () => ledgerLine('genesis', {}),
    () => ledgerLine('call', { 'A b': 1 }),
  ]) {
    await expect(vats.vat('v').turn(bad)).rejects.toMatchObject({ code: 'invalid' });
    await expect(
      vats.vat('v').turn(() => {
        bad();
        throw new RangeError('fails besides');
      }),
    ).rejects.toThrow();
  }
  await E(log).add('fine');
  expect(await E(log).all()).toEqual(['fine']);
});
