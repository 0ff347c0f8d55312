/**
 * For all calls, contexts and plugins: the firewall never lets pass what the terms of the grant alone would have
 * stopped. Two real hosts get the same grants and calls. One has a firewall whose plugins say that all is well.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CallFirewall, type GrantTerms, openHost, type Request } from '@hob/host';
import { E } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { volume } from '../../../test/depth.ts';
import { makeFirewall } from './firewall.ts';
import type { Hook } from './hooks/hook.ts';

type Methods = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

const allowing: readonly Hook[] = [
  { name: 'ours', on: 'pre_call', run: async () => ({ ended: 'exit', status: 0, stdout: '{"decision":"go","risk":0,"confidence":1}' }) }, // biome-ignore format: one line
  { name: 'theirs', on: 'PreToolUse', run: async () => ({ ended: 'exit', status: 0, stdout: '' }) },
];

async function world(firewall?: CallFirewall) {
  const folder = mkdtempSync(join(tmpdir(), 'hob-stricter-'));
  const host = await openHost({ stateDir: folder, ...(firewall === undefined ? {} : { firewall }) });
  onTestFinished(async () => {
    await host.close();
    rmSync(folder, { recursive: true });
  });
  const run = async (): Promise<string> => 'ran';
  await host.offer('cap', { read: run, write: run, send: run }, { effects: { read: { class: 'A' }, write: { class: 'B', undo: 'easy' }, send: { class: 'C', undo: 'easy', outbound: true } } }); // biome-ignore format: one line
  const { granter } = await host.addGranter('alice');
  let n = 0;
  /** The outcome of each call: `ok`, `waits`, or the code that it was refused with. */
  return async (terms: GrantTerms, calls: readonly Call[]): Promise<readonly string[]> => {
    n += 1;
    const session = await host.openSession({ name: `s${n}`, granters: ['alice'] });
    await E(granter).grant(session.id, 'cap', 'cap', { for: 600_000, ...terms });
    const cap = E(await session.cap<object>('cap')) as unknown as Methods;
    const outcomes: string[] = [];
    for (const { method, args } of calls) outcomes.push(await outcomeOf(cap[method]!(...args)));
    await session.end();
    return outcomes;
  };

  async function outcomeOf(calling: Promise<unknown>): Promise<string> {
    let done: string | undefined;
    calling.then(() => { done = 'ok'; }, (error) => { done = String(error.code); }); // biome-ignore format: one line
    for (;;) {
      const [asked] = (await E(granter).inbox()) as readonly Request[];
      if (asked !== undefined) {
        await E(granter).answer(asked.id, { refuse: 'no', digest: asked.digest });
        await calling.catch(() => {});
        return 'waits';
      }
      if (done !== undefined) return done;
    }
  }
}

interface Call {
  readonly method: string;
  readonly args: readonly unknown[];
}

const methods = fc.constantFrom('read', 'write', 'send', 'other', 'toString');
const some = fc.subarray(['read', 'write', 'send'], { minLength: 1 });
const terms: fc.Arbitrary<GrantTerms> = fc
  .record(
  {
    methods: some,
    gated: fc.oneof(fc.constant(true as const), some),
    uses: fc.integer({ min: 1, max: 2 }),
    where: fc.constant({ write: { 0: { is: 'a' } } }),
    level: fc.constantFrom('low', 'medium', 'high'),
  },
  { requiredKeys: [] },
).map(({ where, ...of }) => ({ ...of, ...(where === undefined || of.methods?.includes('write') === false ? {} : { where }) })); // biome-ignore format: one line
const args = fc.array(fc.constantFrom<unknown>('a', 'b', '', { recursive: true }, 'I want to die'), { maxLength: 2 });
const calls = fc.array(fc.record({ method: methods, args }), { minLength: 1, maxLength: 4 });

test('what the terms stop is stopped with a firewall whose plugins allow everything, in both modes', async () => {
  const plugins = { hooks: allowing, opinions: [() => ({ risk: 0, confidence: 1 })], review: () => true, crisis: () => ({ sensitive: false, why: '' }) }; // biome-ignore format: one line
  const alone = await world();
  const guarded = [await world(makeFirewall({ mode: 'observe', ...plugins })), await world(makeFirewall({ mode: 'enforce', ...plugins }))]; // biome-ignore format: one line
  await fc.assert(
    fc.asyncProperty(terms, calls, async (of, made) => {
      const { uses, ...unlimited } = of;
      const plain = await alone(unlimited, made);
      for (const each of guarded) {
        const outcomes = await each(unlimited, made);
        for (const [n, outcome] of plain.entries())
          if (outcome !== 'ok') expect([made[n], outcome, outcomes[n]]).toEqual([made[n], outcome, outcome]);
        if (uses !== undefined) expect((await each(of, made)).filter((outcome) => outcome === 'ok').length).toBeLessThanOrEqual(uses); // biome-ignore format: one line
      }
    }),
    { numRuns: volume(12, 100) },
  );
});
