/** What a served host answers beside CapTP: sessions over MCP, tasks of other agents, and chats. */
import type { Granter, Host, HttpFaces } from '@hob/host';
import type { Plan } from '@hob/manifest';
import type { Far } from '@hob/vat';
import type { Machine } from '../../plan/machine.ts';
import type { PlanSessions } from '../../plan/sessions.ts';
import { mcpFace } from '../mcp-face.ts';
import { taskDoor } from '../tasks/door.ts';

interface FaceParts {
  readonly host: Host;
  readonly plan: Plan;
  readonly machine: Machine;
  /** It sees the requests of all sessions. */
  readonly granter: Far<Granter>;
  readonly log: (line: string) => void;
}

interface Serving {
  readonly sessions: Pick<PlanSessions, 'open'>;
  /** The address of the host. */
  readonly url: string;
}

/** Errors: `Mistake`, `invalid` (a key). */
export async function servedFaces(
  parts: FaceParts,
): Promise<{ readonly faces: HttpFaces; begin(serving: Serving): void }> {
  const { host, plan, machine, log } = parts;
  const tasks = await taskDoor(parts);
  const chats = plan.chats && (await (await import('../chats/served.ts')).servedChats({ host, plan, secret: machine.secret, now: machine.now, log })); // biome-ignore format: one line
  return {
    faces: { '/mcp': mcpFace, ...tasks.faces, ...chats?.faces },
    begin(serving) {
      tasks.begin(serving);
      chats?.begin();
    },
  };
}
