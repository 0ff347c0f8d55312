/**
 * The schedules of a served manifest, and their runs.
 *
 * Promise: a run is a fresh session that holds the caps that its schedule gives, and nothing of the session that asked
 * for it. Schedules live by a grant of their own, in a session of their own: when it is revoked, expired or used up, no
 * run begins, and one that is under way has ended when the revocation is over. A manifest that says something else about
 * a schedule ends it. A run that an earlier process began is not begun again, and its session ends at the next start.
 */
import { makeScheduleCap, type Run, type RunEnd, type Runner } from '@hob/caps-net';
import type { Grant, Granter, Host } from '@hob/host';
import type { Plan, PlannedSchedule } from '@hob/manifest';
import { CapError, driver, E, type Far, table, type Vat } from '@hob/vat';
import type { Machine } from '../../plan/machine.ts';
import { grantersOf, makerOf, petnameOf } from '../../plan/names.ts';
import { agentOf, agentSecrets, runTerms, type ScheduleMaker } from '../../plan/schedules.ts';
import type { OpenedSession, PlanSessions } from '../../plan/sessions.ts';
import { RunnerActor, type Runs, type ScheduleRow, type ScheduleRows, ScheduleRowsActor } from './actors.ts';

/** A program that is started for a run. */
export interface TaskOrder {
  readonly program: string;
  readonly args: readonly string[];
  /** Secrets by the names of their variables. */
  readonly secrets: Readonly<Record<string, string>>;
  readonly task: string;
  /** The address of the host. */
  readonly url: string;
  /** The secret of the session, in a file that only its user may read. */
  readonly secret: string;
  /** Both end the program. */
  readonly withinMs: number;
  readonly end: AbortSignal;
  /** So many characters of its standard output are kept. Without it: none. */
  readonly mostOutput?: number;
}

/** The end of a program. */
export interface TaskEnd {
  readonly code: number;
  readonly isTooLong: boolean;
  /** The last text that it wrote to its standard error. */
  readonly said: string;
  /** The first text that it wrote to its standard output. */
  readonly output: string;
}

/** Runs the program to its end. */
export type RunTask = (order: TaskOrder) => Promise<TaskEnd>;

/** The runner that books call, also those that a state had before. It is made before the host opens. */
export interface RunsGate {
  readonly runs: Far<Runs>;
  /** From now on runs begin. Those that were due before have waited. */
  readonly open: (schedules: Pick<Schedules, 'run'>) => void;
}

/** All hosts of a process share one table of driver names. So give `tenant` if the process has several hosts. */
export function runsGate(tenant?: string): RunsGate {
  const opened = Promise.withResolvers<Pick<Schedules, 'run'>>();
  const runs = driver<Runs>(
    { begin: async ([of, run], { signal }) => await (await opened.promise).run(of, run, signal) },
    { name: tenant === undefined ? 'hob-scheduled-runs' : `hob-scheduled-runs:${tenant}` },
  );
  return { runs, open: (schedules) => opened.resolve(schedules) };
}

interface Parts {
  readonly host: Host;
  readonly plan: Plan;
  readonly machine: Machine;
  readonly gate: RunsGate;
  readonly runTask: RunTask;
  readonly log: (line: string) => void;
}

/** The parts of a host that has begun to serve. */
export interface Serving {
  readonly sessions: Pick<PlanSessions, 'open'>;
  /** The address of the host. */
  readonly url: string;
}

/** The petname of the grant that runs are uses of. */
const RUNS = 'runs';
const HOUR_MS = 3_600_000;

export class Schedules implements ScheduleMaker {
  readonly #parts: Parts;
  readonly #vat: Vat;
  readonly #rows: Far<ScheduleRows>;
  /** Set by `begin`. */
  #serving: Serving | undefined;
  /** One at a time: two sessions that start together share the schedules of a cap. */
  #making: Promise<unknown> = Promise.resolve();

  private constructor(parts: Parts, rows: Far<ScheduleRows>) {
    this.#parts = parts;
    this.#rows = rows;
    this.#vat = parts.host.vats.vat('schedules');
  }

  static async open(parts: Parts): Promise<Schedules> {
    const rows = await parts.host.vats.vat('schedules').root('rows', () => ScheduleRowsActor(table()));
    return new Schedules(parts, rows as unknown as Far<ScheduleRows>);
  }

  /** The ids of the sessions of schedules. Nobody enters them. */
  async held(): Promise<ReadonlySet<string>> {
    return new Set((await this.#all()).map(([, { session }]) => session));
  }

  /** Ends the runs of an earlier process, and the schedules that the plan has no more. The host does not serve yet. */
  async endLeft(sessions: Pick<PlanSessions, 'scheduleText'>): Promise<void> {
    const { host, log } = this.#parts;
    const names = await Promise.all([...this.#planned()].map((cap) => this.#nameOf(sessions.scheduleText(cap))));
    for (const [of, row] of await this.#all()) {
      for (const session of await host.sessions())
        if (session.parent === row.session) {
          log(`run ${session.name} was cut by the end of its host, and is not begun again`);
          await session.end('its host ended during the run');
        }
      const why = names.includes(of) ? 'their grant has ended' : 'the manifest says something else about them now';
      if (names.includes(of) && (await this.#goesOn(row))) continue;
      log(`the schedules of ${row.cap} end: ${why}`);
      await this.#end(of, row, why);
    }
  }

  /** From now on runs begin. */
  begin(serving: Serving): void {
    this.#serving = serving;
    this.#parts.gate.open(this);
  }

  face(text: string, cap: PlannedSchedule): Promise<object> {
    const making = this.#making.then(async () => {
      const of = await this.#nameOf(text);
      const row = await this.#find(of);
      if (row !== undefined && (await this.#goesOn(row))) return row.face;
      if (row !== undefined) await this.#end(of, row, 'their grant has ended');
      return await this.#make(of, cap);
    });
    this.#making = making.catch(() => {});
    return making;
  }

  /** One run, to its end. It throws no code of a grant: such a code would end the schedules. */
  async run(of: string, { schedule, number, task }: Run, signal: AbortSignal): Promise<RunEnd> {
    const { log, machine, plan } = this.#parts;
    const serving = this.#serving;
    const row = await this.#find(of);
    const cap = row && [...this.#planned()].find(({ name }) => name === row.cap);
    if (row === undefined || cap === undefined || serving === undefined || signal.aborted)
      throw new CapError('unavailable', 'the host has no such schedules');
    const name = `${petnameOf(cap.name).slice(0, 36)}-${schedule}-${number}`;
    const lasts = cap.lastsMs ?? HOUR_MS;
    let opened: OpenedSession | undefined;
    try {
      const narrowed = { ...plan, deadlineMs: Math.min(plan.deadlineMs ?? lasts, lasts) };
      const { program, args, secrets } = agentOf(plan, cap, machine);
      const values = agentSecrets(cap.agent, secrets, machine);
      opened = await serving.sessions.open(name, { plan: narrowed, run: { only: cap.gives, parent: row.session } });
      const { session } = opened;
      const over = new AbortController();
      session.ended.then(
        () => over.abort(),
        () => {},
      );
      log(`run ${name} begins`);
      const end = AbortSignal.any([signal, over.signal]);
      const { code, said, isTooLong } = await this.#parts.runTask({ program, args, secrets: values, task, url: serving.url, secret: session.secret, withinMs: lasts, end }); // biome-ignore format: one line
      if (isTooLong) {
        log(`run ${name} took longer than it may, and was ended`);
        return 'too-long';
      }
      log(code === 0 ? `run ${name} is over` : `run ${name} failed with ${code}: ${machine.blank(said)}`);
      return code === 0 ? 'ok' : 'failed';
    } catch (error) {
      log(`run ${name} failed: ${machine.blank((error as Error).message)}`);
      return 'failed';
    } finally {
      await opened?.session.end('the run is over').catch(() => {});
    }
  }

  *#planned(): Generator<PlannedSchedule> {
    for (const cap of Object.values(this.#parts.plan.caps)) if (cap.kind === 'schedule') yield cap;
  }

  async #all(): Promise<readonly (readonly [of: string, row: ScheduleRow])[]> {
    return (await E(this.#rows).all()) as never;
  }

  async #find(of: string): Promise<ScheduleRow | undefined> {
    return (await E(this.#rows).find(of)) as never;
  }

  #nameOf(text: string): Promise<string> {
    return this.#parts.host.nameFor('runs', text);
  }

  #granter(): Promise<Far<Granter>> {
    return this.#parts.host.granter(makerOf(this.#parts.plan));
  }

  /** Whether the grant of its runs can be called, now or after somebody confirms it. */
  async #goesOn({ session }: ScheduleRow): Promise<boolean> {
    const open = (await this.#parts.host.sessions()).some(({ id }) => id === session);
    const grants = open ? ((await E(await this.#granter()).list({ session })) as readonly Grant[]) : [];
    return grants.some(({ petname, state }) => petname === RUNS && (state === 'live' || state === 'suspended'));
  }

  async #end(of: string, { session }: ScheduleRow, why: string): Promise<void> {
    const { host } = this.#parts;
    const open = (await host.sessions()).find(({ id }) => id === session);
    await open?.end(why);
    await E(this.#rows).drop(of);
  }

  /** If the host is killed before the row is kept, the session ends at the next start: nobody has entered it. */
  async #make(of: string, cap: PlannedSchedule): Promise<object> {
    const { host, plan, machine, gate, log } = this.#parts;
    const runner = await this.#vat.root(`runner ${of}`, () => RunnerActor(gate.runs, of));
    const label = `runs of ${cap.name}, by the agent ${cap.agent}`.slice(0, 100);
    // Each call of a run is assessed by itself. The run has no other effect.
    await host.offer(of, runner, { label, methods: ['run'], effects: { run: { class: 'A' } } });
    const taken = new Set((await host.sessions()).filter(({ parent }) => parent === undefined).map(({ name }) => name));
    const names = Array.from({ length: taken.size + 1 }, (_, n) => `${petnameOf(cap.name).slice(0, 40)}-schedule${n === 0 ? '' : `-${n + 1}`}`); // biome-ignore format: one line
    const name = names.find((one) => !taken.has(one)) as string;
    const session = await host.openSession({ name, granters: grantersOf(plan), unattended: true });
    await E(await this.#granter()).grant(session.id, RUNS, of, runTerms(cap, machine.now()));
    const granted = await session.cap<Runner>(RUNS);
    const terms = {
      ...(cap.missed === undefined ? {} : { missed: cap.missed }),
      ...(cap.zone === undefined ? {} : { zone: cap.zone }),
      ...(cap.shortestMs === undefined ? {} : { shortest: cap.shortestMs }),
    };
    const face = (await this.#vat.turn(() => makeScheduleCap(granted, terms))) as unknown as ScheduleRow['face'];
    await E(this.#rows).keep(of, { cap: cap.name, session: session.id, face });
    log(`the schedules of ${cap.name} begin, in the session ${name}`);
    return face;
  }
}
