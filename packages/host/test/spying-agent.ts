/** An agent that starts a program, which looks for secrets wherever a program of the same user can look. */
import { execFileSync } from 'node:child_process';
import { connect, E } from '@hob/vat';
import type { SessionFace } from '../src/sessions/sessions.ts';
import type { AgentPowers } from '../src/types.ts';

/** Its own environment, and environment and command line of every process above it. */
const spy = `
  const fs = require('node:fs');
  const seen = [JSON.stringify(process.env)];
  let above = 0;
  for (let pid = process.pid; pid > 0; above += 1) {
    for (const what of ['environ', 'cmdline'])
      try { seen.push(fs.readFileSync('/proc/' + pid + '/' + what, 'latin1')); } catch { seen.push('?'); }
    const stat = fs.readFileSync('/proc/' + pid + '/stat', 'latin1');
    pid = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
  }
  console.log(JSON.stringify({ above, seen: seen.join('\\n') }));
`;

export default async function agent({ url, secret, say }: AgentPowers): Promise<void> {
  const { bootstrap, close, closed } = await connect<SessionFace>(url, { secret });
  say(`holds: ${JSON.stringify(await E(bootstrap).caps())}`);
  say(`spied: ${execFileSync(process.execPath, ['-e', spy], { encoding: 'utf8', maxBuffer: 1 << 26 }).trim()}`);
  close();
  await closed;
}
