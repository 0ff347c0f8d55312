/** Ending much: it takes hold at once, and is removed some at a time, also over a kill -9. */
import { rmSync } from 'node:fs';
import { connect, driver, E, type Far } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { facts, goldenState } from '../../test/golden.ts';
import { HostProcess } from '../../test/host-process.ts';
import { rowsOf, tablesIn } from '../../test/rows.ts';
import { code, held, lines, scratch, type TestHost, testHost } from '../../test/test-host.ts';
import { type Grant, type Host, type NewSession, openHost, type SessionFace } from '../index.ts';
import { groupOfSession, sessionOf } from '../state/groups.ts';
import { endSession, removeSome } from './removal.ts';

interface Bell {
  ring(note?: string): Promise<string>;
  wait(): Promise<string>;
}

/** A house whose bell notes who rang; `wait` goes on until its signal fires. */
async function withBell(
  onStop: () => void = () => {},
): Promise<TestHost & { readonly rung: string[]; readonly stopped: string[] }> {
  const [rung, stopped]: [string[], string[]] = [[], []];
  const home = await testHost();
  onTestFinished(() => home.close());
  const bell = driver<Bell>({
    ring: ([note = '']) => {
      rung.push(note);
      return 'ding';
    },
    wait: (_args, { signal }) =>
      new Promise<string>((_, no) =>
        signal.addEventListener('abort', () => {
          stopped.push('wait');
          onStop();
          no(signal.reason);
        }),
      ),
  });
  await home.host.offer('bell', bell);
  return { ...home, rung, stopped };
}

const grant = (home: TestHost, session: string, petname: string): Promise<Grant> =>
  E(home.granter).grant(session, petname, 'bell', {}) as unknown as Promise<Grant>;
const open = (host: Host, name: string, parent?: string): Promise<NewSession> =>
  host.openSession({ name, granters: ['owner'], ...(parent === undefined ? {} : { parent }) });
const many = async (count: number, make: (n: number) => Promise<unknown>): Promise<void> => {
  for (let at = 0; at < count; at += 200)
    await Promise.all(Array.from({ length: Math.min(200, count - at) }, (_, n) => make(at + n)));
};

/**
 * Fails if it is not removed within so many turns: a removal that has stopped would be waited for for ever.
 */
async function untilRemoved(rows: () => Promise<Readonly<Record<string, number>>>): Promise<void> {
  for (let turns = 0; turns < 2000; turns += 1) if ((await rows())['endedGroups'] === 0) return;
  expect((await rows())['endedGroups'], 'groups that are not removed').toBe(0);
}

test('the turn that ends a session removes none of its grants, and from that turn on every call of it and its children is refused', async () => {
  const home = await withBell();
  const { host, session, rung } = home;
  // Removed first, so that the grants of the child are still there when its calls come.
  const first = await open(host, 'a-first', session.id);
  await many(100, (n) => grant(home, first.id, `p${n}`));
  const child = await open(host, 'child', session.id);
  const other = await open(host, 'other');
  await many(300, (n) => grant(home, session.id, `p${n}`));
  for (const { id } of [child, other]) await grant(home, id, 'bell');
  const caps = await Promise.all([session.cap<Bell>('p7'), child.cap<Bell>('bell'), other.cap<Bell>('bell')]);
  const before = await rowsOf(host);
  const end = E(home.granter).end(session.id);
  // Sent behind it, so they come behind its turn.
  const after = rowsOf(host);
  const calls = Promise.all(caps.map((cap) => code(E(cap).ring('late'))));
  const faces = Promise.all([code(session.caps()), code(child.caps()), code(child.rotate()), code(grant(home, child.id, 'more'))]); // biome-ignore format: one line
  const sessions = host.sessions();
  expect((await after)['grants']).toBe(before['grants']);
  expect((await after)['endedGroups']).toBe(1);
  expect(await calls).toEqual(['revoked', 'revoked', 'ok']);
  expect(rung).toEqual(['late']);
  // The grants themselves refused: no call was accepted, and none has a line.
  expect(await lines(host, 'call')).toHaveLength(1);
  for (const said of await faces) expect(['revoked', 'no-such-object']).toContain(said);
  expect((await sessions).map(({ id }) => id)).toEqual([other.id]);
  await end;
  expect(await rowsOf(host)).toMatchObject({ sessions: 1, sessionIndex: 1, grants: 1, grantIndex: 2, endedGroups: 0 });
  const told = (await lines(host, 'session')).filter(({ what }) => what === 'end');
  expect(told.map(({ session: of, grants }) => [of, grants])).toEqual([[session.id, 300], [first.id, 100], [child.id, 1]]); // biome-ignore format: one line
});

test('one turn removes at most 64 grants, also of a session with 1,000 grants or 300 children; its name is free at once', async () => {
  const home = await withBell();
  const { host, session } = home;
  const nest = await open(host, 'nest');
  await many(1000, (n) => grant(home, session.id, `p${n}`));
  await many(300, async (n) => await grant(home, (await open(host, `c${n}`, nest.id)).id, 'bell'));
  await host.vats.vat('host').turn(() => undefined);
  for (const { id, most } of [
    { id: session.id, most: 64 },
    { id: nest.id, most: 16 },
  ]) {
    const sizes = (await tablesIn(host, (tables) => {
      const session = sessionOf(tables, id);
      if (session === undefined) throw new Error('it is open');
      void endSession(tables, session, { by: 'test' }, '');
      if (tables.rootSessions.has(session.name)) throw new Error('its name is taken');
      const found: (readonly [number, number])[] = [[tables.grants.size, tables.sessions.size]];
      while (tables.endedGroups.has(groupOfSession(id))) {
        void removeSome(tables, groupOfSession(id), 64);
        found.push([tables.grants.size, tables.sessions.size]);
      }
      return found;
    })) as readonly (readonly [number, number])[];
    for (const [n, [grants, rooms]] of sizes.slice(1).entries()) {
      expect((sizes[n]?.[0] as number) - grants).toBeLessThanOrEqual(64);
      expect((sizes[n]?.[1] as number) - rooms).toBeLessThanOrEqual(most);
    }
  }
  expect(await rowsOf(host)).toMatchObject({ sessions: 0, grants: 0, grantIndex: 0, endedGroups: 0 });
});

test('calls under way break at once, before any grant is removed; a driver that never stops does not delay the rest', async () => {
  let atStop: ReturnType<typeof rowsOf> | undefined;
  const home = await withBell(() => {
    atStop = rowsOf(home.host);
  });
  const { host, session, stopped } = home;
  // Removed first, in ten turns: by then the calls must have been told long ago.
  const busy = await open(host, 'a-first', session.id);
  await many(640, (n) => grant(home, busy.id, `p${n}`));
  const ear = Promise.withResolvers<void>();
  onTestFinished(() => ear.resolve());
  await host.offer('deaf', { wait: () => ear.promise });
  const child = await open(host, 'child', session.id);
  await grant(home, child.id, 'bell');
  await E(home.granter).grant(child.id, 'deaf', 'deaf', {});
  await many(200, (n) => grant(home, session.id, `p${n}`));
  const [bell, deaf] = [await child.cap<Bell>('bell'), await child.cap<Bell>('deaf')];
  const waiting = [code(E(bell).wait()), code(E(deaf).wait())];
  // Answered after them, so both are with their drivers.
  expect(await code(E(bell).ring())).toBe('ok');
  await rowsOf(host);
  E.sendOnly(home.granter).end(session.id);
  const first = rowsOf(host);
  expect(await Promise.all(waiting)).toEqual(['revoked', 'revoked']);
  expect(stopped).toEqual(['wait']);
  expect((await first)['grants']).toBe(842);
  expect((await atStop)?.['grants']).toBeGreaterThan(500);
  await untilRemoved(() => rowsOf(host));
  expect((await rowsOf(host))['grants']).toBe(0);
});

test('the connections of a child of an ended session are closed, and its secret and sturdyrefs stop working', async () => {
  const home = await withBell();
  const { host, session } = home;
  const child = await open(host, 'child', session.id);
  await grant(home, child.id, 'bell');
  await many(200, (n) => grant(home, session.id, `p${n}`));
  const { sturdyref } = (await E(home.granter).mint(child.id, 'bell', {})) as unknown as { readonly sturdyref: string };
  const entered = [await home.enter(child.secret), await home.enter(sturdyref)];
  const ringer = held<Bell>(entered[0] as Awaited<ReturnType<TestHost['enter']>>, 'bell');
  expect(await code(E(ringer).ring())).toBe('ok');
  E.sendOnly(home.granter).end(session.id);
  // Looked up behind the turn that ends it, and before the rows of the child are gone.
  const secrets = [child.secret, sturdyref].map((secret) => code(connect(home.url, { secret })));
  expect(await Promise.all(entered.map(async ({ closed }) => (await closed).code))).toEqual([4403, 4403]);
  expect(await Promise.all(secrets)).toEqual(['denied', 'denied']);
});

test('the connections of a child of an ended session are closed before any row of the child is removed', async () => {
  const home = await withBell();
  const { host, session } = home;
  const child = await open(host, 'child', session.id);
  const other = await open(host, 'other');
  const entered = await home.enter(child.secret);
  expect(await code(E(entered.bootstrap).caps())).toBe('ok');
  // Its row alone, as after a kill. So nothing of it is removed, and only the end of another session can put
  // the child out.
  await tablesIn(host, (tables) => {
    const act = { by: 'test', surface: 'program' } as const;
    tables.endedGroups.set(groupOfSession(session.id), { what: 'session', of: session.id, act, why: '', held: 0 });
  });
  await E(home.granter).end(other.id);
  for (let turns = 0; turns < 2000 && host.connections().length > 0; turns += 1) await rowsOf(host);
  expect(host.connections()).toEqual([]);
  expect((await entered.closed).code).toBe(4403);
  expect(await rowsOf(host)).toMatchObject({ sessions: 2, endedGroups: 1 });
});

test('revoking a session, or all: every grant is off in that turn, its line follows, and a new grant works', async () => {
  const home = await withBell();
  const { host, session, rung } = home;
  const other = await open(host, 'other');
  await many(200, (n) => grant(home, session.id, `p${n}`));
  await grant(home, other.id, 'bell');
  for (const [what, count, otherSays] of [
    [{ session: session.id }, 200, 'ok'],
    ['all', 202, 'revoked'],
  ] as const) {
    const caps = await Promise.all([session.cap<Bell>('p199'), other.cap<Bell>('bell')]);
    rung.length = 0;
    const revoked = E(home.granter).revoke(what, 'enough');
    const revoking = Promise.all(caps.map((cap) => code(E(cap).ring('late'))));
    const listed = E(home.granter).list({ session: session.id, live: true });
    const next = grant(home, session.id, `next-${count}`);
    expect(await revoking).toEqual(['revoked', otherSays]);
    expect(await listed).toEqual([]);
    expect(await revoked).toBeUndefined();
    expect((await rowsOf(host))['endedGroups']).toBe(0);
    expect((await next).state).toBe('live');
    expect(await code(E(await session.cap<Bell>(`next-${count}`)).ring())).toBe('ok');
    const told = await lines(host, 'revoke');
    expect(told).toHaveLength(count);
    expect(new Set(told.map(({ grant: of }) => of)).size).toBe(count);
    for (const line of told) expect(line).toMatchObject({ by: 'owner', surface: 'program', why: 'enough' });
  }
});

test('a caller that ends its own session is disconnected, and the session is removed', async () => {
  const home = await withBell();
  const { host, session } = home;
  await host.offer('boss', home.granter);
  await E(home.granter).grant(session.id, 'boss', 'boss', {});
  await many(100, (n) => grant(home, session.id, `p${n}`));
  const entered = await home.enter(session.secret);
  expect(await code(E(held<{ end(id: string): void }>(entered, 'boss')).end(session.id))).not.toBe('ok');
  await untilRemoved(() => rowsOf(host));
  expect((await entered.closed).code).toBe(4403);
  expect(await rowsOf(host)).toMatchObject({ sessions: 0, grants: 0, secretOwners: 1 });
});

test('in any order of calls, ends and revocations, no call passes that was sent after its session or a parent had ended', async () => {
  const home = await withBell();
  const { host, rung } = home;
  let made = 0;
  const act = fc.oneof(
    fc.record({ act: fc.constant('ring' as const), at: fc.nat(5) }),
    fc.record({ act: fc.constant('ring' as const), at: fc.nat(5) }),
    fc.record({ act: fc.constantFrom('end' as const, 'revoke' as const), at: fc.nat(2) }),
    fc.record({ act: fc.constant('pause' as const), at: fc.nat(3) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 30 }), async (acts) => {
      made += 1;
      const sessions: NewSession[] = [];
      for (let n = 0; n < 3; n += 1) sessions.push(await open(host, `s${made}-${n}`, sessions[n - 1]?.id));
      // Two of each: one of its own, and one that hangs under that of the session above.
      const caps: { readonly cap: Far<Bell>; readonly from: number; readonly through: boolean }[] = [];
      for (const [n, session] of sessions.entries()) {
        await grant(home, session.id, 'own');
        await many(70, (more) => (n === 0 ? grant(home, session.id, `p${more}`) : Promise.resolve()));
        caps.push({ cap: await session.cap<Bell>('own'), from: n, through: false });
        const above = sessions[n - 1];
        if (above === undefined) continue;
        await E(home.granter).delegate(above.id, 'own', session.id, { as: 'through' });
        caps.push({ cap: await session.cap<Bell>('through'), from: n, through: true });
      }
      rung.length = 0;
      const over = sessions.map(() => ({ ended: false, revoked: false }));
      const all: Promise<unknown>[] = [];
      const forbidden = new Set<string>();
      for (const [step, { act: what, at }] of acts.entries()) {
        if (what === 'pause') for (let n = 0; n < at; n += 1) await new Promise((go) => setImmediate(go));
        else if (what === 'ring') {
          const { cap, from, through } = caps[at % caps.length] as (typeof caps)[number];
          const own = over[from];
          const dead = over.slice(0, from + 1).some(({ ended }) => ended) || own?.revoked === true || (through && over[from - 1]?.revoked === true); // biome-ignore format: one line
          const note = `${made}/${step}`;
          if (dead) forbidden.add(note);
          all.push(code(E(cap).ring(note)).then((said) => expect(said === 'revoked' || (said === 'ok' && !dead)).toBe(true))); // biome-ignore format: one line
        } else {
          const one = over[at] as (typeof over)[number];
          if (what === 'end') {
            one.ended = true;
            all.push((sessions[at] as NewSession).end());
          } else {
            one.revoked ||= !over.slice(0, at + 1).some(({ ended }) => ended);
            all.push(code(E(home.granter).revoke({ session: (sessions[at] as NewSession).id }) as Promise<unknown>));
          }
        }
      }
      await Promise.all(all);
      expect(rung.filter((note) => forbidden.has(note))).toEqual([]);
      await Promise.all(sessions.map((session) => session.end()));
      await untilRemoved(() => rowsOf(host));
      expect(await rowsOf(host)).toMatchObject({ grants: 0, grantIndex: 0, sessions: 1 });
    }),
    { numRuns: 12 },
  );
});

test('kill -9 during a removal: the next process continues it, and nothing is left', async () => {
  const folder = scratch();
  let host = new HostProcess(folder);
  onTestFinished(async () => {
    await host.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await host.do('offer');
  await host.do('addGranter', 'owner');
  await host.do('openSession', { name: 'other', granters: ['owner'] });
  const before = await host.do('rows');
  const { id } = await host.do<{ id: string }>('openSession', { name: 'big', granters: ['owner'] });
  const children: { readonly id: string; readonly secret: string }[] = [];
  await many(
    300,
    async (n) => void children.push(await host.do('openSession', { name: `c${n}`, granters: ['owner'], parent: id })),
  );
  await many(200, (n) => host.do('granter', 'owner', 'grant', id, `p${n}`, 'bell', { uses: 2 }));
  expect(await host.do('rows')).toMatchObject({ sessions: 302, grants: 200 });
  // Ends itself as soon as the first child is on the disk as ended.
  expect(await host.do('endAndDie', id)).toBe('killed');
  host = new HostProcess(folder);
  const url = await host.url;
  const secrets = await Promise.all(
    children.slice(-5).map(({ secret }) => code(connect<SessionFace>(url, { secret }))),
  );
  expect(secrets).toEqual(Array(5).fill('denied'));
  expect((await host.do<{ name: string }[]>('sessions')).map(({ name }) => name)).toEqual(['other']);
  await untilRemoved(() => host.do('rows'));
  expect(await host.do('rows')).toEqual(before);
  const told = (await host.do<string[]>('lines')).map((line) => JSON.parse(line) as Record<string, unknown>);
  const ends = told.filter(({ k, what }) => k === 'session' && what === 'end');
  expect(ends.map(({ session }) => session).sort()).toEqual([id, ...children.map((child) => child.id)].sort());
  const restart = told.findLast(({ k }) => k === 'restart')?.['seq'] as number;
  const [early, late] = [ends.filter(({ seq }) => (seq as number) < restart), ends.filter(({ seq }) => (seq as number) > restart)]; // biome-ignore format: one line
  expect(early.length).toBeGreaterThan(1);
  expect(late.length).toBeGreaterThan(0);
  expect(await host.do('verify')).toMatchObject({ ok: true });
});

test('kill -9 during a stop: the next process revokes the remaining grants, each once, and continues no other work', async () => {
  const folder = scratch();
  let host = new HostProcess(folder);
  onTestFinished(async () => {
    await host.kill();
    rmSync(folder, { recursive: true, force: true });
  });
  await host.do('offer');
  await host.do('addGranter', 'owner');
  const { id } = await host.do<{ id: string }>('openSession', { name: 'big', granters: ['owner'] });
  await many(300, (n) => host.do('granter', 'owner', 'grant', id, `p${n}`, 'bell', {}));
  expect(await host.do('stopAndDie')).toBe('killed');
  host = new HostProcess(folder);
  await host.url;
  await untilRemoved(() => host.do('rows'));
  const told = (await host.do<string[]>('lines')).map((line) => JSON.parse(line) as Record<string, unknown>);
  const revokes = told.filter(({ k }) => k === 'revoke');
  expect(new Set(revokes.map(({ grant: of }) => of)).size).toBe(300);
  const restart = told.findLast(({ k }) => k === 'restart')?.['seq'] as number;
  expect(revokes.filter(({ seq }) => (seq as number) < restart)).toHaveLength(64);
  expect(revokes).toHaveLength(300);
});

test('a session of a version without groups ends whole in one turn, with its old and its new grants', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  goldenState(folder);
  const host = await openHost({ stateDir: folder });
  onTestFinished(() => host.close());
  await host.offer('bell', { ring: async () => 'ding' });
  const owner = await host.granter('owner');
  const { work, child } = facts.ids;
  await E(owner).grant(work, 'of-now', 'bell', {});
  const mine = (await E(owner).list({ session: work })) as unknown as readonly Grant[];
  const before = await rowsOf(host);
  const end = E(owner).end(work);
  const after = rowsOf(host);
  await end;
  const children = 1;
  expect((before['grants'] as number) - ((await after)['grants'] as number)).toBeGreaterThanOrEqual(mine.length + 1);
  expect((await host.sessions()).map(({ id }) => id)).not.toContain(child);
  expect((before['sessions'] as number) - ((await after)['sessions'] as number)).toBeGreaterThanOrEqual(1 + children);
  await E(owner).revoke('all');
  for (const { state } of (await E(owner).list()) as unknown as readonly Grant[]) expect(['revoked', 'expired', 'exhausted']).toContain(state); // biome-ignore format: one line
});
