/** The HTTP faces of a served host: MCP for its sessions, tasks of other agents, and answers of chats. */
import type { HttpFaces } from '@hob/host';
import { mcpFace } from '../mcp-face.ts';
import type { Serving } from '../runs/schedules.ts';
import { type DoorParts, taskDoor } from '../tasks/door.ts';

/** Errors: `Mistake`, `invalid` (a key). */
export async function servedFaces(
  parts: DoorParts,
): Promise<{ readonly faces: HttpFaces; begin(serving: Serving): void }> {
  const { plan } = parts;
  const tasks = await taskDoor(parts);
  const chats = plan.chats && (await (await import('../chats/served.ts')).servedChats(parts));
  return {
    faces: { '/mcp': mcpFace(), ...tasks.faces, ...chats?.faces },
    begin(serving) {
      tasks.begin(serving);
      chats?.begin();
    },
  };
}
