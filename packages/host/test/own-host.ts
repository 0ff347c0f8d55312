/**
 * A host as a reader of the README writes it: it opens, grants, serves and goes on, and knows nothing of the command
 * line. `own-host.ts STATE [deaf|silent]`: `deaf` hears no SIGTERM, `silent` does not serve. Prints `{"url", "secret"}`.
 */
import '../src/programs/lockdown.ts';
import { driver, E } from '@hob/vat';
import { openHost } from '../src/index.ts';

const [state = '', how] = process.argv.slice(2);
if (how === 'deaf') process.on('SIGTERM', () => {});
const host = await openHost({ stateDir: state });
await host.offer('clock', driver<{ now(): number }>({ now: () => Date.now() }));
const { granter, secret } = await host.addGranter('alice');
const session = await host.openSession({ name: 'demo', granters: ['alice'] });
await E(granter).grant(session.id, 'time', 'clock', { uses: 10, for: 60_000 });
const url = how === 'silent' ? undefined : (await host.serve()).url;
process.stdout.write(`${JSON.stringify({ url, secret })}\n`);
setInterval(() => {}, 1 << 30);
