/**
 * An agent's first session: it holds a directory, uses it, and cannot leave it.
 *
 *   npm start                                                   prints the URL
 *   HOB_URL=… npm run agent -- examples/first-session.ts        asks for the session's secret
 */
import '@hob/host/lockdown';
import type { FsCap } from '@hob/caps-fs';
import type { AgentPowers, SessionFace } from '@hob/host';
import { connect, E } from '@hob/vat';

export default async function agent({ url, secret, say }: AgentPowers): Promise<void> {
  await using host = await connect<SessionFace>(url, { secret });
  const session = host.bootstrap;
  say(`holds: ${await E(session).caps()}`);
  const workspace = E(session).cap<FsCap>('workspace');
  await E(workspace).write('written-by-the-agent.txt', 'I was here.\n');
  say(`read: ${await E(workspace).readText('written-by-the-agent.txt')}`);
  const refused = await E(workspace)
    .readText('/etc/passwd')
    .catch((error: Error) => error.message);
  say(`refused: ${refused}`);
}
