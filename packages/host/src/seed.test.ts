/**
 * The demands on approvals of the document that the project came from: its test vector line by line, the five
 * failures it closes, the two it brings in. Over real CapTP: the agent, its child and the granter are
 * processes of their own.
 */
import { E, type Far } from '@hob/vat';
import { type TestClock, testClock } from '@hob/vat/testing';
import { afterAll, afterEach, beforeAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { type Entered, Puppet, type Said } from '../test/puppet.ts';
import { lines, type TestHost, testHost } from '../test/test-host.ts';
import type { NewSession as Session } from './index.ts';

/** The process of the agent and its child: starting one costs a second, so it is one for all tests. */
let agents: Puppet;
beforeAll(() => {
  agents = new Puppet();
});
afterAll(() => agents.kill());

let clock: TestClock;
let home: TestHost;
let ran: string[];
let waiting: PromiseWithResolvers<string>;
let begun: PromiseWithResolvers<void>;
beforeEach(async () => {
  clock = testClock();
  home = await testHost({ clock });
  ran = [];
  waiting = Promise.withResolvers();
  begun = Promise.withResolvers();
  await home.host.offer('dangerous', {
    invoke: async (command: string) => {
      ran.push(command);
      return 'ok';
    },
    wait: () => {
      begun.resolve();
      return waiting.promise;
    },
  });
});
afterEach(async () => {
  waiting.resolve('over');
  await home.close();
});

type Terms = Readonly<Record<string, unknown>>;
const approve = async (petname: string, terms: Terms, session: Session = home.session): Promise<string> => {
  const { id } = await E(home.granter).grant(session.id, petname, 'dangerous', terms);
  return id;
};
const agent = (session: Session = home.session): Promise<Entered> => agents.enter(home.url, session.secret);
/** In a process of its own, to be killed. */
async function granter(): Promise<Entered & { kill(): Promise<void> }> {
  const process = new Puppet();
  onTestFinished(() => process.kill());
  return { ...(await process.enter(home.url, home.granterSecret)), kill: () => process.kill() };
}
const outcome = ({ value, code }: Said): unknown => code ?? value;
const settle = async (): Promise<void> => {
  for (let i = 0; i < 20; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

// ---- the test vector -------------------------------------------------------------------------------------------------------

test('cap = approve_once(dangerous_op): invoke ok, then exhausted', async () => {
  await approve('op', { uses: 1 });
  const { call } = await agent();
  expect(outcome(await call('op', 'invoke', 'args'))).toBe('ok');
  expect(outcome(await call('op', 'invoke', 'args'))).toBe('exhausted');
  expect(ran).toEqual(['args']);
});

test('cap, revoke = approve_session(dangerous_op): invoke ok, revoke(), then revoked', async () => {
  const grant = await approve('op', {});
  const { call } = await agent();
  expect(outcome(await call('op', 'invoke', 'args'))).toBe('ok');
  await E(home.granter).revoke({ grant });
  expect(outcome(await call('op', 'invoke', 'args'))).toBe('revoked');
  expect(ran).toEqual(['args']);
});

test('cap = approve_for(dangerous_op, seconds=60): at 61 seconds expired', async () => {
  await approve('op', { for: 60_000 });
  const { call } = await agent();
  expect(outcome(await call('op', 'invoke', 'args'))).toBe('ok');
  clock.advance(61_000);
  expect(outcome(await call('op', 'invoke', 'args'))).toBe('expired');
  expect(ran).toEqual(['args']);
});

test('delegate.spawn(child, caps=[]): a child without the cap has no such object', async () => {
  await approve('op', {});
  const child = await home.host.openSession({ name: 'child', granters: ['owner'] });
  const { call } = await agent(child);
  expect(outcome(await call('op', 'invoke', 'args'))).toBe('no-such-object');
  expect(ran).toEqual([]);
});

test('delegate.spawn(child, caps=[parent_cap]): ok, until the parent’s is revoked', async () => {
  const parents = await approve('op', {});
  const child = await home.host.openSession({ name: 'child', granters: ['owner'] });
  await home.host.offer('of-the-parent', await home.session.cap('op'));
  await E(home.granter).grant(child.id, 'op', 'of-the-parent', {});
  const { call } = await agent(child);
  expect(outcome(await call('op', 'invoke', 'args'))).toBe('ok');
  await E(home.granter).revoke({ grant: parents });
  expect(outcome(await call('op', 'invoke', 'args'))).toBe('revoked');
  expect(ran).toEqual(['args']);
});

// ---- failures that are closed ----------------------------------------------------------------------------------------------

test('closed: a regex misses a dangerous variant — there are no patterns, lack of a cap is what blocks, whatever the text', async () => {
  const variants = [
    'rm -rf /',
    "r''m -rf /",
    '\u{1d42b}\u{1d426} -rf /',
    'echo / | xargs rm -rf',
    '$(printf rm) -rf /',
    'base64 -d<<<cm0gLXJmIC8=|sh',
  ];
  const { call, send } = await agent();
  for (const variant of variants) {
    expect(outcome(await call('op', 'invoke', variant))).toBe('no-such-object');
    expect(outcome(await call(variant, 'invoke', variant))).toBe('no-such-object');
    expect(outcome(await send(variant, variant))).toBe('no-such-method');
  }
  expect(ran).toEqual([]);
  // And with a cap no text is looked at: what was granted is done.
  await approve('op', { uses: variants.length });
  for (const variant of variants) expect(outcome(await call('op', 'invoke', variant))).toBe('ok');
});

test('closed: an approval persists past its scope — every grant has an end, also one of no terms', async () => {
  for (const [petname, terms] of Object.entries({
    a: {},
    b: { uses: 1000 },
    c: { until: clock.wall() + 60_000 },
    d: { methods: ['invoke'] },
  }))
    await approve(petname, terms);
  const { call } = await agent();
  for (const petname of ['a', 'b', 'c', 'd']) expect(outcome(await call(petname, 'invoke', 'x'))).toBe('ok');
  clock.advance(90 * 24 * 3_600_000);
  for (const petname of ['a', 'b', 'c', 'd']) expect(outcome(await call(petname, 'invoke', 'x'))).toBe('expired');
});

test('closed: an approval leaks across sessions — another session has no way to it, by name, id or text', async () => {
  const id = await approve('op', {});
  const other = await home.host.openSession({ name: 'other', granters: ['owner'] });
  const { call, send } = await agent(other);
  expect(outcome(await send('caps'))).toEqual([]);
  for (const name of ['op', id, home.session.id, `${home.session.id}/op`, 'dangerous', home.session.secret])
    expect(outcome(await call(name, 'invoke', 'x'))).toBe('no-such-object');
  expect(ran).toEqual([]);
});

test('closed: a judge’s mistake — a session can ask and use, and nothing that it reaches grants', async () => {
  const { send } = await agent();
  for (const method of [
    'grant',
    'approve',
    'answer',
    'delegate',
    'renew',
    'narrow',
    'confirm',
    'offer',
    'addGranter',
    'openSession',
  ])
    expect(outcome(await send(method, home.session.id, 'op', 'dangerous', {})), method).toBe('no-such-method');
  expect(outcome(await send('caps'))).toEqual([]);
});

test('closed: a subagent inherits approvals silently — a session starts with nothing, and gets what is handed over', async () => {
  for (const petname of ['a', 'b']) await approve(petname, {});
  const child = await home.host.openSession({ name: 'child', granters: ['owner'] });
  const { send, call } = await agent(child);
  expect(outcome(await send('caps'))).toEqual([]);
  await home.host.offer('a-of-the-parent', await home.session.cap('a'));
  await E(home.granter).grant(child.id, 'mine', 'a-of-the-parent', { uses: 1 });
  expect(outcome(await send('caps'))).toEqual(['mine']);
  expect(outcome(await call('b', 'invoke', 'x'))).toBe('no-such-object');
});

// ---- failures that are brought in ------------------------------------------------------------------------------------------

test('mitigated: the revoker is lost — the granter’s process is killed: the grant still ends on time', async () => {
  const gone = await granter();
  const granted = (await gone.send('grant', home.session.id, 'op', 'dangerous', { for: 60_000 })) as { value: { id: string } }; // biome-ignore format: one line
  await gone.kill();
  const { call } = await agent();
  expect(outcome(await call('op', 'invoke', 'x'))).toBe('ok');
  clock.advance(60_000);
  await settle();
  expect((await lines(home.host, 'expire')).map(({ grant }) => grant)).toEqual([granted.value.id]);
  expect(outcome(await call('op', 'invoke', 'x'))).toBe('expired');
});

test('mitigated: the revoker is lost — a granter who comes back finds the grant and can revoke it', async () => {
  const gone = await granter();
  await gone.send('grant', home.session.id, 'op', 'dangerous', { for: 60_000 });
  await gone.kill();
  const { call } = await agent();
  expect(outcome(await call('op', 'invoke', 'x'))).toBe('ok');
  const back = await granter();
  const { value } = (await back.send('list', { live: true })) as { value: readonly { id: string; petname: string }[] };
  expect(value).toMatchObject([{ petname: 'op', state: 'live' }]);
  await back.send('revoke', { grant: value[0]?.id });
  expect(outcome(await call('op', 'invoke', 'x'))).toBe('revoked');
});

test('mitigated: clocks disagree — vat time decides, the wall clock may only shorten, and results under way have a grace', async () => {
  await approve('op', { for: 60_000 });
  const { call } = await agent();
  const under = call('op', 'wait');
  await begun.promise;
  clock.stepWall(-3_600_000);
  clock.advance(59_999);
  clock.advance(1);
  await settle();
  clock.advance(5999);
  waiting.resolve('in time');
  expect(outcome(await under)).toBe('in time');
  expect(outcome(await call('op', 'invoke', 'x'))).toBe('expired');
  await approve('other', { for: 60_000 });
  clock.stepWall(60_000);
  expect(outcome(await call('other', 'invoke', 'x'))).toBe('expired');
  clock.stepWall(-60_000);
  expect(outcome(await call('other', 'invoke', 'x'))).toBe('expired');
});

// ---- races over real sockets -------------------------------------------------------------------------------------------------

test('64 connections race for the last use: exactly one passes', async () => {
  // Sockets of one session fence each other, so each racer has a session of its own, and all hold one cap.
  await approve('op', { uses: 1 });
  await home.host.offer('the-one', await home.session.cap('op'));
  const racers = await Promise.all(
    Array.from({ length: 64 }, async (_, n) => {
      const session = await home.host.openSession({ name: `racer-${n}`, granters: ['owner'] });
      await E(home.granter).grant(session.id, 'op', 'the-one', {});
      const { bootstrap } = await home.enter(session.secret);
      return E(bootstrap).cap('op') as unknown as Far<{ invoke(text: string): string }>;
    }),
  );
  const codes = await Promise.all(
    racers.map((cap, n) =>
      E(cap)
        .invoke(`racer ${n}`)
        .then(
          () => 'ok',
          (error: { code: string }) => error.code,
        ),
    ),
  );
  expect(codes.filter((each) => each === 'ok')).toHaveLength(1);
  expect(codes.filter((each) => each === 'exhausted')).toHaveLength(63);
  expect(ran).toHaveLength(1);
});
