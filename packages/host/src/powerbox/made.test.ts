/** A granter gives one use of `create`, and terms for the objects that it makes. The agent is the attacker. */
import { type Definition, define, E, type Far, spawn } from '@hob/vat';
import { expect, test } from 'vitest';
import { type Scene, scene } from '../../test/asking.ts';
import { code, held, lines } from '../../test/test-host.ts';
import type { Grant, GrantTerms, SessionFace } from '../index.ts';

interface Event {
  share(person: string): string;
  remove(): void;
}
interface Calendar {
  create(title: string): Far<Event>;
}
const EventActor: Definition<Event, [title: string]> = define('test.event', (_bcom, title) => ({
  share: (person) => `${title} to ${person}`,
  remove: () => undefined,
}));
const CalendarActor: Definition<Calendar, []> = define('test.calendar', () => ({
  create: (title) => spawn(EventActor(title)) as unknown as Far<Event>,
}));

const TERMS: GrantTerms = { scope: 'once', made: { uses: 2, methods: ['share'] } };

async function calendar(at: Scene, terms: GrantTerms = TERMS): Promise<{ cap: Far<Calendar>; grant: Grant }> {
  const offered = await at.host.vats.vat('calendars').spawn(CalendarActor());
  await at.host.offer('calendar', offered as object);
  const grant = (await E(at.owner).grant(at.session.id, 'calendar', 'calendar', terms)) as Grant;
  return { cap: (await held<Calendar>(at.agent, 'calendar')) as Far<Calendar>, grant };
}

test('create once, then share, is one grant; nothing else is reached by it', async () => {
  const at = await scene({ definitions: [EventActor, CalendarActor] });
  const { cap } = await calendar(at);
  const event = (await E(cap).create('Dinner')) as unknown as Far<Event>;
  expect(await code(E(cap).create('Lunch'))).toBe('exhausted');
  expect(await code(E(event).remove())).toBe('no-such-method');
  expect(await E(event).share('ann')).toBe('Dinner to ann');
  expect(await code(E(event).share('bob'))).toBe('ok');
  expect(await code(E(event).share('eve'))).toBe('exhausted');
});

test('its granter sees that something of a used up grant goes on, and ends it', async () => {
  const at = await scene({ definitions: [EventActor, CalendarActor] });
  const { cap, grant } = await calendar(at);
  const event = (await E(cap).create('Dinner')) as unknown as Far<Event>;
  const [live] = (await E(at.owner).list({ live: true })) as readonly Grant[];
  expect(live).toMatchObject({ id: grant.id, state: 'exhausted', usesLeft: 0 });
  expect(live!.madeUntil).toBeGreaterThan(Date.now() + 80 * 86_400_000);
  await E(at.owner).revoke({ grant: grant.id });
  expect(await code(E(event).share('ann'))).toBe('revoked');
  expect(await E(at.owner).list({ live: true })).toEqual([]);
  // Each line of it is one of its session, and says which objects it is about.
  const own = (await lines(at.host, 'refuse')).filter(({ grant: of }) => of === grant.id);
  expect(own).toMatchObject([{ method: 'share', code: 'revoked', made: expect.any(String) }]);
});

test('a delegated grant says that its objects are left only while the grant above lets them work', async () => {
  const at = await scene({ definitions: [EventActor, CalendarActor] });
  const { grant } = await calendar(at, { uses: 5, made: { uses: 3 } });
  const child = await at.child('child');
  const options = { uses: 1, made: { uses: 2 } };
  const given = (await E(at.owner).delegate(at.session.id, 'calendar', child.id, options)) as Grant;
  const agent = await at.enterAs<SessionFace>(child.secret);
  const event = (await E(held<Calendar>(agent, 'calendar')).create('Dinner')) as unknown as Far<Event>;
  const left = async (): Promise<boolean> => {
    const all = (await E(at.owner).list()) as readonly Grant[];
    return all.find(({ id }) => id === given.id)!.madeUntil !== undefined;
  };
  expect([await left(), await code(E(event).share('ann'))]).toEqual([true, 'ok']);
  await E(at.owner).revoke({ grant: grant.id });
  expect([await left(), await code(E(event).share('bob'))]).toEqual([false, 'revoked']);
});

test('it ends with its session, and by a revocation of all', async () => {
  for (const ends of ['session', 'all'] as const) {
    const at = await scene({ definitions: [EventActor, CalendarActor] });
    const { cap } = await calendar(at);
    const event = (await E(cap).create('Dinner')) as unknown as Far<Event>;
    await (ends === 'all' ? E(at.owner).revoke('all') : E(at.owner).end(at.session.id));
    expect(['revoked', 'disconnected']).toContain(await code(E(event).share('ann')));
  }
});

test('a call of what was made waits for a yes where the grant says so, and names the call that it came out of', async () => {
  const at = await scene({ definitions: [EventActor, CalendarActor] });
  const { cap } = await calendar(at, { ...TERMS, gated: ['share'] });
  const event = (await E(cap).create('Dinner')) as unknown as Far<Event>;
  const sharing = code(E(event).share('ann'));
  const [request] = await at.inbox();
  expect(request!.effect).toBe('calls share, through “calendar”, in what “create("Dinner")” gave out');
  await at.answer(request!, { grant: {} });
  expect(await sharing).toBe('ok');
});

test('a call of what was made can wait for a yes when its grant is over; once that is revoked, no yes sends it', async () => {
  const at = await scene({ definitions: [EventActor, CalendarActor] });
  const { cap, grant } = await calendar(at, { uses: 5, for: 1000, gated: ['share'], made: { uses: 3 } });
  const event = (await E(cap).create('Dinner')) as unknown as Far<Event>;
  while (((await E(at.owner).list()) as readonly Grant[])[0]!.state === 'live') await new Promise((done) => setTimeout(done, 50)); // biome-ignore format: one line
  const [first, second] = [code(E(event).share('ann')), code(E(event).share('bob'))];
  const [request] = await at.inbox(2);
  await at.answer(request!, { grant: {} });
  expect(await first).toBe('ok');
  await E(at.owner).revoke({ grant: grant.id });
  expect(await second).toBe('revoked');
});

test('a refusal before anybody was asked gives the grant no use back for a call of what it made', async () => {
  const at = await scene({ definitions: [EventActor, CalendarActor] });
  const { cap, grant } = await calendar(at, { ...TERMS, gated: ['share'], made: { uses: 400 } });
  const event = (await E(cap).create('Dinner')) as unknown as Far<Event>;
  // More than may wait: those beyond the limit are refused unseen.
  const all = Array.from({ length: 300 }, (_, n) => code(E(event).share(`p${n}`)));
  await expect.poll(async () => (await lines(at.host, 'request')).length).toBeGreaterThan(10);
  expect(await code(E(cap).create('Lunch'))).toBe('exhausted');
  await E(at.owner).revoke({ grant: grant.id });
  expect(new Set(await Promise.all(all))).toEqual(new Set(['limit', 'revoked']));
});

test('an approver reads the terms in made, each in a row; a request to make things without a limit is refused', async () => {
  const at = await scene();
  expect(await code(at.request({ terms: { made: { uses: 3 } } }))).toBe('invalid');
  at.request({ terms: { uses: 1, made: { uses: 3, for: 3_600_000, methods: ['readText'] } } });
  const [request] = await at.inbox();
  expect(request!.table).toEqual(
    expect.arrayContaining([
      ['objects that it makes', '3 calls, within 60 min, also when this grant is over'],
      ['objects that it makes: methods', 'readText'],
    ]),
  );
});
