/** Every row of the tables, as it is said on one machine. */
import type { Machine } from '../machine.ts';
import { BENIGN } from './benign.ts';
import { DESTRUCTIVE, READS } from './destructive.ts';
import { obfuscated } from './obfuscated.ts';
import type { Row } from './row.ts';

export function tables({ base, home }: Machine, port: number, mark: string): readonly Row[] {
  const said = (text: string): string =>
    text.replaceAll('%BASE%', base).replaceAll('%PORT%', String(port)).replaceAll('%MARK%', mark);
  return [...obfuscated(base, home), ...DESTRUCTIVE, ...READS, ...BENIGN].map((row) => ({
    ...row,
    steps: row.steps.map(said),
  }));
}
