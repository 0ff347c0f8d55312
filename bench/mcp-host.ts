/** A host with one session that holds a directory, in a process of its own. The first message says how to enter. */
import './lockdown.ts';
import { openFsCap } from '@hob/caps-fs';
import { openHost } from '@hob/host';
import { E } from '@hob/vat';

const [state = '', root = ''] = process.argv.slice(2);
const host = await openHost({ stateDir: state });
await host.offer('files', await openFsCap(root));
const { granter } = await host.ensureGranter('owner');
const session = await host.openSession({ name: 'bench', granters: ['owner'] });
await E(granter).grant(session.id, 'files', 'files', { scope: 'session' });
const { url } = await host.serve();
process.once('disconnect', () => void host.close().then(() => process.exit(0)));
process.send?.({ url, secret: session.secret });
