/** A session asks, a granter answers. Over real CapTP; the agent is the attacker. */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { driver, E, type Far } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { expect, test } from 'vitest';
import { later, scene } from '../../test/asking.ts';
import { code, held, lines } from '../../test/test-host.ts';
import type { Granter, RequestAnswer, SessionFace } from '../index.ts';
import { askingLimits } from './pending.ts';

const message = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: Error & { code?: string }) => `${error.code}: ${error.message}`,
  );

test('a session asks, a person sees the request and approves, and the promise becomes the cap; calls that were sent to the promise are made then', async () => {
  const { agent, request, inbox, answer, write, session, owner, host, folder } = await scene();
  write('a.txt', 'hello');
  const cap = request({ terms: { uses: 2, methods: ['readText', 'stat'] }, why: 'to read a.txt' });
  const early = later(E(cap).readText('a.txt'));
  const [asked] = await inbox();
  expect(asked).toMatchObject({
    kind: 'grant',
    session: session.id,
    asker: [session.id],
    asks: 'notes',
    effect: `lets session “${session.id}” use “notes”: 2 calls, until the session ends`,
    table: [
      ['what', '“notes”'],
      ['where', `the directory “${join(realpathSync(folder), 'root')}”`],
      ['how often, how long', '2 calls, until the session ends'],
      ['methods', 'readText, stat'],
    ],
    permits: [
      'everything below the directory “notes”, also what is put there later',
      'readText: reads files',
      'stat: tells size, time and kind',
    ],
    flags: [],
    why: 'the agent says: “to read a.txt”',
    waiting: true,
    count: 1,
    proposals: [],
  });
  expect(asked?.digest).toMatch(/^[a-z2-7]{52}$/);
  expect(await E(agent.bootstrap).caps()).toEqual([]);
  await answer(asked!, { grant: asked!.terms! });
  expect(await early).toBe('hello');
  expect(await code(E(cap).write('a.txt', 'x'))).toBe('no-such-method');
  expect(await E(cap).readText('a.txt')).toBe('hello');
  expect(await code(E(cap).readText('a.txt'))).toBe('exhausted');
  // It is a grant like others.
  expect(await E(agent.bootstrap).caps()).toEqual(['notes']);
  const [grant] = await E(owner).list();
  expect(grant).toMatchObject({ petname: 'notes', offered: 'notes', granter: 'owner', state: 'exhausted' });
  expect(await inbox(0)).toEqual([]);
  // The human act is in the ledger, and behind each call.
  const { id, digest } = asked!;
  expect(await lines(host, 'request')).toMatchObject([{ request: id, session: session.id, digest, asks: 'notes' }]);
  expect(await lines(host, 'approve')).toMatchObject([{ request: id, session: session.id, digest, by: 'owner', surface: 'wire', grant: grant?.id }]); // biome-ignore format: one line
  expect(await lines(host, 'grant')).toMatchObject([{ request: id, act: digest, by: 'owner', surface: 'wire' }]);
  const calls = await lines(host, 'call');
  expect(calls.map(({ grant: of, act }) => [of, act])).toEqual([[grant?.id, digest], [grant?.id, digest]]); // biome-ignore format: one line
});

test('an answer without a digest is for the request of that id, because an id is never used for another request', async () => {
  const { request, inbox, host, owner } = await scene();
  const cap = request({});
  const [shown] = await inbox();
  await host.offer('notes', driver<{ readText(path: string): string }>({ readText: () => 'something else' }));
  expect(await code(E(owner).answer(shown!.id, { grant: {} }))).toBe('STALE');
  const [anew] = await inbox();
  expect(anew?.id).not.toBe(shown!.id);
  expect(await code(E(owner).answer(shown!.id, { grant: {} }))).toBe('no-such-object');
  await E(owner).answer(anew!.id, { grant: { uses: 1 } });
  expect(await E(cap).readText('x')).toBe('something else');
});

test('the ledger lines of grants below an approved grant have its digest too', async () => {
  const { request, inbox, answer, enterAs, child, write, host } = await scene();
  write('a.txt', 'hello');
  const cap = request({});
  const [asked] = await inbox();
  await answer(asked!, { grant: {} });
  await cap;
  const { secret } = await child('helper', { mine: 'notes' });
  const helper = await enterAs<SessionFace>(secret);
  await E(held<FsCap>(helper, 'mine')).readText('a.txt');
  expect((await lines(host, 'call')).map(({ act }) => act)).toEqual([asked?.digest, asked?.digest]);
});

test('an answer counts once: a replayed, forged or late one, one with another digest or for another granter’s session grants nothing', async () => {
  const clock = testClock();
  const { request, inbox, answer, owner, host, enterAs, session } = await scene({ clock });
  const first = request({});
  const [asked] = await inbox();
  const { id, digest } = asked!;
  const send = (of: Far<Granter>, request: string, act: object): Promise<string> =>
    code(E(of).answer(request, act as RequestAnswer));
  for (const act of [{ grant: {}, digest: 7 }, { grant: {}, digest: '' }, { grant: {}, digest: `${digest.slice(0, -1)}x` }, { grant: {}, digest: digest.slice(0, 12) }, { refuse: 'no', digest: 'x' }, {}, null, 'yes'] as never[]) // biome-ignore format: one line
    expect(['invalid', 'denied']).toContain(await send(owner, id, act));
  expect(await send(owner, id, { digest })).toBe('invalid');
  expect(await send(owner, 'q999-none', { grant: {}, digest })).toBe('no-such-object');
  // Another granter, also one who was told id and digest.
  const other = await host.addGranter('other');
  const theirs = await host.openSession({ name: 'theirs', granters: ['other'] });
  const otherWire = (await enterAs<Granter>(other.secret)).bootstrap;
  for (const granter of [other.granter, otherWire]) {
    expect(await E(granter).inbox()).toEqual([]);
    expect(await send(granter, id, { grant: {}, digest })).toBe('no-such-object');
    expect(await send(granter, id, { refuse: 'no', digest })).toBe('no-such-object');
  }
  // An answer to one session's request is none to another's, even for the same thing.
  const foreign = await enterAs<SessionFace>(theirs.secret);
  const second = request({}, foreign);
  const [also] = await inbox(1, otherWire);
  expect(also?.digest).not.toBe(digest);
  expect(await send(otherWire, also!.id, { grant: {}, digest })).toBe('denied');
  await answer(asked!, { grant: {} });
  await first;
  expect(await send(owner, id, { grant: {}, digest })).toBe('no-such-object');
  expect(await send(owner, id, { refuse: 'no', digest })).toBe('no-such-object');
  expect((await E(owner).list()).length).toBe(1);
  // The same is asked again: the old answer is not for it.
  const again = request({});
  const [anew] = await inbox();
  expect(anew?.id).not.toBe(id);
  expect(await send(owner, id, { grant: {}, digest })).toBe('no-such-object');
  clock.advance(3_600_000);
  expect(await code(again)).toBe('expired');
  expect(await code(second)).toBe('expired');
  expect(await send(owner, anew!.id, { grant: {}, digest })).toBe('no-such-object');
  expect(await lines(host, 'withdraw')).toMatchObject([
    { request: also?.id, session: theirs.id, code: 'expired' },
    { request: anew?.id, session: session.id, code: 'expired' },
  ]);
  expect((await lines(host, 'approve')).length).toBe(1);
});

test('two answers at once: one of them counts', async () => {
  const { request, inbox, owner, host } = await scene();
  const cap = request({});
  const [asked] = await inbox();
  const { id, digest } = asked!;
  const said = await Promise.all([
    ...Array.from({ length: 8 }, () => code(E(owner).answer(id, { grant: {}, digest }))),
    code(E(await host.granter('owner')).answer(id, { refuse: 'no', digest })),
  ]);
  expect(said.filter((one) => one === 'ok').length).toBe(1);
  await code(cap);
  expect((await E(owner).list()).length + (await lines(host, 'deny')).length).toBe(1);
});

test('a no tells the agent the reason and what to ask for instead; a lasting no is for this session and exactly this request', async () => {
  const { request, inbox, answer, host, enterAs, session } = await scene();
  await host.offer('clock', driver<{ now(): number }>({ now: () => 1 }));
  const first = message(request({ terms: { uses: 5 } }));
  await answer((await inbox())[0]!, { refuse: 'too much' });
  expect(await first).toBe(
    'denied: a granter said no: too much; you could ask for fewer methods, uses or less time of "notes", or clock',
  );
  const second = message(request({ terms: { uses: 5 } }));
  await answer((await inbox())[0]!, { refuse: 'still too much', lasting: true, instead: 'two calls' } as never);
  expect(await second).toMatch(/^denied: a granter said no: still too much; you could ask for two calls$/);
  // Nobody is asked again, and who asks hears the same.
  expect(await message(request({ terms: { uses: 5 } }))).toMatch(/^denied: .*still too much.*as long as this session/);
  expect(await inbox(0)).toEqual([]);
  // Other terms are another request, and another session is another.
  const third = request({ terms: { uses: 2 } });
  await answer((await inbox())[0]!, { grant: { uses: 2 } });
  await third;
  const other = await host.openSession({ name: 'other', granters: ['owner'] });
  const agent = await enterAs<SessionFace>(other.secret);
  const theirs = request({ terms: { uses: 5 } }, agent);
  await answer((await inbox())[0]!, { grant: {} });
  await theirs;
  expect(await lines(host, 'deny')).toMatchObject([
    { session: session.id, by: 'owner', surface: 'wire', why: 'too much' },
    { session: session.id, by: 'owner', why: 'still too much', lasting: true },
  ]);
});

test('identical requests are one request with a count; one yes answers all of them with one grant', async () => {
  const { request, inbox, answer, owner, write } = await scene();
  write('a.txt', 'hello');
  const all = Array.from({ length: 5 }, (_, n) => request({ why: `reason ${n}` }));
  for (;;) {
    const [asked] = await inbox();
    if (asked!.count < 5) continue;
    // The text that was shown stays: whoever asks again cannot change the words.
    expect(asked?.why).toBe('the agent says: “reason 0”');
    await answer(asked!, { grant: { uses: 5 } });
    break;
  }
  for (const cap of all) expect(await E(cap).readText('a.txt')).toBe('hello');
  expect(await code(E(all[0]!).readText('a.txt'))).toBe('exhausted');
  expect((await E(owner).list()).length).toBe(1);
});

test('the waiting requests of a session and its children are limited; a flood gets limit, and other sessions ask as before', async () => {
  const clock = testClock();
  const { request, inbox, answer, host, enterAs, child } = await scene({ clock });
  const flood = Array.from({ length: 200 }, (_, n) => message(request({ terms: { uses: n + 1 } })));
  await inbox(askingLimits['pending']);
  const { secret } = await child('helper');
  const helper = await enterAs<SessionFace>(secret);
  expect(await message(request({ terms: { uses: 999 } }, helper))).toMatch(/^limit: 16 requests/);
  const other = await host.openSession({ name: 'other', granters: ['owner'] });
  const polite = await enterAs<SessionFace>(other.secret);
  const theirs = request({}, polite);
  const asked = await inbox(askingLimits['pending']! + 1);
  await answer(asked.find(({ session }) => session === other.id)!, { grant: {} });
  await theirs;
  // Refused and asked anew, again and again: the hour is used up.
  let limited = '';
  for (let n = 1000; limited === '' && n < 1300; n += 1) {
    const [one] = await inbox(askingLimits['pending']);
    await answer(one!, { refuse: 'no' });
    const next = message(request({ terms: { uses: n } }));
    const said = await Promise.race([next, inbox(askingLimits['pending']).then(() => 'asked')]);
    if (said !== 'asked') limited = said;
  }
  expect(limited).toMatch(/^limit: this session has asked 120 times within an hour/);
  // And the same over and over.
  const rest = await inbox(15);
  const one = rest[0]!;
  const same = Array.from({ length: 100 }, () => message(request({ terms: one.terms! })));
  while ((await inbox(15))[0]!.count < askingLimits['together']!) await new Promise((resolve) => setImmediate(resolve));
  for (const left of rest) await answer((await inbox(rest.length - rest.indexOf(left)))[0]!, { refuse: 'no' });
  const said = await Promise.all(same);
  expect(said.filter((each) => each.startsWith('limit: this was asked 64 times')).length).toBe(37);
  expect((await Promise.all(flood)).filter((each) => each.startsWith('limit')).length).toBe(184);
  clock.advance(3_600_000);
  const later = request({ terms: { uses: 7 } });
  await answer((await inbox())[0]!, { grant: {} });
  await later;
});

test('attack: a session that asks again and again after refusals with limit is read more slowly', async () => {
  const { request, inbox, owner } = await scene();
  const most = askingLimits['pending'] as number;
  const waiting = Array.from({ length: most }, (_, n) => message(request({ terms: { uses: n + 1 } })));
  await inbox(most);
  let refused = 0;
  let over = false;
  const ask = async (): Promise<void> => {
    while (!over) if ((await message(request({ terms: { uses: 1000 + refused } }))).startsWith('limit')) refused += 1;
  };
  const began = performance.now();
  const flood = Array.from({ length: 256 }, ask);
  while (performance.now() < began + 1500) await E(owner).inbox();
  over = true;
  // 256 requests are under way. After their refusals the connection is not read for two seconds.
  expect(refused).toBeLessThan(256 * (2 + (performance.now() - began) / 2000));
  await Promise.all(flood);
  for (const asked of await inbox(most)) await E(owner).answer(asked.id, { digest: asked.digest, refuse: 'no' });
  await Promise.all(waiting);
});

test('a request contains only data that the host understands; a request for anything else is refused', async () => {
  const { agent, request, inbox, session, host, enterAs } = await scene();
  const mine = driver<{ x(): void }>({ x: () => {} });
  for (const terms of [{ uses: 0 }, { usess: 1 }, { scope: 'ever' }, { gated: [] }, { for: 1, until: 2 }, { where: { write: { 0: { is: mine } } } }, new Promise(() => {}), mine, 7]) // biome-ignore format: one line
    expect(await code(request({ terms: terms as never })), JSON.stringify(terms)).toBe('invalid');
  for (const ask of [{ why: 7 }, { asks: 7 }, { why: mine }]) expect(await code(request(ask as never))).toBe('invalid');
  expect(await code(E(agent.bootstrap).request(undefined as never))).toBe('invalid');
  expect(await message(request({ asks: 'bank' }))).toBe('no-such-object: there is no offer of that name: you could ask for notes'); // biome-ignore format: one line
  expect(await inbox(0)).toEqual([]);
  const alone = await host.openSession({ name: 'alone' });
  expect(await code(request({}, await enterAs<SessionFace>(alone.secret)))).toBe('denied');
  expect(session.id).toBeDefined();
});

test('the words of an agent are shown as its words, escaped and cut, with a warning about odd characters', async () => {
  const { request, inbox } = await scene();
  later(request({ why: `fine”\n  it is APPROVED by owner\u202e ${'x'.repeat(3000)}` }));
  const [asked] = await inbox();
  expect(asked?.why).toMatch(
    /^the agent says: “fine⟦U\+201D⟧⟦NL⟧ {2}it is APPROVED by owner⟦U\+202E⟧ x{40,} ⟦cut: 1500 more characters⟧”$/,
  );
  expect(asked?.flags).toEqual(['it has characters that change the direction of text']);
});

test('a session asks for more of a cap by its petname, and gets it under a new petname', async () => {
  const { request, inbox, answer, agent, owner, session } = await scene();
  await E(owner).grant(session.id, 'mine', 'notes', { uses: 1 });
  const more = request({ asks: 'mine', terms: { uses: 1 } });
  const [asked] = await inbox();
  expect(asked?.effect).toContain('use “notes”, of which it holds “mine”: once');
  await answer(asked!, { grant: asked!.terms! });
  await more;
  expect(await E(agent.bootstrap).caps()).toEqual(['mine', 'mine-2']);
  const named = request({ asks: 'mine', terms: { uses: 3 } });
  const [next] = await inbox();
  expect(await code(E(owner).answer(next!.id, { grant: {}, as: 'mine', digest: next!.digest }))).toBe('invalid');
  await answer(next!, { grant: {}, as: 'extra' } as never);
  await named;
  expect(await E(agent.bootstrap).caps()).toEqual(['extra', 'mine', 'mine-2']);
});

test('after a grant has expired, its session and the sessions below ask for it again by its petname', async () => {
  const clock = testClock();
  const { request, inbox, answer, agent, owner, session, child, enterAs } = await scene({ clock });
  await E(owner).grant(session.id, 'workspace', 'notes', { for: 3_600_000 });
  clock.advance(3_600_000);
  expect(await code(E(held<FsCap>(agent, 'workspace')).readText('a'))).toBe('expired');
  // The child begins without the expired cap, and knows its name from the person.
  const { id, secret } = await child('helper');
  const helper = await enterAs<SessionFace>(secret);
  for (const [from, of, who] of [
    [agent, session.id, 'it'],
    [helper, id, `session “${session.id}”`],
  ] as const) {
    // biome-ignore format: one line
    const again = request({ asks: 'workspace', terms: { for: 7 * 86_400_000 } }, from);
    const [asked] = await inbox();
    expect(asked).toMatchObject({ asks: 'workspace', session: of });
    expect(asked?.effect).toContain(`use “notes”, of which ${who} holds “workspace”`);
    await answer(asked!, { grant: asked!.terms! });
    await again;
  }
  expect(await E(agent.bootstrap).caps()).toEqual(['workspace', 'workspace-2']);
  expect((await E(helper.bootstrap).caps()).length).toBe(1);
  // A name that only a session beside it, or below it, holds is no name here.
  const other = await enterAs<SessionFace>((await child('other')).secret);
  const own = (await E(helper.bootstrap).caps())[0] as string;
  if (own !== 'workspace') expect(await code(request({ asks: own }, other))).toBe('no-such-object');
  await E(owner).grant(id, 'private', 'notes', {});
  expect(await code(request({ asks: 'private' }, other))).toBe('no-such-object');
  expect(await code(request({ asks: 'private' }))).toBe('no-such-object');
});

test('what waits for a person alone stays so in a grant that its session, or one below it, asks for', async () => {
  const { request, inbox, answer, agent, owner, session, child, enterAs } = await scene();
  await E(owner).grant(session.id, 'mine', 'notes', { gated: ['write'], personOnly: true });
  const judge = E(owner).judge();
  const { secret } = await child('helper');
  const helper = await enterAs<SessionFace>(secret);
  // By the petname, by the name of the offer, and from below: the terms that it asks for say nothing of it.
  for (const [asks, from] of [['mine', agent], ['notes', agent], ['notes', helper]] as const) {
    const asked = request({ asks, terms: { gated: ['write'] } }, from);
    const [shown] = await inbox();
    expect([shown?.personOnly, shown?.terms?.personOnly, await E(judge).inbox()]).toEqual([true, true, []]);
    expect(shown?.table).toContainEqual(['answered by', 'a person alone: no judge sees what waits']);
    await answer(shown!, { grant: shown!.terms! });
    const cap = (await asked) as unknown as Far<FsCap>;
    const written = E(cap).write('a.txt', 'x');
    const [call] = await inbox();
    expect([call?.kind, call?.personOnly, await E(judge).inbox()]).toEqual(['call', true, []]);
    await answer(call!, { grant: {} });
    await written;
  } // biome-ignore format: a table
  // Another offer of the same session is not touched by it.
  const other = await scene();
  const plain = later(other.request({ asks: 'notes', terms: { gated: ['write'] } }));
  expect((await other.inbox())[0]?.personOnly).toBeUndefined();
  await other.answer((await other.inbox())[0]!, { refuse: 'no' });
  expect(await code(plain)).toBe('denied');
});

test('if another object is offered under the name while a request waits, a yes to the first object grants nothing of the second', async () => {
  const { request, inbox, answer, host, owner } = await scene();
  const cap = request({});
  const [asked] = await inbox();
  await host.offer('notes', driver<{ readText(path: string): string }>({ readText: () => 'something else' }));
  expect(await code(answer(asked!, { grant: {} }))).toBe('STALE');
  expect(await E(owner).list()).toEqual([]);
  // Asked anew, with what it would be now.
  const [anew] = await inbox();
  expect(anew).toMatchObject({ stale: asked?.id });
  expect(anew?.digest).not.toBe(asked?.digest);
  expect(anew?.permits).toEqual(['every method of “notes”: which it has cannot be seen from here']);
  await answer(anew!, { grant: {} });
  expect(await E(cap).readText('x')).toBe('something else');
});

test('when the asking session ends its request is withdrawn, and an answer to it says so', async () => {
  const { request, inbox, answer, session, host, owner, child, enterAs } = await scene();
  const { id, secret } = await child('helper');
  const helper = await enterAs<SessionFace>(secret);
  const theirs = code(request({}, helper));
  const [asked] = await inbox();
  expect(asked).toMatchObject({ session: id, asker: [session.id, id] });
  const mine = code(request({}));
  const [, second] = await inbox(2);
  await E(owner).end(id);
  expect(['revoked', 'disconnected']).toContain(await theirs);
  expect(await code(answer(asked!, { grant: {} }))).toBe('no-such-object');
  expect((await inbox(1))[0]?.id).toBe(second?.id);
  await session.end();
  expect(['revoked', 'disconnected']).toContain(await mine);
  expect(await code(answer(second!, { grant: {} }))).toBe('no-such-object');
  expect(await lines(host, 'withdraw')).toMatchObject([{ request: asked?.id, code: 'revoked' }, { request: second?.id, code: 'revoked' }]); // biome-ignore format: one line
});

test('when the asker’s connection is lost the granter sees it; an answer counts within the grace time, and then the request is withdrawn', async () => {
  const clock = testClock();
  const { request, inbox, answer, session, host, agent, enterAs, owner } = await scene({ clock, graceMs: 60_000 });
  await E(owner).grant(session.id, 'keeps', 'notes', { until: clock.wall() + 86_400_000 });
  const lost = code(request({}));
  expect((await inbox())[0]?.waiting).toBe(true);
  agent.close();
  await agent.closed;
  expect(await lost).toBe('disconnected');
  let asked = (await inbox())[0]!;
  while (asked.waiting) asked = (await inbox())[0]!;
  // Back again: the old call is gone with its connection.
  const back = await enterAs<SessionFace>(session.secret);
  expect((await inbox())[0]?.waiting).toBe(false);
  const joined = request({}, back);
  while ((await inbox())[0]?.count !== 2) await new Promise((resolve) => setImmediate(resolve));
  expect((await inbox())[0]).toMatchObject({ id: asked.id, waiting: true });
  await answer(asked, { grant: {} });
  await joined;
  expect(await E(back.bootstrap).caps()).toEqual(['keeps', 'notes']);
  const second = code(request({ terms: { uses: 3 } }, back));
  const [late] = await inbox();
  back.close();
  await back.closed;
  expect(await second).toBe('disconnected');
  while ((await inbox())[0]?.waiting) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(60_000);
  await inbox(0);
  // The session goes on, for it holds something that lasts; what it asked does not.
  expect((await host.sessions()).map(({ id }) => id)).toEqual([session.id]);
  expect(await code(answer(late!, { grant: {} }))).toBe('no-such-object');
  expect((await lines(host, 'withdraw')).at(-1)).toMatchObject({ request: late?.id, code: 'disconnected' });
});

test('a late alarm lets no late answer through', async () => {
  const real = testClock();
  // A machine that slept: the time is over, and nobody was woken yet.
  const deaf = {
    boottime: () => real.boottime(),
    wall: () => real.wall(),
    tick: () => real.tick(),
    bootId: real.bootId,
    after: () => () => {},
  };
  const { request, inbox, answer, owner } = await scene({ clock: deaf });
  later(request({}));
  const [asked] = await inbox();
  real.advance(3_600_000);
  expect(await code(answer(asked!, { grant: {} }))).toBe('expired');
  expect(await code(answer(asked!, { refuse: 'no' }))).toBe('expired');
  expect(await E(owner).list()).toEqual([]);
});
