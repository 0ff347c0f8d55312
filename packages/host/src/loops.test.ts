/**
 * Loops in a real host: counted for each cap of each session, over CapTP, in the store. `@hob/firewall` has the rules;
 * the guard here stops each call after one failure.
 */
import { rmSync } from 'node:fs';
import { CapError, E } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { scene } from '../test/asking.ts';
import { code, held, lines, scratch } from '../test/test-host.ts';
import { type CallFirewall, type NotedResult, openHost, type SessionFace } from './index.ts';

interface Failing {
  fail(): Promise<string>;
  read(): Promise<string>;
}

/** Warns of each failure, and stops what has failed. */
const firewall: CallFirewall = {
  decide: () => ({ waits: false, trace: {}, reasons: [] }),
  loops: {
    before: ({ method }, kept) => {
      if (kept === method) throw new CapError('limit', 'stopped');
    },
    after: ({ method }, { ok }) => (ok ? undefined : { kept: method, lasting: true, warning: `${method} failed` }),
  },
};

const failing = (): object => ({ fail: async () => { throw new CapError('NOT_FOUND', 'no'); }, read: async () => 'text' }); // biome-ignore format: one line

test('a stop costs no use and sends nothing; it is counted for this cap of this session only', async () => {
  const at = await scene({ firewall });
  let calls = 0;
  await at.host.offer('odd', { fail: async () => { calls += 1; throw new CapError('NOT_FOUND', 'no'); } }); // biome-ignore format: one line
  await E(at.owner).grant(at.session.id, 'odd', 'odd', { uses: 3 });
  await E(at.owner).grant(at.session.id, 'second', 'odd', { for: 60_000 });
  const odd = held<Failing>(at.agent, 'odd');
  expect(await code(E(odd).fail())).toBe('NOT_FOUND');
  for (let n = 0; n < 5; n += 1) expect(await code(E(odd).fail())).toBe('limit');
  expect(calls).toBe(1);
  const [holding] = (await E(at.agent.bootstrap).holdings()) as readonly unknown[];
  expect(holding).toMatchObject({ petname: 'odd', usesLeft: 2, warnings: ['fail failed'] });
  expect(await lines(at.host, 'refuse')).toMatchObject([{ method: 'fail', code: 'limit' }]);
  expect(await code(E(held<Failing>(at.agent, 'second')).fail())).toBe('NOT_FOUND');
});

test('a child session has counts of its own, through the grant of its parent', async () => {
  const at = await scene({ firewall });
  await at.host.offer('odd', failing());
  await E(at.owner).grant(at.session.id, 'odd', 'odd', { for: 60_000 });
  const child = await at.child('helper', { odd: 'odd' });
  const helper = await at.enterAs<SessionFace>(child.secret);
  expect(await code(E(held<Failing>(helper, 'odd')).fail())).toBe('NOT_FOUND');
  expect(await code(E(held<Failing>(helper, 'odd')).fail())).toBe('limit');
  expect(await code(E(held<Failing>(at.agent, 'odd')).fail())).toBe('NOT_FOUND');
  // A turn in the parent's session lifts nothing of the child's.
  await E(at.agent.bootstrap).personTurn();
  expect(await code(E(held<Failing>(helper, 'odd')).fail())).toBe('limit');
  expect(await code(E(held<Failing>(at.agent, 'odd')).fail())).toBe('NOT_FOUND');
});

test('a person’s turn lifts a stop, told by the program of the host or of the session', async () => {
  const at = await scene({ firewall });
  await at.host.offer('odd', failing());
  await E(at.owner).grant(at.session.id, 'odd', 'odd', { for: 60_000 });
  const odd = held<Failing>(at.agent, 'odd');
  for (const turn of [() => at.session.personTurn(), () => E(at.agent.bootstrap).personTurn()]) {
    expect(await code(E(odd).fail())).toBe('NOT_FOUND');
    expect(await code(E(odd).fail())).toBe('limit');
    await turn();
  }
  expect((await E(at.agent.bootstrap).holdings())[0]).not.toHaveProperty('warnings');
});

test('a noted call has the warnings about it, and about no other, as the metadata of its answer', async () => {
  const at = await scene({ firewall });
  await at.host.offer('odd', failing());
  await E(at.owner).grant(at.session.id, 'odd', 'odd', { for: 60_000 });
  const call = (method: string, noted = true): Promise<NotedResult> =>
    E(at.agent.bootstrap).call({ call: `call-${method}-0123456789`, cap: 'odd', method, args: [], noted }) as Promise<NotedResult>; // biome-ignore format: one line
  expect(await call('fail')).toMatchObject({ ok: false, error: { code: 'NOT_FOUND' }, warnings: ['fail failed'] });
  expect(await call('read')).toEqual({ ok: true, value: 'text', warnings: [] });
  expect(await call('read', false)).toBe('text');
  expect(await code(call('read', 'yes' as never))).toBe('invalid');
});

test('a stop lasts over a restart of the host', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const first = await openHost({ stateDir: folder, firewall });
  await first.offer('odd', failing());
  const { granter } = await first.addGranter('owner');
  const { id } = await first.openSession({ name: 'work', granters: ['owner'] });
  await E(granter).grant(id, 'odd', 'odd', { until: Date.now() + 60_000 });
  expect(await code(E(await (await first.session(id)).cap<Failing>('odd')).fail())).toBe('NOT_FOUND');
  await first.close();
  await using second = await openHost({ stateDir: folder, firewall });
  await second.offer('odd', failing());
  expect(await code(E(await (await second.session(id)).cap<Failing>('odd')).fail())).toBe('limit');
});
