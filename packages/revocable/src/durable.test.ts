/**
 * Grants that outlive their process: uses, ends, alarms, forwarders. To the store, each boot is a new
 * process.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Definition,
  define,
  driver,
  E,
  exportLedger,
  type Far,
  openStore,
  openVats,
  type Store,
  type Table,
  table,
  type Vats,
  verifyLedger,
} from '@hob/vat';
import { type TestClock, testClock } from '@hob/vat/testing';
import { expect, onTestFinished, test } from 'vitest';
import { Box, code, jobs, say } from '../test/world.ts';
import { definitions, type GrantActor, grantOf, membrane, type Revoker, revocable, type Terms } from './index.ts';

/** A granter's records: the caps that it gave and the way to end them. */
interface Drawer {
  grant(name: string, inner: object, terms: Terms): object;
  wrap(name: string, inner: object): object;
  cap(name: string): object;
  revoke(name: string): Promise<void>;
  state(name: string): { readonly state: string; readonly usesLeft: number | undefined };
  confirm(name: string): void;
  keep(name: string, what: object): void;
}
interface Kept {
  readonly cap: object;
  readonly revoker?: Revoker;
  readonly actor?: GrantActor;
}
const Drawer: Definition<Drawer, [kept: Table<Kept>]> = define('Drawer', (_bcom, kept) => ({
  grant(name, inner, terms) {
    const { cap, revoker, actor } = grantOf(inner, terms);
    kept.set(name, { cap, revoker, actor });
    return cap;
  },
  wrap(name, inner) {
    const { cap, revoker } = membrane(inner, {});
    kept.set(name, { cap: cap as unknown as object, revoker: revoker as unknown as Revoker });
    return cap as unknown as object;
  },
  cap: (name) => kept.get(name)?.cap as object,
  revoke: (name) => kept.get(name)?.revoker?.revoke('by the granter') as Promise<void>,
  state: (name) => kept.get(name)?.actor?.look() as never,
  confirm: (name) => kept.get(name)?.actor?.confirm('Ada'),
  keep: (name, cap) => kept.set(name, { cap }),
}));

interface Booted {
  readonly vats: Vats;
  readonly store: Store;
  readonly drawer: Far<Drawer>;
  readonly box: Far<Box>;
}
interface Machine {
  boot(): Promise<Booted>;
  stop(): Promise<void>;
  /** Copies the folder of the store aside and puts it back, as somebody with access to the disk would. */
  copy(to: string): Promise<void>;
  putBack(from: string): Promise<void>;
}
function machine(clock: TestClock): Machine {
  const folder = mkdtempSync(join(tmpdir(), 'hob-grants-'));
  const path = join(folder, 'state');
  let close = async (): Promise<void> => {};
  onTestFinished(async () => {
    await close();
    rmSync(folder, { recursive: true });
  });
  return {
    stop: () => close(),
    async copy(to) {
      await close();
      cpSync(path, join(folder, to), { recursive: true });
    },
    async putBack(from) {
      await close();
      rmSync(path, { recursive: true });
      cpSync(join(folder, from), path, { recursive: true });
    },
    async boot() {
      await close();
      const store = await openStore({ path, sentinel: join(folder, 'sentinels') });
      const vats = await openVats({ store, clock, definitions: [...definitions, Drawer, Box] });
      close = async () => {
        close = async () => {};
        await vats.close();
        await store.close();
      };
      const box = await vats.vat('grants').root('box', () => Box('box'));
      const drawer = await vats.vat('grants').root('drawer', () => Drawer(table()));
      return { vats, store, drawer, box };
    },
  };
}
const grant = async ({ drawer, box }: Booted, name: string, terms: Terms): Promise<Far<Box>> =>
  (await say(drawer, 'grant', name, box, terms)) as Far<Box>;
const cap = async ({ drawer }: Booted, name: string): Promise<Far<Box>> => (await E(drawer).cap(name)) as unknown as Far<Box>; // biome-ignore format: one line
async function kinds(store: Store): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const line of exportLedger(store)) all.push((JSON.parse(line) as { k: string }).k);
  return all.filter((kind) => !['genesis', 'restart', 'checkpoint'].includes(kind));
}

test('spent uses stay spent, over any number of restarts', async () => {
  const house = machine(testClock());
  let home = await house.boot();
  await grant(home, 'g', { uses: 5 });
  for (let use = 0; use < 5; use += 1) {
    home = await house.boot();
    expect(await code(E(await cap(home, 'g')).read())).toBe('ok');
    expect(await E(home.drawer).state('g')).toMatchObject({ usesLeft: 4 - use });
  }
  home = await house.boot();
  expect(await code(E(await cap(home, 'g')).read())).toBe('exhausted');
  expect(await verifyLedger(home.store)).toMatchObject({ ok: true });
});

test('a revocation is final, and a granter who comes back finds the grant and can revoke it', async () => {
  const house = machine(testClock());
  let home = await house.boot();
  await grant(home, 'g', {});
  home = await house.boot();
  expect(await code(E(await cap(home, 'g')).read())).toBe('ok');
  await E(home.drawer).revoke('g');
  home = await house.boot();
  expect(await code(E(await cap(home, 'g')).read())).toBe('revoked');
  expect(await E(home.drawer).state('g')).toMatchObject({ state: 'revoked' });
});

test('a grant ends on time though the process was away, with one ledger line', async () => {
  const clock = testClock();
  const house = machine(clock);
  let home = await house.boot();
  await grant(home, 'g', { for: 10_000 });
  await grant(home, 'later', { for: 20_000 });
  await house.stop();
  clock.advance(12_000);
  home = await house.boot();
  await jobs();
  expect((await kinds(home.store)).filter((kind) => kind === 'expire')).toHaveLength(1);
  expect(await E(home.drawer).state('g')).toMatchObject({ state: 'expired' });
  expect(await code(E(await cap(home, 'later')).read())).toBe('ok');
  clock.advance(8000);
  await jobs();
  home = await house.boot();
  expect((await kinds(home.store)).filter((kind) => kind === 'expire')).toHaveLength(2);
});

test('what a call made keeps its uses and its end over restarts, and ends with the revocation of its grant', async () => {
  const house = machine(testClock());
  let home = await house.boot();
  const making = await grant(home, 'g', { uses: 1, made: { uses: 3 } });
  await E(home.drawer).keep('made', (await E(making).open('a')) as unknown as object);
  for (let use = 0; use < 2; use += 1) {
    home = await house.boot();
    expect(await code(E(await cap(home, 'made')).read())).toBe('ok');
  }
  expect(await E(home.drawer).state('g')).toMatchObject({
    state: 'exhausted',
    usesLeft: 0,
    madeUntil: expect.any(Number),
  });
  await E(home.drawer).revoke('g');
  home = await house.boot();
  expect(await code(E(await cap(home, 'made')).read())).toBe('revoked');
  expect(await verifyLedger(home.store)).toMatchObject({ ok: true });
});

test('what a call made waits with its grant in a store that is put back, and goes on when that is confirmed', async () => {
  const house = machine(testClock());
  let home = await house.boot();
  for (const name of ['g', 'other']) {
    const making = await grant(home, name, { uses: 1, made: { uses: 3 } });
    await E(home.drawer).keep(`${name} made`, (await E(making).open('a')) as unknown as object);
  }
  await house.copy('monday');
  home = await house.boot();
  await E(home.drawer).revoke('other');
  await house.putBack('monday');
  home = await house.boot();
  for (const name of ['g made', 'other made'])
    expect([name, await code(E(await cap(home, name)).read())]).toEqual([name, 'unavailable']);
  await E(home.drawer).confirm('g');
  expect(await code(E(await cap(home, 'g made')).read())).toBe('ok');
  expect(await code(E(await cap(home, 'other made')).read())).toBe('unavailable');
});

test('a store that is put back does not give back uses or revoked grants: each grant waits for its granter', async () => {
  const clock = testClock();
  const house = machine(clock);
  let home = await house.boot();
  await grant(home, 'spent', { uses: 2 });
  await grant(home, 'taken back', { for: 3_600_000 });
  await grant(home, 'short', { for: 1000 });
  await grant(home, 'other', { uses: 1 });
  await house.copy('monday');
  home = await house.boot();
  for (const _ of [1, 2]) expect(await code(E(await cap(home, 'spent')).read())).toBe('ok');
  await E(home.drawer).revoke('taken back');
  await house.putBack('monday');
  home = await house.boot();
  for (const name of ['spent', 'taken back', 'short', 'other'])
    expect([name, await code(E(await cap(home, name)).read())]).toEqual([name, 'unavailable']);
  expect(await E(home.drawer).state('spent')).toMatchObject({ state: 'suspended', usesLeft: 2 });
  // A new grant needs no confirmation. A waiting one can be revoked or confirmed, and its time still ends.
  await grant(home, 'new', { uses: 1 });
  expect(await code(E(await cap(home, 'new')).read())).toBe('ok');
  await E(home.drawer).revoke('taken back');
  await E(home.drawer).confirm('other');
  clock.advance(2000);
  await jobs();
  home = await house.boot();
  const states = async (): Promise<readonly string[]> =>
    Promise.all(
      ['spent', 'taken back', 'short', 'other'].map(async (name) => {
        const { state } = (await E(home.drawer).state(name)) as { state: string };
        return `${state} ${await code(E(await cap(home, name)).read())}`;
      }),
    );
  expect(await states()).toEqual(['suspended unavailable', 'revoked revoked', 'expired expired', 'live ok']);
  expect((await kinds(home.store)).filter((kind) => ['restored', 'confirm'].includes(kind))).toEqual(['restored', 'confirm']); // biome-ignore format: one line
  // Or all grants at once.
  await home.vats.trust('Ada');
  expect((await states())[0]).toBe('live ok');
});

test('only a grant with until outlives a boot of the machine', async () => {
  const clock = testClock({ boottime: 0 });
  const house = machine(clock);
  let home = await house.boot();
  await grant(home, 'for', { for: 3_600_000 });
  await grant(home, 'uses', { uses: 5 });
  await grant(home, 'until', { until: clock.wall() + 3_600_000 });
  await house.stop();
  clock.reboot(1000);
  home = await house.boot();
  expect(await code(E(await cap(home, 'until')).read())).toBe('ok');
  for (const name of ['for', 'uses']) expect(await code(E(await cap(home, name)).read()), name).toBe('expired');
  await house.stop();
  // They stay expired, whatever the clocks say afterwards.
  clock.stepWall(-3_600_000);
  home = await house.boot();
  for (const name of ['for', 'uses']) expect(await code(E(await cap(home, name)).read()), name).toBe('expired');
});

test('a wall clock set forward over a restart shortens a grant for good', async () => {
  const clock = testClock();
  const house = machine(clock);
  let home = await house.boot();
  await grant(home, 'g', { until: clock.wall() + 10_000 });
  clock.stepWall(20_000);
  expect(await code(E(await cap(home, 'g')).read())).toBe('expired');
  clock.stepWall(-20_000);
  home = await house.boot();
  expect(await code(E(await cap(home, 'g')).read())).toBe('expired');
});

test('forwarders last: an object has the same one after a restart, and one that comes home is unwrapped', async () => {
  const house = machine(testClock());
  let home = await house.boot();
  const wrapped = (await say(home.drawer, 'wrap', 'm', home.box)) as Far<Box>;
  const { self } = await E(wrapped).deep();
  await say(home.drawer, 'keep', 'self', self);
  home = await house.boot();
  const again = await cap(home, 'm');
  const kept = await cap(home, 'self');
  expect((await E(again).deep()).self).toBe(kept);
  expect(kept).toBe(again);
  const sub = await E(again).open('x');
  await say(home.drawer, 'keep', 'sub', sub);
  expect(await say(again, 'isSelf', kept)).toBe(true);
  expect(kept).not.toBe(home.box);
  await E(home.drawer).revoke('m');
  expect(await code(E(kept).read())).toBe('revoked');
});

test('the sweep removes grants, forwarders and states that nobody holds', async () => {
  const clock = testClock();
  const house = machine(clock);
  let home = await house.boot();
  for (let i = 0; i < 20; i += 1)
    await home.vats.vat('grants').turn(() => void revocable(home.box as unknown as Box, { for: 60_000 }));
  await grant(home, 'kept', { for: 60_000 });
  home = await house.boot();
  expect(await home.vats.sweep()).toBeGreaterThanOrEqual(60);
  expect(await code(E(await cap(home, 'kept')).read())).toBe('ok');
  clock.advance(120_000);
  await jobs();
  expect((await kinds(home.store)).filter((kind) => kind === 'expire')).toHaveLength(1);
});

test('an object that ends with the process is wrapped too, and its forwarder breaks after a restart', async () => {
  const house = machine(testClock());
  let home = await house.boot();
  let opened = 0;
  const files = (): Far<object> =>
    driver<{ open(): unknown }>(
      {
        open: () => {
          opened += 1;
          return driver<{ read(): string }>({ read: () => `stream ${opened}` });
        },
      },
      { name: 'files' },
    );
  const given = (await say(home.drawer, 'grant', 'f', files(), {})) as Far<{ open(): unknown }>;
  const stream = await E(given).open();
  expect(await say(stream, 'read')).toBe('stream 1');
  expect(await code(say(home.drawer, 'keep', 's', stream))).toBe('invalid');
  home = await house.boot();
  files();
  const again = (await cap(home, 'f')) as unknown as Far<{ open(): unknown }>;
  expect(await code(E(again).open())).toBe('ok');
  expect(await code(say(stream, 'read'))).toBe('vat-halted');
});

test('64 callers on the last use, with a restart in between: 100 calls pass, not 101', async () => {
  const house = machine(testClock());
  let home = await house.boot();
  await grant(home, 'g', { uses: 100 });
  let passed = 0;
  for (let life = 0; life < 3; life += 1) {
    const g = await cap(home, 'g');
    const codes = await Promise.all(Array.from({ length: 64 }, () => code(E(g).read())));
    passed += codes.filter((each) => each === 'ok').length;
    home = await house.boot();
  }
  expect(passed).toBe(100);
});

test('ids are unique over the life of a store', async () => {
  const house = machine(testClock());
  const ids = new Set<string>();
  for (let life = 0; life < 3; life += 1) {
    const home = await house.boot();
    for (let i = 0; i < 5; i += 1) await grant(home, `g${life}-${i}`, {});
    for await (const line of exportLedger(home.store)) {
      const { k, grant: id } = JSON.parse(line) as { k: string; grant: string };
      if (k === 'grant') ids.add(id);
    }
  }
  expect(ids.size).toBe(15);
});
