/**
 * The schedules of a state, as actors: they last, and no restart makes two of one.
 *
 * A book (`@hob/caps-net`) says when a run begins. It calls its runner through a grant of the host, and the runner calls
 * the process that serves now.
 */
import { type Run, type RunEnd, type Runner, type ScheduleCap, scheduleDefinitions } from '@hob/caps-net';
import { type AnyDefinition, type Definition, define, E, type Far, type Table } from '@hob/vat';

/** The process that serves. */
export interface Runs {
  /** Settles when the run is over. `of` names the schedules that it is a run of. */
  begin(of: string, run: Run): Promise<RunEnd>;
}

export const RunnerActor: Definition<Runner, [runs: Far<Runs>, of: string]> = define(
  'cli.runner',
  (_bcom, runs, of) => ({
    run: (run) => E(runs).begin(of, run) as never,
  }),
);

/** The schedules of one text. */
export interface ScheduleRow {
  /** The name of their cap in the manifest. */
  readonly cap: string;
  /** The session that holds the grant of the runner. Runs are its child sessions. */
  readonly session: string;
  readonly face: ScheduleCap;
}

export interface ScheduleRows {
  all(): readonly (readonly [of: string, row: ScheduleRow])[];
  find(of: string): ScheduleRow | undefined;
  keep(of: string, row: ScheduleRow): void;
  drop(of: string): void;
}

export const ScheduleRowsActor: Definition<ScheduleRows, [rows: Table<ScheduleRow>]> = define(
  'cli.schedules',
  (_bcom, rows) => ({
    all: () => [...rows.entries()],
    find: (of) => rows.get(of),
    keep: (of, row) => void rows.set(of, row),
    drop: (of) => void rows.delete(of),
  }),
);

/** The definitions that a host with schedules is opened with. */
export const definitions: readonly AnyDefinition[] = Object.freeze([
  ...scheduleDefinitions,
  RunnerActor,
  ScheduleRowsActor,
]);
