/** Calls that their session cancels, and requests whose id it is told at once. Over real CapTP. */
import { type CapError, type DriverCall, E } from '@hob/vat';
import { drivenBy } from '@hob/vat/forwarder';
import { expect, test } from 'vitest';
import { later, type Scene, scene } from '../../test/asking.ts';
import { code, lines } from '../../test/test-host.ts';
import type { SessionFace } from '../index.ts';

interface Clockwork {
  tick(): Promise<string>;
  wait(): Promise<string>;
}
const name = (n: number): string => `call-of-the-test-${n}`;

/** A cap whose `wait` ends only with its signal. `begun` and `stopped` count. */
async function clockwork(at: Scene): Promise<{ begun: number; stopped: number }> {
  const seen = { begun: 0, stopped: 0 };
  const wait = ({ signal }: DriverCall): Promise<string> =>
    new Promise((_resolve, reject) => {
      seen.begun += 1;
      signal.addEventListener('abort', () => {
        seen.stopped += 1;
        reject(signal.reason);
      });
    });
  const object = { tick: async () => 'tick', wait: async () => 'never' };
  await at.host.offer('clockwork', drivenBy(object, { tick: async () => 'tick', wait: (_args, call) => wait(call) }));
  return seen;
}
const grant = (at: Scene, petname: string, offer: string, terms: object = {}): Promise<unknown> =>
  E(at.owner).grant(at.session.id, petname, offer, terms as never) as unknown as Promise<unknown>;
const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
};
const call = (at: Scene, n: number, method: keyof Clockwork, of = at.agent): Promise<unknown> =>
  later(E(of.bootstrap).call({ call: name(n), cap: 'clock', method, args: [] }) as Promise<unknown>);

test('a cancelled call stops its driver and breaks at once; the other calls of the session go on', async () => {
  const at = await scene();
  const seen = await clockwork(at);
  await grant(at, 'clock', 'clockwork', { uses: 5 });
  const [first, second] = [call(at, 1, 'wait'), call(at, 2, 'wait')];
  await until(() => seen.begun === 2);
  await E(at.agent.bootstrap).cancel(name(1));
  expect(await code(first)).toBe('revoked');
  expect(seen.stopped).toBe(1);
  expect(await call(at, 3, 'tick')).toBe('tick');
  await E(at.agent.bootstrap).cancel(name(2));
  expect(await code(second)).toBe('revoked');
  // The uses stay charged, and the ledger has who ended what.
  expect(((await E(at.agent.bootstrap).holdings()) as unknown as [{ usesLeft: number }])[0].usesLeft).toBe(2);
  expect(await lines(at.host, 'cancel')).toMatchObject([
    { session: at.session.id, call: name(1) },
    { session: at.session.id, call: name(2) },
  ]);
});

test('a call that was cancelled before it came is not made', async () => {
  const at = await scene();
  const seen = await clockwork(at);
  await grant(at, 'clock', 'clockwork');
  await E(at.agent.bootstrap).cancel(name(1));
  expect(await code(call(at, 1, 'wait'))).toBe('revoked');
  expect(seen.begun).toBe(0);
});

test('a session cancels no call of another session, not even of its child, whatever name it gives', async () => {
  const at = await scene();
  const seen = await clockwork(at);
  await grant(at, 'clock', 'clockwork');
  const other = await at.host.openSession({ name: 'other', granters: ['owner'] });
  const [attacker, child] = [
    await at.enterAs<SessionFace>(other.secret),
    await at.enterAs<SessionFace>((await at.child('helper', { clock: 'clock' })).secret),
  ];
  const waits = [call(at, 1, 'wait'), call(at, 1, 'wait', child)];
  await until(() => seen.begun === 2);
  await E(attacker.bootstrap).cancel(name(1));
  for (const forged of [`${name(1)} `, `../${name(1)}`, `${at.session.id} ${name(1)}`, `=call ${at.session.id} ${name(1)}`, `=session ${at.session.id}`, '', 5])
    expect(await code(E(attacker.bootstrap).cancel(forged as string)), String(forged)).toBe('invalid'); // biome-ignore format: a list
  expect(seen.stopped).toBe(0);
  await E(child.bootstrap).cancel(name(1));
  expect(await code(waits[1]!)).toBe('revoked');
  expect(seen.stopped).toBe(1);
  await E(at.agent.bootstrap).cancel(name(1));
  expect(await code(waits[0]!)).toBe('revoked');
});

test('a cancelled call that waits for a person is withdrawn, and a later yes does nothing', async () => {
  const at = await scene();
  await grant(at, 'docs', 'notes', { gated: ['write'] });
  const write = { call: name(1), cap: 'docs', method: 'write', args: ['a.txt', 'one'] };
  const wrote = later(E(at.agent.bootstrap).call(write) as Promise<unknown>);
  const [asked] = await at.inbox();
  await E(at.agent.bootstrap).cancel(name(1));
  expect(await code(wrote)).toBe('revoked');
  await at.inbox(0);
  expect(await code(at.answer(asked!, { grant: {} }))).toBe('no-such-object');
  expect(() => at.file('a.txt')).toThrow(/ENOENT/);
});

test('only a held petname, a method and data make a call', async () => {
  const at = await scene();
  await clockwork(at);
  await grant(at, 'clock', 'clockwork');
  const wrong: readonly [string, object][] = [
    ['no-such-object', { cap: 'notes' }], ['no-such-object', { cap: 'clockwork' }], ['no-such-object', { cap: '__proto__' }],
    ['invalid', { call: 'short' }], ['invalid', { call: `${'x'.repeat(65)}` }], ['invalid', { method: 5 }],
    ['invalid', { args: 'a' }], ['invalid', { more: 1 }], ['invalid', { args: [new Promise(() => {})] }], ['no-such-method', { method: 'then' }],
    ['invalid', { args: [at.agent.bootstrap] }],
  ]; // biome-ignore format: pairs
  for (const [why, change] of wrong) {
    const given = { call: name(1), cap: 'clock', method: 'tick', args: [], ...change };
    expect(await code(E(at.agent.bootstrap).call(given as never) as Promise<unknown>), JSON.stringify(change)).toBe(
      why,
    );
  }
  expect(await code(E(at.agent.bootstrap).call(undefined as never) as Promise<unknown>)).toBe('invalid');
});

test('a request tells its id at once, the one that granters read, and its outcome when it is there', async () => {
  const at = await scene();
  const ask = { asks: 'notes', terms: { uses: 1 }, why: 'to see' };
  const { request, outcome } = await (E(at.agent.bootstrap).ask(ask) as unknown as Promise<{ request: string; outcome: Promise<unknown> }>); // biome-ignore format: one line
  later(outcome);
  const [asked] = await at.inbox();
  expect(request).toBe(`R${Number(/^q(\d+)-/.exec(asked!.id)![1])}`);
  expect(asked!.why).toContain('to see');
  await at.answer(asked!, { grant: {}, as: 'given' });
  expect(await outcome).toEqual({ petname: 'given' });
});

test('a request ends with its refusal, and with its cancel', async () => {
  const at = await scene();
  const face = E(at.agent.bootstrap);
  const asking = (more: object): Promise<{ request: string; outcome: Promise<unknown> }> =>
    face.ask({ asks: 'notes', terms: {}, why: '', ...more } as never) as never;
  const refused = await asking({ terms: { uses: 1 } });
  const said = later(refused.outcome);
  const [first] = await at.inbox();
  await at.answer(first!, { refuse: 'not now' });
  expect(await said.catch((error: CapError) => error.message)).toContain('not now');
  const cancelled = await asking({ call: name(1), terms: { uses: 2 } });
  const ended = later(cancelled.outcome);
  await at.inbox();
  await face.cancel(name(1));
  expect(await code(ended)).toBe('revoked');
  await at.inbox(0);
  expect(await code(asking({ asks: 'nothing' }))).toBe('no-such-object');
});
