/**
 * A host with a session that holds a directory, and others that hold nothing, in a process of its own. The first message
 * says how to enter.
 */
import './lockdown.ts';
import { openFsCap } from '@hob/caps-fs';
import { openHost } from '@hob/host';
import { mcpOverHttp } from '@hob/mcp/http';
import { E } from '@hob/vat';

const [state = '', root = ''] = process.argv.slice(2);
const host = await openHost({ stateDir: state });
await host.offer('files', await openFsCap(root));
const { granter } = await host.ensureGranter('owner');
const session = await host.openSession({ name: 'bench', granters: ['owner'] });
await E(granter).grant(session.id, 'files', 'files', { scope: 'session' });
const others: string[] = [];
for (let n = 0; n < 8; n += 1)
  others.push((await host.openSession({ name: `other-${n}`, granters: ['owner'] })).secret);
const { url } = await host.serve({}, { '/mcp': mcpOverHttp({ version: '1.0.0' }) });
process.once('disconnect', () => void host.close().then(() => process.exit(0)));
process.send?.({ url, secret: session.secret, others });
