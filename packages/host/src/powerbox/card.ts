/** A request as lines for a person: what it would do first, the words of others last and marked. */
import type { Request } from './inbox.ts';
import { type Rows, timeText } from './shown.ts';

/** Ids of sessions, quoted: who opened a session chose its name. */
export const askedBy = (asker: readonly string[]): string => asker.map((id) => `session “${id}”`).join(' > ');

/** How much of a digest a person copies. */
export const shortDigest = 12;

export function card(request: Request): readonly string[] {
  const { id, kind, digest, effect, asker, ageMs, leftMs, waiting, count, stale, table, diff, permits, flags, why, proposals } = request; // biome-ignore format: one line
  const lines = [
    `request ${id}   digest ${digest.slice(0, shortDigest)}`,
    `  it ${effect}`,
    `  asked by ${askedBy(asker)}, ${timeText(ageMs)} ago${count > 1 ? `, ${count} times` : ''}; ${waiting ? 'who asked waits' : 'who asked is NOT there now'}; can be answered for ${timeText(leftMs)}`,
  ];
  if (kind === 'grant') lines.push(`  terms: ${termsIn(table)}`);
  if (stale !== undefined) lines.push(`  in place of ${stale}: what that showed has CHANGED`);
  const wide = Math.min(24, Math.max(0, ...table.map(([name]) => name.length)));
  for (const [name, value] of table) lines.push(`    ${name.padEnd(wide)}  ${value}`);
  if (diff !== undefined) lines.push('  what would change:', ...diff.split('\n').map((line) => `    ${line}`));
  lines.push('  a yes permits:', ...permits.map((line) => `    ${line}`));
  for (const flag of flags) lines.push(`  BEWARE: ${flag}`);
  if (why !== '') lines.push(`  ${why}`);
  for (const { means, why: says } of proposals) lines.push(`  a judge proposes: ${means}; ${says}`);
  return lines;
}

/** The rows of its terms, as one line: the first row says what is asked for. */
const termsIn = ([, [, often] = ['', ''], ...rest]: Rows): string =>
  [often, ...rest.map(([name, value]) => `${name}: ${value}`)].join('; ');
