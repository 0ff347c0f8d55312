/** Hosts of one cluster in one process, on a real server. Each test has a database of its own. */
import { openHost } from '@hob/host';
import { E } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { serverOfFile } from '../../../test/postgres-cluster.ts';
import { type Database, databaseOn } from '../../../test/postgres-database.ts';
import { wayTo } from '../../../test/postgres-way.ts';
import { counterOf, openCounting } from '../test/counting.ts';
import { machine, serves, tenantAt } from '../test/machines.ts';
import { placeOf } from './placement.ts';

const test = requires('postgres');
const server = serverOfFile(test);
const database = (): Promise<Database> => databaseOn(server.cluster);

const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { code?: string }) => error.code ?? String(error),
  );
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `t${n}`);

test('a host that joins takes its share and no other tenant moves; a host that leaves hands its tenants over', async () => {
  const { url } = await database();
  const all = names(6);
  const one = await machine(url, 'one');
  for (const name of all) await one.cluster.addTenant(name);
  await serves(one, ...all);
  for (const name of all) await one.count(name);
  const two = await machine(url, 'two');
  const moved = all.filter((name) => placeOf({ name }, ['one', 'two']) === 'two');
  const stayed = all.filter((name) => !moved.includes(name));
  expect(Math.min(moved.length, stayed.length)).toBeGreaterThan(0);
  await serves(two, ...moved);
  await serves(one, ...stayed);
  expect((await one.cluster.status()).hosts.map(({ name, live }) => [name, live])).toEqual([['one', true], ['two', true]]); // biome-ignore format: one line
  for (const name of moved) expect(await two.count(name)).toBe(1);
  const began = performance.now();
  await one.cluster.close();
  await serves(two, ...all);
  console.log(`${stayed.length} tenants of a host that left were served again after ${Math.round(performance.now() - began)} ms`); // biome-ignore format: one line
  for (const name of stayed) expect(await two.count(name)).toBe(1);
  for (const name of stayed) expect(one.openings.get(name)).toBe(1);
  expect((await two.cluster.status()).hosts.map(({ name }) => name)).toEqual(['two']);
  expect([await code(one.cluster.status()), await code(one.cluster.addTenant('x'))]).toEqual(['unavailable', 'unavailable']); // biome-ignore format: one line
});

test('a change of the rows without a hint is seen, and so is a tenant that is removed', async () => {
  const { url, sql } = await database();
  const one = await machine(url, 'one');
  const two = await machine(url, 'two');
  await sql`INSERT INTO hob_cluster.tenant VALUES ('acme', 'one')`;
  await serves(one, 'acme');
  await sql`UPDATE hob_cluster.tenant SET pin = 'two'`;
  await serves(two, 'acme');
  await serves(one);
  await two.cluster.removeTenant('acme');
  await serves(two);
  expect([two.cluster.where('acme'), (await two.cluster.status()).tenants]).toEqual([undefined, []]);
  // Its data stays.
  expect((await sql`SELECT count(*)::int AS found FROM hob_tenant_acme.store`)[0]?.['found']).toBe(1);
});

test('names that could be more than a name are refused, also in a row that somebody else has written', async () => {
  const { url, sql } = await database();
  const one = await machine(url, 'one');
  for (const bad of ['', 'Acme', '1a', '_a', 'a-b', 'a/b', '../a', 'a"b', 'a b', 'a.b', 'ä', 'x'.repeat(41), 7]) {
    expect(await code(one.cluster.addTenant(bad as string)), String(bad)).toBe('invalid');
    expect(await code(one.cluster.pin(bad as string, 'one')), String(bad)).toBe('invalid');
  }
  for (const bad of ['', 'a b', '../a', 'x'.repeat(41)]) {
    expect(await code(one.cluster.pin('acme', bad)), bad).toBe('invalid');
    expect(await code(machine(url, bad)), bad).toBe('invalid');
  }
  expect(await code(machine(url, 'two', { address: 'a b' }))).toBe('invalid');
  expect(await code(machine(url, 'two', { leaseMs: 10 }))).toBe('invalid');
  expect(await code(one.cluster.pin('acme', 'one'))).toBe('no-such-object');
  await sql`INSERT INTO hob_cluster.tenant VALUES ('../escape', NULL), ('cluster', NULL), ('ok', NULL)`;
  await serves(one, 'cluster', 'ok');
  expect((await one.cluster.status()).tenants.map(({ name }) => name)).toEqual(['cluster', 'ok']);
});

test('a second process with the name of a live one is refused, and one that replaces a silent one takes its tenants', async () => {
  const { url, sql, name: of } = await database();
  const way = await wayTo(server.cluster);
  onTestFinished(() => way.close());
  const first = await machine(way.url.replace('/postgres?', `/${of}?`), 'one');
  await first.cluster.addTenant('acme');
  await serves(first, 'acme');
  expect(await code(machine(url, 'one'))).toBe('unavailable');
  // The first one is silent, as if it were paused, and so is the session of its store.
  await way.is('swallows');
  const second = await machine(url, 'one');
  await serves(second, 'acme');
  expect(await second.count('acme')).toBe(0);
  await way.is('open');
  await serves(first);
  await expect.poll(async () => (await first.cluster.status()).member).toBe(false);
  // It does not even try any more.
  await expect.poll(() => tenantAt(first, 'acme')).toMatchObject({ here: 'closed', failure: undefined });
  expect(await second.count('acme')).toBe(1);
  // It joins again when the name is free.
  await second.cluster.close();
  await serves(first, 'acme');
  expect(await first.count('acme')).toBe(2);
  expect((await sql`SELECT count(*)::int AS hosts FROM hob_cluster.host`)[0]?.['hosts']).toBe(1);
});

test('an opening that fails is tried again, its code is in the status, and neither it nor a slow one holds up others', async () => {
  const { url } = await database();
  const slow = Promise.withResolvers<void>();
  let failing = true;
  let tries = 0;
  const one = await machine(url, 'one', {
    async open(parts) {
      if (parts.name === 'slow') await slow.promise;
      if (parts.name === 'bad') tries += 1;
      if (parts.name === 'bad' && failing) throw Object.assign(new Error('secret text'), { code: 'denied' });
      return await openCounting(parts);
    },
  });
  for (const name of ['bad', 'slow', 'good']) await one.cluster.addTenant(name);
  await serves(one, 'good');
  await expect.poll(() => tries).toBeGreaterThan(1);
  expect(await tenantAt(one, 'bad')).toMatchObject({ here: expect.not.stringMatching('open$'), failure: 'denied' });
  expect(await tenantAt(one, 'slow')).toMatchObject({ here: 'opening' });
  expect(JSON.stringify(await one.cluster.status())).not.toContain('secret');
  failing = false;
  await serves(one, 'bad', 'good');
  expect(await tenantAt(one, 'bad')).toMatchObject({ here: 'open', failure: undefined });
  slow.resolve();
  await serves(one, 'bad', 'good', 'slow');
});

test('the pause before the next try grows from 250 ms to 5 s', async () => {
  const { url } = await database();
  const clock = testClock();
  const tries: number[] = [];
  const one = await machine(url, 'one', {
    clock,
    async open() {
      tries.push(clock.tick());
      throw new Error('never');
    },
  });
  await one.cluster.addTenant('acme');
  const state = async () => (await tenantAt(one, 'acme'))?.here;
  const began = clock.tick();
  while (clock.tick() - began < 20_000) {
    await expect.poll(state, { interval: 2 }).toBe('closed');
    // A change of the cluster does not make it try again sooner.
    await one.cluster.pin('acme', tries.length % 2 === 0 ? 'one' : undefined);
    await one.cluster.pin('acme', tries.length % 2 === 0 ? undefined : 'one');
    clock.advance(clock.tick() - began < 2000 ? 50 : 500);
  }
  const pauses = tries.slice(1).map((at, n) => at - (tries[n] as number));
  expect(pauses.length).toBeGreaterThan(5);
  for (const [n, pause] of pauses.entries()) {
    const meant = Math.min(250 * 2 ** n, 5000);
    expect(pause, `${pauses}`).toBeGreaterThanOrEqual(meant);
    expect(pause, `${pauses}`).toBeLessThanOrEqual(meant + 1500);
  }
});

test('a tenant whose pin changes while it opens has one open host at a time, and goes where the last pin says', async () => {
  const { url } = await database();
  const gates: PromiseWithResolvers<void>[] = [];
  const one = await machine(url, 'one', {
    async open(parts) {
      const gate = Promise.withResolvers<void>();
      gates.push(gate);
      await gate.promise;
      return await openCounting(parts);
    },
  });
  await one.cluster.addTenant('acme');
  await expect.poll(() => gates.length).toBe(1);
  const two = await machine(url, 'two');
  await one.cluster.pin('acme', 'two');
  await one.cluster.pin('acme', 'one');
  await one.cluster.pin('acme', 'two');
  expect(await tenantAt(one, 'acme')).toMatchObject({ here: 'opening' });
  gates[0]?.resolve();
  await serves(two, 'acme');
  await serves(one);
  await two.cluster.pin('acme', 'one');
  await expect.poll(() => gates.length).toBe(2);
  gates[1]?.resolve();
  await serves(one, 'acme');
  expect([await one.count('acme'), one.openings.get('acme'), two.openings.get('acme')]).toEqual([0, 2, 1]);
});

test('a program whose open or close never ends keeps the store for some seconds only', async () => {
  const { url } = await database();
  const clock = testClock();
  const never = new Promise<never>(() => {});
  const ends = Promise.withResolvers<void>();
  const one = await machine(url, 'one', {
    clock,
    async open(parts) {
      if (parts.name === 'opens') return await never;
      const host = await openHost({ stateDir: parts.stateDir, store: parts.store });
      const close = async (): Promise<void> => {
        await ends.promise;
        await host.close();
      };
      return { vats: host.vats, counts: () => host.counts(), close } as never;
    },
  });
  const two = await machine(url, 'two');
  for (const name of ['opens', 'closes']) {
    await one.cluster.addTenant(name);
    await one.cluster.pin(name, 'one');
  }
  await serves(one, 'closes');
  await expect.poll(async () => (await tenantAt(one, 'opens'))?.store?.holder?.name).toBe('one');
  for (const name of ['opens', 'closes']) await one.cluster.pin(name, 'two');
  await expect.poll(async () => (await tenantAt(one, 'closes'))?.here).toBe('closing');
  expect([...two.hosts.keys()]).toEqual([]);
  clock.advance(5000);
  await serves(two, 'opens', 'closes');
  // It is not opened here before its host has closed.
  await two.cluster.pin('closes', 'one');
  await serves(two, 'opens');
  expect((await tenantAt(one, 'closes'))?.here).toBe('closing');
  expect(one.openings.get('closes')).toBe(1);
  ends.resolve();
  await expect.poll(() => one.openings.get('closes')).toBe(2);
});

test('a tenant that lost its store is closed and opened again', async () => {
  const { url, sql } = await database();
  const one = await machine(url, 'one');
  await one.cluster.addTenant('acme');
  await serves(one, 'acme');
  expect(await one.count('acme')).toBe(0);
  // As the opening by another host does, which ends at once.
  await sql.unsafe(`
    UPDATE hob_tenant_acme.store SET epoch = epoch + 1, opening = 'other';
    UPDATE hob_tenant_acme.owner SET opening = 'other', until = clock_timestamp()`);
  await expect.poll(() => one.openings.get('acme')).toBe(2);
  await serves(one, 'acme');
  expect(await one.count('acme')).toBe(1);
});

test('two hosts that disagree about who lives leave a tenant with one writer', async () => {
  const { url, sql } = await database();
  const one = await machine(url, 'one');
  const two = await machine(url, 'two');
  const name = names(50).find((each) => placeOf({ name: each }, ['one', 'two']) === 'one') as string;
  await one.cluster.addTenant(name);
  await serves(one, name);
  // The host `two` believes that the host `one` is dead. The host `one` knows better.
  await sql.unsafe(`
    CREATE FUNCTION hob_cluster.late() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN NEW.heard = clock_timestamp() - interval '1 minute'; RETURN NEW; END $$;
    CREATE TRIGGER late BEFORE UPDATE ON hob_cluster.host FOR EACH ROW WHEN (NEW.name = 'one') EXECUTE FUNCTION hob_cluster.late()`);
  await expect.poll(async () => (await tenantAt(two, name))?.failure).toBe('unavailable');
  expect([one.cluster.where(name), two.cluster.where(name)]).toEqual(['here', 'here']);
  for (let n = 0; n < 3; n += 1) {
    expect(await one.count(name)).toBe(n);
    await expect.poll(async () => (await tenantAt(two, name))?.here).toBe('opening');
    await expect.poll(async () => (await tenantAt(two, name))?.here).toBe('closed');
  }
  expect([two.openings.size, one.openings.get(name)]).toEqual([0, 1]);
  await sql`DROP TRIGGER late ON hob_cluster.host`;
  await expect.poll(() => two.cluster.where(name)).toMatchObject({ name: 'one' });
  expect(await one.count(name)).toBe(3);
});

test('a host that is cut off from the database keeps the tenants whose stores go on, and is a member again after it', async () => {
  const { url, name: of } = await database();
  const way = await wayTo(server.cluster);
  onTestFinished(() => way.close());
  const one = await machine(way.url.replace('/postgres?', `/${of}?`), 'one', { leaseMs: 20_000 });
  const two = await machine(url, 'two', { leaseMs: 20_000 });
  await one.cluster.addTenant('acme');
  await one.cluster.pin('acme', 'one');
  await serves(one, 'acme');
  let changes = 0;
  const stop = one.cluster.onChange(() => (changes += 1));
  await way.is('cut');
  await expect.poll(async () => (await one.cluster.status()).connected).toBe(false);
  await expect.poll(() => changes).toBeGreaterThan(0);
  // A look changes nothing.
  await one.cluster.status();
  const before = changes;
  await one.cluster.status();
  expect(changes).toBe(before);
  expect([one.cluster.where('acme'), await code(one.cluster.addTenant('x'))]).toEqual(['here', 'unavailable']);
  await way.is('open');
  await expect.poll(async () => (await one.cluster.status()).connected).toBe(true);
  stop();
  expect(await one.count('acme')).toBe(0);
  expect([one.openings.get('acme'), two.openings.get('acme')]).toEqual([1, undefined]);
});

test('a program is refused if a newer version needs a newer one, and uses newer tables that still serve it', async () => {
  const { url, sql } = await database();
  const one = await machine(url, 'one');
  await sql`UPDATE hob_cluster.cluster SET version = 2, tables = 2`;
  expect(await code(machine(url, 'two'))).toBe('invalid');
  expect((await sql`SELECT count(*)::int AS hosts FROM hob_cluster.host`)[0]?.['hosts']).toBe(1);
  await sql.unsafe(`UPDATE hob_cluster.cluster SET version = 1; ALTER TABLE hob_cluster.host ADD COLUMN load int;
    ALTER TABLE hob_cluster.tenant ADD COLUMN most int`);
  const two = await machine(url, 'two');
  await two.cluster.addTenant('acme');
  await two.cluster.pin('acme', 'two');
  await serves(two, 'acme');
  await expect.poll(() => one.cluster.where('acme')).toMatchObject({ name: 'two' });
});

test('attack: hints that anybody may send neither stop nor flood a cluster', async () => {
  const { url, sql } = await database();
  const one = await machine(url, 'one');
  await one.cluster.addTenant('acme');
  await serves(one, 'acme');
  const before = (await one.cluster.status()).hosts[0]?.heardMs;
  expect(before).toBeLessThan(3000);
  for (let n = 0; n < 300; n += 1)
    await sql.notify('hob_cluster', ['free acme', 'free ../x', 'free ', 'x'.repeat(7000)][n % 4] as string);
  const counter = await counterOf(one.hosts.get('acme') as never);
  expect(await E(counter).next()).toBe(0);
  expect(one.openings.get('acme')).toBe(1);
});
