/** The agent of the chaos run: writes files that tell whether they are whole, as fast as it is let, until its host is gone. */
import { connect, E, type Far } from '@hob/vat';
import type { SessionFace } from '../../sessions/sessions.ts';
import type { AgentPowers } from '../agent.ts';

interface Directory {
  write(path: string, data: string): Promise<unknown>;
}

export default async function agent({ url, secret, say }: AgentPowers): Promise<void> {
  const { bootstrap, closed } = await connect<SessionFace>(url, { secret });
  let gone = false;
  closed.then(() => {
    gone = true;
  });
  const workspace = (await E(bootstrap).cap('workspace')) as unknown as Far<Directory>;
  for (let i = 0; !gone; i += 1) {
    const name = `w-${process.pid}-${i}`;
    try {
      await E(workspace).write(name, `${name} 200\n${`${name}\n`.repeat(200)}`);
      say(`wrote ${name}`);
    } catch {
      return;
    }
  }
}
