/**
 * kill -9 of a real host at random moments, with sessions, children, grants, calls, rotations and requests
 * under way: what was answered is there in the next one, what was not is there whole or not at all. The
 * columns "process killed" of "What survives" in the design, in one run.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { connect, E } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { expect, onTestFinished, test } from 'vitest';
import { later } from '../test/asking.ts';
import { HostProcess } from '../test/host-process.ts';
import { code, held, scratch } from '../test/test-host.ts';
import type { Grant, Request, SessionFace } from './index.ts';

interface Bell {
  ring(): Promise<string>;
}
/** The knowledge about something that was asked for: it was answered, or only asked. */
type Known = 'no' | 'asked' | 'yes';
interface Seen {
  readonly id: string;
  secret: string;
  /** Asked for and not used: of these one may open, too. */
  readonly parent: Seen | undefined;
  ended: Known;
  readonly petnames: Set<string>;
  /** How often somebody said yes to what it asked for, and how often that was answered. */
  tried: number;
  granted: number;
}
interface Given {
  readonly id: string;
  readonly session: Seen;
  readonly petname: string;
  readonly uses: number;
  readonly above: Given | undefined;
  revoked: Known;
  asked: number;
  answered: number;
}

/** Chance that a seed repeats (mulberry32). */
function chance(seed: number): (below: number) => number {
  let at = seed;
  return (below) => {
    at = (at + 0x6d2b79f5) | 0;
    let t = Math.imul(at ^ (at >>> 15), 1 | at);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

const over = (session: Seen | undefined): Known => {
  if (session === undefined) return 'no';
  const above = over(session.parent);
  return session.ended === 'yes' || above === 'yes' ? 'yes' : session.ended === 'asked' || above === 'asked' ? 'asked' : 'no'; // biome-ignore format: one line
};
const cut = (given: Given | undefined): Known => {
  if (given === undefined) return 'no';
  const above = cut(given.above);
  return given.revoked === 'yes' || above === 'yes' ? 'yes' : given.revoked === 'asked' || above === 'asked' ? 'asked' : 'no'; // biome-ignore format: one line
};
/** A list shows no more uses of a grant than the grants above it have. */
const leastLeft = ({ uses, asked, above }: Given): number =>
  Math.min(Math.max(0, uses - asked), above === undefined ? uses : leastLeft(above));

test.each([1, 2])(
  'killed at random moments, seed %i: nothing that was answered is lost, nothing ended comes back',
  async (seed) => {
    const folder = scratch();
    const state = join(folder, 'state');
    const random = chance(seed);
    let host = new HostProcess(state);
    onTestFinished(async () => {
      await host.kill();
      rmSync(folder, { recursive: true, force: true });
    });
    await host.do('offer');
    await host.do('addGranter', 'owner');
    const sessions: Seen[] = [];
    const grants: Given[] = [];
    let made = 0;
    const pick = <T>(all: readonly T[]): T | undefined => all[random(all.length)];
    const open = (): readonly Seen[] => sessions.filter((each) => over(each) === 'no');

    const acts: readonly ((links: Map<Seen, Connected<SessionFace>>) => Promise<void>)[] = [
      async () => {
        const parent = random(2) === 0 ? pick(open().filter((each) => each.parent === undefined)) : undefined;
        made += 1;
        const said = await host.do<{ id: string; secret: string } | string>('openSession', { name: `s${made}`, granters: ['owner'], ...(parent === undefined ? {} : { parent: parent.id }) }); // biome-ignore format: one line
        if (typeof said === 'object')
          sessions.push({ ...said, parent, ended: 'no', petnames: new Set(), tried: 0, granted: 0 });
      },
      async () => {
        const session = pick(open());
        if (session === undefined) return;
        made += 1;
        const petname = `p${made}`;
        const uses = 3 + random(40);
        const said = await host.do<Grant | string>('granter', 'owner', 'grant', session.id, petname, 'bell', { uses });
        if (typeof said !== 'object') return;
        session.petnames.add(petname);
        grants.push({ id: said.id, session, petname, uses, above: undefined, revoked: 'no', asked: 0, answered: 0 });
      },
      async () => {
        const child = pick(open().filter((each) => each.parent !== undefined));
        const above = pick(grants.filter((each) => each.session === child?.parent && cut(each) === 'no'));
        if (child === undefined || above === undefined) return;
        made += 1;
        const petname = `p${made}`;
        const uses = 3 + random(10);
        const said = await host.do<Grant | string>('granter', 'owner', 'delegate', above.session.id, above.petname, child.id, { as: petname, uses }); // biome-ignore format: one line
        if (typeof said !== 'object') return;
        child.petnames.add(petname);
        grants.push({ id: said.id, session: child, petname, uses, above, revoked: 'no', asked: 0, answered: 0 });
      },
      async (links) => {
        const given = pick(grants.filter((each) => links.has(each.session)));
        const link = given === undefined ? undefined : links.get(given.session);
        if (given === undefined || link === undefined) return;
        const all = [given, given.above].filter((each) => each !== undefined);
        for (const each of all) each.asked += 1;
        const was = cut(given);
        const said = await code(E(held<Bell>(link, given.petname)).ring());
        if (said !== 'ok') return;
        // A grant that was revoked before the question lets nothing through any more.
        expect(was).not.toBe('yes');
        for (const each of all) each.answered += 1;
      },
      async () => {
        const given = pick(grants.filter((each) => each.revoked === 'no'));
        if (given === undefined || random(3) > 0) return;
        given.revoked = 'asked';
        const said = await host.do('granter', 'owner', 'revoke', { grant: given.id });
        if (said === null) given.revoked = 'yes';
      },
      async () => {
        const session = pick(open());
        if (session === undefined || random(6) > 0) return;
        session.ended = 'asked';
        const said = await host.do('end', session.id);
        if (said === null) session.ended = 'yes';
      },
      async () => {
        const session = pick(open());
        if (session === undefined || random(4) > 0) return;
        // Not used before the kill: the old one goes on opening.
        await host.do('rotate', session.id);
      },
      async (links) => {
        const [session, link] = pick([...links]) ?? [];
        if (session === undefined || over(session) !== 'no') return;
        made += 1;
        // Most wait until the host is killed.
        later(E((link as Connected<SessionFace>).bootstrap).request({ asks: 'bell', terms: { uses: made }, why: '' }));
      },
      async () => {
        const said = await host.do<Request[] | string>('granter', 'owner', 'inbox');
        if (typeof said === 'string') return;
        for (const { id, digest } of said) shown.set(id, digest);
        const request = pick(said);
        const session = sessions.find((each) => each.id === request?.session);
        if (request === undefined || session === undefined || random(3) > 0) return;
        session.tried += 1;
        const answered = await host.do('granter', 'owner', 'answer', request.id, { grant: { uses: 2 } });
        if (answered === null) session.granted += 1;
      },
    ];
    /** The text that a person was shown. */
    const shown = new Map<string, string>();

    for (let round = 0; round < 4; round += 1) {
      const links = new Map<Seen, Connected<SessionFace>>();
      for (const session of open())
        links.set(session, await connect<SessionFace>(await host.url, { secret: session.secret }));
      const lanes = Array.from({ length: 8 }, async () => {
        for (let step = 0; step < 25; step += 1) await pick(acts)?.(links);
      });
      // A moment that is in the middle of some of them, whatever the machine does.
      for (let steps = 5 + random(60); steps > 0; steps -= 1) await host.do('sessions');
      await host.kill();
      await Promise.all(lanes);
      for (const link of links.values()) await link.closed;

      host = new HostProcess(state);
      const url = await host.url;
      await host.do('offer');
      // Nothing is asked any more, and no yes to what was shown before grants anything.
      expect(await host.do('granter', 'owner', 'inbox')).toEqual([]);
      for (const [id, digest] of [...shown].slice(-12))
        expect(await host.do('granter', 'owner', 'answer', id, { grant: { uses: 2 }, digest })).toBe('no-such-object');
      const there = new Set((await host.do<{ id: string }[]>('sessions')).map(({ id }) => id));
      const listed = new Map<string, Grant>();
      for (let after: string | undefined; ; ) {
        const page = await host.do<Grant[]>('granter', 'owner', 'list', after === undefined ? {} : { after });
        for (const grant of page) listed.set(grant.id, grant);
        after = page.at(-1)?.id;
        if (after === undefined) break;
      }
      for (const session of sessions) {
        const ended = over(session);
        const entered = await connect<SessionFace>(url, { secret: session.secret }).catch((error: { code: string }) => error.code); // biome-ignore format: one line
        if (ended === 'yes') expect([entered, there.has(session.id)]).toEqual(['denied', false]);
        else if (ended === 'no') expect(typeof entered).toBe('object');
        if (typeof entered !== 'object') {
          // Whole or not at all: of one that was being ended nothing is left either.
          expect(there.has(session.id)).toBe(false);
          expect([...listed.values()].some((grant) => grant.session === session.id)).toBe(false);
          session.ended = 'yes';
          continue;
        }
        if (session.ended === 'asked') session.ended = 'no';
        const caps = await E(entered.bootstrap).caps();
        for (const petname of session.petnames) expect(caps).toContain(petname);
        // A petname and its grant are one: also of those whose answer never came.
        expect([...listed.values()].filter((grant) => grant.session === session.id).map(({ petname }) => petname).sort()).toEqual([...caps].sort()); // biome-ignore format: one line
        const asked = caps.filter((petname) => petname.startsWith('bell')).length;
        expect(asked).toBeGreaterThanOrEqual(session.granted);
        expect(asked).toBeLessThanOrEqual(session.tried);
        session.tried = asked;
        session.granted = asked;
        entered.close();
        await entered.closed;
      }
      for (const given of grants) {
        const grant = listed.get(given.id);
        if (over(given.session) === 'yes') {
          expect(grant).toBeUndefined();
          continue;
        }
        const ended = cut(given);
        // One that was used up before the grant above it was revoked says so.
        if (ended === 'yes')
          expect(given.revoked === 'yes' ? ['revoked'] : ['revoked', 'exhausted']).toContain(grant?.state);
        else if (ended === 'no') expect(['live', 'exhausted']).toContain(grant?.state);
        given.revoked = given.revoked === 'asked' ? (grant?.state === 'revoked' && cut(given.above) === 'no' ? 'yes' : 'no') : given.revoked; // biome-ignore format: one line
        // A use that was answered is spent; none is ever given back, nor spent twice.
        const left = grant?.usesLeft as number;
        expect(left).toBeLessThanOrEqual(given.uses - given.answered);
        expect(left).toBeGreaterThanOrEqual(leastLeft(given));
        given.asked = given.uses - left;
      }
      expect(await host.do('verify')).toMatchObject({ ok: true });
    }
    expect(grants.length).toBeGreaterThan(10);
    expect(grants.some(({ answered }) => answered > 0)).toBe(true);
    expect(shown.size).toBeGreaterThan(0);
    expect(sessions.some(({ granted }) => granted > 0)).toBe(true);
  },
  180_000,
);
