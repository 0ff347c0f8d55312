/**
 * A host in a process of its own that offers a tracker. `own-objects-child.ts STATE ISSUES`: prints `{"url", "secret"}`.
 * The issues are the lines of the file ISSUES. While the file ISSUES.kill is there, the process kills itself when an issue
 * was made, before anybody hears of it.
 */
import '../src/programs/lockdown.ts';
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { E } from '@hob/vat';
import { openHost } from '../src/index.ts';

const [state = '', issues = ''] = process.argv.slice(2);
const host = await openHost({ stateDir: state });
const tracker = {
  open: async (title: string) => {
    appendFileSync(issues, `${title}\n`);
    if (existsSync(`${issues}.kill`)) process.kill(process.pid, 'SIGKILL');
    return { issue: readFileSync(issues, 'utf8').split('\n').length - 1 };
  },
  comment: async (issue: number, text: string) => `${issue}: ${text}`,
};
await host.offer('tracker', tracker, {
  effects: {
    open: { class: 'C', makes: { issue: 'issue' } },
    comment: { class: 'C', names: { issue: 0 } },
  },
});
let secret: string | undefined;
if ((await host.sessions()).length === 0) {
  const { granter } = await host.addGranter('owner');
  const session = await host.openSession({ name: 'work', granters: ['owner'] });
  await E(granter).grant(session.id, 'tracker', 'tracker', { gated: ['comment'], own: true, for: 3_600_000 });
  secret = session.secret;
}
const { url } = await host.serve();
process.stdout.write(`${JSON.stringify({ url, secret })}\n`);
process.stdin.resume().once('end', () => process.exit(0));
