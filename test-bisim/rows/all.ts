/** Every row of the tables, as it is said on one machine. */
import type { Machine } from '../machine.ts';
import { BENIGN } from './benign.ts';
import { DESTRUCTIVE, READS } from './destructive.ts';
import { obfuscated } from './obfuscated.ts';
import type { Row } from './row.ts';

export function tables({ base, home }: Machine, port: number, mark: string): readonly Row[] {
  const said = (text: string): string =>
    text.replaceAll('%BASE%', base).replaceAll('%PORT%', String(port)).replaceAll('%MARK%', mark);
  // Some families are said in several parts, and there is git of both kinds: a row has a number of its own all the same.
  const next = new Map<string, number>();
  return [...obfuscated(base, home), ...DESTRUCTIVE, ...READS, ...BENIGN].map((row) => {
    const n = next.get(row.family) ?? 0;
    next.set(row.family, n + 1);
    return { ...row, id: `${row.family}/${n}`, steps: row.steps.map(said) };
  });
}
