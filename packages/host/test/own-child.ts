/**
 * A host in a process of its own that offers a directory. `own-child.ts STATE ROOT`: prints `{"url", "secret"}`. While
 * the file ROOT.kill is there, the process kills itself when a file of ROOT was written, before anybody hears of it.
 */
import '../src/programs/lockdown.ts';
import { existsSync } from 'node:fs';
import { openFsCap } from '@hob/caps-fs';
import { E } from '@hob/vat';
import { openHost } from '../src/index.ts';

const [state = '', root = ''] = process.argv.slice(2);
const host = await openHost({ stateDir: state });
const dir = await openFsCap(root);
const written = async (
  path: string,
  data: string | Uint8Array,
  options?: object,
): Promise<{ readonly version: string }> => {
  const done = await dir.write(path, data, options);
  if (existsSync(`${root}.kill`)) process.kill(process.pid, 'SIGKILL');
  return done;
};
await host.offer('notes', Object.freeze({ ...dir, write: written }));
let secret: string | undefined;
if ((await host.sessions()).length === 0) {
  const { granter } = await host.addGranter('owner');
  const session = await host.openSession({ name: 'work', granters: ['owner'] });
  await E(granter).grant(session.id, 'work', 'notes', { gated: ['remove'], own: true, for: 3_600_000 });
  secret = session.secret;
}
const { url } = await host.serve();
process.stdout.write(`${JSON.stringify({ url, secret })}\n`);
process.stdin.resume().once('end', () => process.exit(0));
