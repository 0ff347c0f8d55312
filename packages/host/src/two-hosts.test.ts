/** Two hosts in one process, as the tenants of a machine of a cluster are. The suffix of their ids is the same. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { E, type Far, systemRandom } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { type Granter, openHost } from './index.ts';

interface Flag {
  whose(): Promise<string>;
}

/** Opens a host whose ids have the same suffix as those of the other one. It has 20 random bits, so this can happen. */
async function tenant(name: string) {
  const folder = mkdtempSync(join(tmpdir(), 'hob-two-'));
  const random = (bytes: number): Uint8Array => (bytes === 5 ? new Uint8Array(5) : systemRandom(bytes));
  const host = await openHost({ stateDir: folder, random });
  onTestFinished(async () => {
    await host.close();
    rmSync(folder, { recursive: true });
  });
  await host.offer('flag', { whose: async () => name });
  const granter = (await host.ensureGranter('ann')).granter as Far<Granter>;
  const session = await host.openSession({ name: 'agent', granters: ['ann'] });
  await E(granter).grant(session.id, 'flag', 'flag', { for: 600_000 });
  return { host, granter, session };
}

test('grants and granters of a host never reach the objects or the ledger of another host of the process', async () => {
  const [acme, globex] = [await tenant('acme'), await tenant('globex')];
  expect(acme.session.id).toBe(globex.session.id);
  await globex.host.openSession({ name: 'of-globex', granters: ['ann'] });
  for (const [name, { session }] of Object.entries({ acme, globex }))
    expect(await E(await session.cap<Flag>('flag')).whose(), name).toBe(name);
  expect(JSON.stringify(await E(E(acme.granter).ledger()).lines())).not.toContain('of-globex');
  expect(JSON.stringify(await E(E(globex.granter).ledger()).lines())).toContain('of-globex');
});
