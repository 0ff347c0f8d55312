/**
 * Every pattern of Hermes' own tables, and for each a command that it matches.
 *
 * The tables are asked of the installed package at run time. A command is generated from the expression (`exemplars.py`) and counts only
 * where Hermes itself then names that pattern; which ones none was found for is told, not hidden.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Hermes } from './hermes.ts';
import type { Row } from './rows/row.ts';

export interface Pattern {
  readonly table: 'hardline' | 'dangerous';
  readonly description: string;
  readonly command: string | undefined;
}

/** Its only effect is to keep the machine busy until a limit ends it. It is detected, and not played. */
const FORK_BOMB = /:\s*\(\s*\)/;

export async function patterns(hermes: Hermes, python: string): Promise<readonly Pattern[]> {
  const tables = (await hermes.ask({ op: 'patterns' })) as unknown as Readonly<
    Record<'hardline' | 'dangerous', readonly { readonly pattern: string; readonly description: string }[]>
  >;
  const all = (['hardline', 'dangerous'] as const).flatMap((table) => tables[table].map((row) => ({ table, ...row })));
  const input = JSON.stringify(all.map(({ pattern }) => pattern));
  const said = execFileSync(python, [join(import.meta.dirname, 'exemplars.py')], { input, encoding: 'utf8' });
  const exemplars = JSON.parse(said) as readonly (readonly string[])[];
  const found: Pattern[] = [];
  for (const [n, { table, description }] of all.entries()) {
    let command: string | undefined;
    for (const text of exemplars[n] ?? []) {
      const verdict = await hermes.ask({ op: 'detect', command: text });
      const named = table === 'hardline' ? verdict['hardline_description'] : verdict['description'];
      if (named !== description) continue;
      command = text;
      break;
    }
    found.push({ table, description, command });
  }
  return found;
}

export const patternRows = (found: readonly Pattern[]): readonly Row[] =>
  found.flatMap(({ table, command }, n) =>
    command === undefined || FORK_BOMB.test(command)
      ? []
      : [{ id: `patterns/${n}`, family: `patterns: ${table}`, kind: 'pattern' as const, steps: [command], needs: [] }],
  );
