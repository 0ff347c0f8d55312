/** One line of the table of steps: what shows that a step of the sandbox was left out. */
import type { Launched } from '../leaky.ts';
import type { Machine } from '../machine.ts';

/** Where it is played. */
export interface At {
  readonly machine: Machine;
  readonly port: number;
  readonly mark: string;
  readonly python: string;
  /** `tool.c`, built, and a folder for more. */
  readonly tool: string;
  readonly folder: string;
}

/** The surroundings of the command. */
export interface Setting {
  readonly launched?: Launched;
  /** Must not be in the output, beside what must never be. */
  readonly secret?: string;
  /** Looked at from outside again and again while the command runs: what of the machine it has taken, once it has. */
  watch?(): string | undefined;
  /** Runs once the command says that it is under way. Returns what it saw. */
  begun?(): Promise<string | undefined>;
  /** Runs when the command is over, with its status. Returns what it saw. */
  after?(status: number | undefined): Promise<string | undefined> | string | undefined;
  undo?(): void;
}

export interface Row {
  readonly step: string;
  /** Other steps would stop it, too: they are left out of both runs that are compared. */
  readonly also: readonly string[];
  /** `@BASE@`, `@WORK@`, `@PORT@`, `@MARK@` stand for what they are there. */
  readonly text: string;
  /** The effect of its absence, where that is no effect outside. */
  readonly as?: 'unexplained' | 'not started';
  /** And why there is none. */
  readonly why?: string;
  /** Played in all the worlds, since what shows it is the difference; otherwise the others play nothing. */
  readonly everywhere?: true;
  readonly root?: true;
  /** Why this machine cannot show it. */
  lacks?(at: At): string | undefined;
  setting?(at: At): Promise<Setting> | Setting;
}

/** Steps that stop the same: each holds alone where all the others of them are left out. */
export const eachAlone = (steps: readonly string[], row: Omit<Row, 'step' | 'also'>, more: string[] = []): Row[] =>
  steps.map((step) => ({ ...row, step, also: [...steps.filter((each) => each !== step), ...more] }));
