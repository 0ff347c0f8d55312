/** The agent of the chaos run. It writes files, as fast as the host allows, until the host is gone. Each file states its own length. */
import { connect, E, type Far } from '@hob/vat';

interface Directory {
  write(path: string, data: string): Promise<unknown>;
}

interface SessionFace {
  cap(petname: string): Directory;
}

export default async function agent({
  url,
  secret,
  say,
}: {
  readonly url: string;
  readonly secret: string;
  readonly say: (line: string) => void;
}): Promise<void> {
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
