/**
 * Every pattern of Hermes' own tables, and for each a command that it matches.
 *
 * The tables are asked of the installed package at run time. A command is generated from the expression (`exemplars.py`), and Hermes itself
 * has to name that pattern for it. Where it names another one for all that were generated, an earlier pattern takes what this one matches:
 * that is told, not hidden, and so is a pattern for which none was found.
 */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Hermes } from './hermes.ts';
import type { Row } from './rows/row.ts';

export interface Pattern {
  readonly table: 'hardline' | 'dangerous';
  readonly description: string;
  readonly command: string | undefined;
  /** The verdict of Hermes on the command, where it is another pattern's. */
  readonly namedAs?: string;
}

/** Its only effect is to keep the machine busy until a limit ends it. It is detected, and not played. */
const FORK_BOMB = /:\s*\(\s*\)/;

export async function patterns(hermes: Pick<Hermes, 'ask'>, python: string): Promise<readonly Pattern[]> {
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
    let namedAs: string | undefined;
    for (const text of exemplars[n] ?? []) {
      const verdict = await hermes.ask({ op: 'detect', command: text });
      const named = table === 'hardline' ? verdict['hardline_description'] : verdict['description'];
      if (typeof named !== 'string') continue;
      // The first one, until there is a better one.
      command ??= text;
      namedAs ??= named;
      if (named !== description) continue;
      command = text;
      namedAs = undefined;
      break;
    }
    found.push({ table, description, command, ...(namedAs === undefined ? {} : { namedAs }) });
  }
  return found;
}

export const patternRows = (found: readonly Pattern[]): readonly Row[] =>
  found.flatMap(({ table, command }, n) =>
    command === undefined || FORK_BOMB.test(command)
      ? []
      : [{ id: `patterns/${n}`, family: `patterns: ${table}`, kind: 'pattern' as const, steps: [command], needs: [] }],
  );
