/** A host in a process of its own, which a test kills: it prints the link to its page. `host-process.ts STATE`. */
import '@hob/host/lockdown';
import type { Granter } from '@hob/host';
import { openHost } from '@hob/host';
import { E, type Far } from '@hob/vat';
import { consoleLink, consolePages } from '../src/index.ts';

const host = await openHost({ stateDir: process.argv[2] as string });
await host.ensureGranter('owner');
const { url } = await host.serve({}, {}, consolePages());
if (process.argv[3] === 'first') {
  await host.offer('bell', { ring: async () => 'ding' });
  const { granter } = await host.addGranter('giver');
  const session = await host.openSession({ name: 'work', granters: ['owner', 'giver'] });
  await E(granter as Far<Granter>).grant(session.id, 'bell', 'bell', { for: 3_600_000, uses: 5 });
}
const { code } = await host.entryCode('owner');
process.stdout.write(`${consoleLink(url, code)}\n`);
