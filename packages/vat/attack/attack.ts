/** One row of the table: what a hostile peer does, and what must come of it. */
import type { DialectName } from '../src/captp/captp.ts';
import type { CapTPLimits } from '../src/index.ts';
import type { Attacker } from './attacker.ts';
import type { Entrance, Terms } from './target.ts';

export interface Scene {
  readonly dialect: DialectName;
  readonly port: number;
  /** The size of an attack: small in tests, in full by the command. */
  size(small: number, full: number): number;
  /** Comes in once more: a connection of its own, on the terms of the row. */
  enter(): Promise<Attacker>;
  /** A socket without an attacker on it. */
  knock(): Promise<Required<Entrance>>;
  /** Lets the victim work. */
  pause(ms?: number): Promise<void>;
  /** Takes note of what the victim keeps now. */
  weigh(): Promise<void>;
}

export interface Attack {
  readonly name: string;
  readonly dialects?: readonly DialectName[];
  /** Needs a socket. */
  readonly socket?: true;
  /** Tighter than the defaults, so that the same attack is small in tests. Not taken in full. */
  readonly limits?: CapTPLimits;
  readonly meter?: Terms['meter'];
  /** One of these; `*` is any text. */
  readonly expected: readonly string[];
  act(peer: Attacker, scene: Scene): Promise<string | readonly string[]>;
}

/** Those outcomes that are not listed. */
export function unexpected({ expected }: Attack, outcomes: string | readonly string[]): readonly string[] {
  const patterns = expected.map(
    (text) => new RegExp(`^${text.replace(/[.()[\]{}+?^$|\\]/g, '\\$&').replaceAll('*', '.*')}$`, 's'),
  );
  const all = typeof outcomes === 'string' ? [outcomes] : outcomes;
  return all.filter((outcome) => !patterns.some((pattern) => pattern.test(outcome)));
}

/** Waits for many outcomes. */
export const outcomes = (peer: Attacker, questions: readonly number[]): Promise<readonly string[]> =>
  Promise.all(questions.map((question) => peer.outcome(question)));

export const numbers = (count: number, from: number = 0): readonly number[] =>
  Array.from({ length: count }, (_, index) => from + index);
