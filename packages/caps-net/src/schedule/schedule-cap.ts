/** The interface of a schedule cap, and of what runs its tasks. */

/** Tasks that run later, each in a fresh session of the granter's making. */
export interface ScheduleCap {
  /**
   * Runs `task` again and again. `when` is a cron line of five fields (`30 2 * * *`, in the time zone of the cap), or an
   * interval such as `15m`, `6h`, `2d`: at least 1 minute. A first run that is due within a minute may begin a minute late.
   * Errors: `invalid`, `limit`, `unavailable`.
   */
  every(when: string, task: string): Scheduled;
  /** Runs `task` once. `time` is like `2027-03-01T09:00:00Z`. Errors: `invalid`, `limit`. */
  at(time: string, task: string): Scheduled;
  /** Every schedule that is not over. */
  list(): readonly Scheduled[];
  /** Returns whether there was one. A run that is under way goes on. */
  cancel(id: string): boolean;
}

/** A schedule, as data. */
export interface Scheduled {
  readonly id: string;
  readonly when: string;
  readonly task: string;
  /** ISO 8601, by the clock of now. */
  readonly next: string;
  /** How many runs were begun. */
  readonly runs: number;
  /** How many were left out: the one before went on, or its time had passed. */
  readonly left: number;
  /** `running`, `ok`, `failed`, `too-long`, a code such as `unknown-outcome`, or undefined before the first. */
  readonly last: string | undefined;
}

/** One run, as the runner is told. */
export interface Run {
  readonly schedule: string;
  /** From 1. */
  readonly number: number;
  readonly task: string;
  /** ISO 8601: when it was to run. */
  readonly due: string;
}

/** The end of a run that was not cut. `failed`: its agent said so. `too-long`: it took longer than it may. */
export type RunEnd = 'ok' | 'failed' | 'too-long';

/** Runs tasks. The host makes it: it opens a fresh session for each run, with caps that the granter chose. */
export interface Runner {
  /** Settles when the run is over. Without an end it was `ok`. */
  run(run: Run): Promise<RunEnd | undefined>;
}

/** The terms of a schedule cap. */
export interface ScheduleTerms {
  /**
   * A run whose time passed while the host was down, or when the clock was set forward: `late` (default) runs once as soon
   * as possible, `never` leaves it out.
   */
  readonly missed?: 'late' | 'never';
  /** Of cron lines. Default `UTC`. */
  readonly zone?: string;
  /** The shortest time between two runs of one schedule, in ms. At least, and by default, 1 minute. */
  readonly shortest?: number;
}
