/** A real host with sessions from a manifest, and agents at the far end of a real wire. For tests. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Granter, type Host, type HostOptions, openHost, type Request, type SessionFace } from '@hob/host';
import { check, lineOf, type Plan } from '@hob/manifest';
import { definitions } from '@hob/mcp/servers';
import { connect, E, type Far } from '@hob/vat';
import type { Connected } from '@hob/vat/wire';
import { onTestFinished } from 'vitest';
import { runTask } from '../src/daemon/drivers/run-task.ts';
import { definitions as ofSchedules } from '../src/daemon/runs/actors.ts';
import { runsGate, Schedules } from '../src/daemon/runs/schedules.ts';
import { machine } from '../src/drivers/machine.ts';
import type { Machine } from '../src/plan/machine.ts';
import { type OpenedSession, PlanSessions } from '../src/plan/sessions.ts';

export interface PlanScene {
  readonly folder: string;
  readonly host: Host;
  readonly granter: Far<Granter>;
  /** Sessions of another manifest of the same host. */
  sessions(manifest: string): Promise<PlanSessions>;
  /** Sessions of a plan. */
  sessionsOf(plan: Plan, powers?: Partial<Machine>): Promise<PlanSessions>;
  enter(secret: string): Promise<Connected<SessionFace>>;
  open(manifest: string, name?: string): Promise<OpenedSession & { readonly agent: Far<SessionFace> }>;
  /** Waits until so many requests wait. */
  inbox(count?: number): Promise<readonly Request[]>;
  /** Approves every waiting request. */
  grantAll(): Promise<void>;
}

/** The plan of a manifest whose relative roots lie in `folder`. */
export function planOf(text: string): Plan {
  const { plan, mistakes } = check([{ layer: 'project', file: 'hob.yaml', text }], { now: Date.now() });
  if (plan === undefined) throw new Error(mistakes.map(lineOf).join('\n'));
  return plan;
}

/** `files` are written into `folder`/project. */
export async function planScene(
  files: Readonly<Record<string, string>> = {},
  more: Pick<HostOptions, 'firewall'> = {},
): Promise<PlanScene> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hob-plan-')));
  for (const [name, text] of Object.entries({
    'src/a.txt': 'one\n',
    '.env': 'SECRET=1\n',
    'notes.txt': 'notes\n',
    ...files,
  })) {
    mkdirSync(join(folder, 'project', dirname(name)), { recursive: true });
    writeFileSync(join(folder, 'project', name), text);
  }
  mkdirSync(join(folder, 'state'));
  const host = await openHost({
    stateDir: join(folder, 'state'),
    definitions: [...definitions, ...ofSchedules],
    ...more,
  });
  // Nothing opens it: schedules are made here, and none of their runs begins.
  const gate = runsGate();
  const { granter } = await host.addGranter('owner');
  const { url } = await host.serve();
  const entered: Connected<SessionFace>[] = [];
  const all: PlanSessions[] = [];
  onTestFinished(async () => {
    for (const connection of entered) {
      connection.close();
      await connection.closed;
    }
    await host.close();
    for (const sessions of all) await sessions.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const enter = async (secret: string): Promise<Connected<SessionFace>> => {
    const connection = await connect<SessionFace>(url, { secret });
    entered.push(connection);
    return connection;
  };
  const sessionsOf = async (plan: Plan, powers: Partial<Machine> = {}): Promise<PlanSessions> => {
    const roots = Object.fromEntries(
      Object.entries(plan.roots).flatMap(([name, path]) => (path === undefined ? [] : [[name, join(folder, path)]])),
    );
    const own = { plan, machine: { ...machine, ...powers } };
    const schedules = await Schedules.open({ ...own, host, gate, runTask, log: () => {} });
    const made = new PlanSessions(host, { ...own, roots, schedules });
    all.push(made);
    await made.prepare();
    return made;
  };
  const sessions = (text: string): Promise<PlanSessions> => sessionsOf(planOf(text));
  const inbox = async (count = 1): Promise<readonly Request[]> => {
    for (;;) {
      const waiting = (await E(granter).inbox()) as readonly Request[];
      if (waiting.length === count) return waiting;
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return {
    folder,
    host,
    granter,
    sessions,
    sessionsOf,
    enter,
    async open(manifest, name = 'work') {
      const opened = await (await sessions(manifest)).open(name);
      return { ...opened, agent: (await enter(opened.session.secret)).bootstrap };
    },
    inbox,
    async grantAll() {
      for (const { id, digest, terms } of await inbox()) await E(granter).answer(id, { grant: terms ?? {}, digest });
    },
  };
}

/** The code that a promise rejects with, or `ok`. */
export const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { readonly code?: string }) => error.code ?? String(error),
  );
