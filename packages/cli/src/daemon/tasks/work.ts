/**
 * The session of one task of another agent.
 *
 * Promise: it holds the caps that the manifest gives to tasks of this peer, and those that it may ask for, of
 * which each call waits for a person. It ends with its task, and lasts no longer than the manifest says.
 */
import type { AskedCall, TaskOutput, TaskWork } from '@hob/a2a/tasks';
import type { SessionFace } from '@hob/host';
import type { Plan, PlannedPeer } from '@hob/manifest';
import { toJson } from '@hob/mcp';
import { CapError, connect, E, type Far } from '@hob/vat';
import { Mistake } from '../../line/mistake.ts';
import type { Machine } from '../../plan/machine.ts';
import { petnameOf } from '../../plan/names.ts';
import { agentOf, agentSecrets } from '../../plan/schedules.ts';
import type { OpenedSession, PlanSessions } from '../../plan/sessions.ts';
import type { RunTask } from '../runs/schedules.ts';
import type { RequestWatch } from './waits.ts';

/** The parts that sessions of tasks need. */
interface WorkParts {
  readonly plan: Plan;
  readonly machine: Machine;
  readonly sessions: Pick<PlanSessions, 'open'>;
  /** The address of the host. */
  readonly url: string;
  readonly watch: RequestWatch;
  readonly runTask: RunTask;
  /** Told the words that a session works on, and that it is over. */
  readonly received: (session: string, text: string | undefined) => void;
  /** A name for a call that nobody guesses. */
  readonly newName: () => string;
  readonly log: (line: string) => void;
}

/** A result with more characters is refused. */
const MOST_OUTPUT = 200_000;

/** Opens the session. `waits` is told the requests that wait for a person. Errors: `Mistake`, those of a host. */
export async function openTask(
  parts: WorkParts,
  { id, peer }: { readonly id: string; readonly peer: string },
  waits: (requests: readonly string[]) => void,
): Promise<TaskWork> {
  const { plan, sessions, watch } = parts;
  const planned = plan.a2a?.peers?.[peer];
  if (planned === undefined) throw new Mistake(`a2a.peers has no ${peer}`);
  const name = `${petnameOf(peer).slice(0, 36)}-task-${id.slice(0, 8)}`;
  const opened = await sessions.open(name, {
    plan: planOf(plan, planned),
    run: { only: [...planned.gives, ...planned.asks] },
  });
  const { session } = opened;
  const unfollow = watch.follow(session.id, waits);
  let connection: Awaited<ReturnType<typeof connect<SessionFace>>> | undefined;
  return {
    session: session.id,
    async run({ call, text }, end) {
      parts.received(session.id, text);
      if (call === undefined) return await runAgent(parts, { peer, planned, opened, text }, end);
      connection = await connect<SessionFace>(`${parts.url}/beside`, { secret: session.secret });
      return { value: toJson(await callCap(connection.bootstrap, call, { call: parts.newName(), end })) };
    },
    async end() {
      unfollow();
      parts.received(session.id, undefined);
      connection?.close();
      await connection?.closed.catch(() => {});
      await session.end('its task is over');
    },
  };
}

/** The plan with the caps that the peer may ask for as caps that wait for a person, and with the time of a task. */
function planOf(plan: Plan, { asks, lastsMs }: PlannedPeer): Plan {
  const caps = Object.entries(plan.caps).map(([name, cap]) => [name, asks.includes(name) ? { ...cap, how: 'ask' as const } : cap] as const); // biome-ignore format: one line
  return { ...plan, caps: Object.fromEntries(caps), deadlineMs: Math.min(plan.deadlineMs ?? lastsMs, lastsMs) };
}

/** Makes the call. Errors: those of a session. */
async function callCap(
  session: Far<SessionFace>,
  { cap, method, args }: AskedCall,
  { call, end }: { readonly call: string; readonly end: AbortSignal },
): Promise<unknown> {
  const cancel = (): void => void E(session).cancel(call);
  end.throwIfAborted();
  end.addEventListener('abort', cancel, { once: true });
  try {
    return await E(session).call({ call, cap, method, args });
  } finally {
    end.removeEventListener('abort', cancel);
  }
}

interface Running {
  readonly peer: string;
  readonly planned: PlannedPeer;
  readonly opened: OpenedSession;
  readonly text: string;
}

/**
 * Runs the agent of the peer on these words. Errors: `invalid`, `limit`, `expired`, `revoked`, `unknown-outcome`.
 */
async function runAgent(
  { plan, machine, url, runTask, log }: WorkParts,
  { peer, planned: { agent, lastsMs }, opened: { session }, text }: Running,
  cancelled: AbortSignal,
): Promise<TaskOutput> {
  if (agent === undefined)
    throw new CapError('invalid', 'this host takes calls from you: send one data part {"cap": "name", "method": "name", "args": [...]}'); // biome-ignore format: one line
  const { program, args, secrets } = agentOf(plan, { agent }, machine);
  const over = new AbortController();
  session.ended.then(
    () => over.abort(),
    () => {},
  );
  const values = agentSecrets(agent, secrets, machine);
  const end = AbortSignal.any([cancelled, over.signal]);
  const ran = await runTask({ ...{ program, args, secrets: values, task: text, url, secret: session.secret }, withinMs: lastsMs, end, mostOutput: MOST_OUTPUT + 1 }); // biome-ignore format: one line
  if (ran.isTooLong) throw new CapError('expired', 'the task took longer than it may');
  if (over.signal.aborted) throw new CapError('revoked', 'the session of the task was ended');
  if (ran.code !== 0) {
    log(`the agent of a task of ${peer} failed with ${ran.code}: ${machine.blank(ran.said)}`);
    throw new CapError('unknown-outcome', 'the agent that worked on it has failed, and may have done a part of it');
  }
  if (ran.output.length > MOST_OUTPUT) throw new CapError('limit', `the agent wrote more than ${MOST_OUTPUT} characters`); // biome-ignore format: one line
  return { text: machine.blank(ran.output) };
}
