/**
 * A host whose store lies in PostgreSQL. Started again, on this machine or another, it goes on with its sessions, its
 * grants and what is left of them.
 *
 *   createdb hob
 *   npm run -s node -- examples/postgres-host.ts postgres://me@localhost/hob ./this-machine
 */
import '@hob/host/lockdown';
import { openHost } from '@hob/host';
import { postgresStore } from '@hob/store-postgres';
import { E } from '@hob/vat';

const [url = '', stateDir = './hob-state'] = process.argv.slice(2);
try {
  await using host = await openHost({ stateDir, store: await postgresStore({ url }) });
  await host.offer('bell', { ring: async () => console.log('ring') });
  const { granter } = await host.ensureGranter('ann');
  const session = await host.ensureSession({ name: 'demo', granters: ['ann'] });
  if (session.secret !== undefined) await E(granter).grant(session.id, 'bell', 'bell', { uses: 3, for: 86_400_000 });
  console.log(session.secret === undefined ? 'the session goes on' : 'a new session has a bell for three rings');
  for (const { petname, usesLeft } of await E(granter).list()) console.log(`${petname}: ${usesLeft} left`);
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
}
