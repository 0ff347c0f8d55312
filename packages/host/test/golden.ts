/** The state of a host of an earlier version, in a folder of its own. */
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const golden = join(import.meta.dirname, '../golden/state-1');

/** The notes that `golden/make.ts` wrote beside it. */
export const facts = JSON.parse(readFileSync(join(golden, 'facts.json'), 'utf8')) as {
  /** When it was made, in ms since 1970. */
  readonly at: number;
  readonly ids: Readonly<Record<'work' | 'theirs' | 'child' | 'approved', string>>;
  readonly secrets: Readonly<
    Record<'owner' | 'stranger' | 'work' | 'theirs' | 'child' | 'approved' | 'sturdyref', string>
  >;
  readonly url: string;
};

export function goldenState(folder: string): void {
  mkdirSync(folder, { recursive: true });
  cpSync(golden, folder, { recursive: true });
  rmSync(join(folder, 'facts.json'));
  // A checkout knows no modes.
  chmodSync(folder, 0o700);
  for (const name of readdirSync(folder)) chmodSync(join(folder, name), 0o600);
}
