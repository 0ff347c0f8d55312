/**
 * The path `/a2a` of a served host, for the agents that its manifest knows. Without any there is no such path.
 *
 * The tasks of an earlier process are ended before the host serves. From `begin` on new ones are taken.
 */
import { knowPeers } from '@hob/a2a';
import { type TaskRows, TaskRowsActor, Tasks, type TasksParts } from '@hob/a2a/tasks';
import type { Granter, Host, HttpFaces } from '@hob/host';
import type { Plan } from '@hob/manifest';
import { type Far, table } from '@hob/vat';
import { agentCard } from '../../drivers/card.ts';
import { newId } from '../../drivers/machine.ts';
import type { Machine } from '../../plan/machine.ts';
import { agentOf } from '../../plan/schedules.ts';
import type { RunTask, Serving } from '../runs/schedules.ts';
import { RequestWatch } from './waits.ts';
import { openTask } from './work.ts';

export interface DoorParts {
  readonly host: Host;
  readonly plan: Plan;
  readonly machine: Machine;
  /** In whose name the caps are granted. It sees the requests of all sessions. */
  readonly granter: Far<Granter>;
  /** Told the message that a session works on, and that it is over. */
  readonly received: (session: string, text: string | undefined) => void;
  readonly runTask: RunTask;
  /** Aborted when the host ends. */
  readonly end: AbortSignal;
  readonly log: (line: string) => void;
}

/** The face, and the function with which it begins to open sessions. */
interface TaskDoor {
  readonly faces: HttpFaces;
  begin(serving: Serving): void;
}

/** Errors: `Mistake` (an agent is not on this machine), `invalid` (a key). */
export async function taskDoor({ host, plan, machine, granter, received, runTask, log }: DoorParts): Promise<TaskDoor> {
  const { peers, url: audience } = plan.a2a ?? {};
  const rows = await rowsOf(host);
  const begun = Promise.withResolvers<Serving>();
  const watch = new RequestWatch(granter, log);
  const parts: TasksParts = {
    ...{ rows, newId, log, now: machine.now },
    open: async (task, waits) =>
      await openTask(
        { ...(await begun.promise), plan, machine, watch, runTask, received, newName: newId, log },
        task,
        waits,
      ),
    async endLeft(session) {
      // It may have ended before its host did: by `hob stop`, by a person, by its deadline.
      const left = (await host.sessions()).find(({ id }) => id === session);
      await left?.end('its host ended during the task');
    },
  };
  // Also where the manifest has no peers any more.
  const tasks = await Tasks.open(parts);
  if (peers === undefined || audience === undefined) return { faces: {}, begin: () => {} };
  const { taskFace } = await import('@hob/a2a/door');
  for (const { agent } of Object.values(peers)) if (agent !== undefined) agentOf(plan, { agent }, machine);
  const keys = Object.fromEntries(Object.entries(peers).map(([name, { key }]) => [name, key]));
  const know = await knowPeers({ keys, audience, now: machine.now });
  const fault = (error: unknown): void => log(`a task could not be taken: ${(error as Error).message}`);
  return {
    faces: { '/a2a': taskFace({ card: agentCard(plan.a2a), tasks, know, fault }) },
    begin: begun.resolve,
  };
}

async function rowsOf(host: Host): Promise<Far<TaskRows>> {
  const rows = await host.vats.vat('tasks').root('rows', () => TaskRowsActor(table(), table(), table()));
  return rows as unknown as Far<TaskRows>;
}
