/** A request as lines for a person: first what it would do, last the quoted texts of others. */

import { type Rows, timeText } from './display.ts';
import type { Request } from './inbox.ts';
import { termRowsOf } from './offer-text.ts';

/** Ids of sessions, quoted, because whoever opened a session chose its name. */
const askerText = (asker: readonly string[]): string => asker.map((id) => `session “${id}”`).join(' > ');

/** How many letters of a digest a person copies. */
export const shortDigest = 12;

/**
 * Returns a request as lines of text for a terminal. The words of the agent come last and are quoted, so
 * that they cannot pass for ours.
 */
export function card(request: Request): readonly string[] {
  const { id, kind, digest, effect, asker, ageMs, leftMs, waiting, draft, count, stale, table, diff, permits, flags, why, proposals } = request; // biome-ignore format: one line
  const connected = waiting ? 'the caller waits' : 'the caller is NOT connected now';
  const waits = draft === true ? 'a DRAFT, for which no caller waits' : connected;
  const lines = [
    `request ${id}   digest ${digest.slice(0, shortDigest)}`,
    `  it ${effect}`,
    `  asked by ${askerText(asker)}, ${timeText(ageMs)} ago${count > 1 ? `, ${count} times` : ''}; ${waits}; can be answered for ${timeText(leftMs)}`,
  ];
  if (kind === 'grant') lines.push(`  terms: ${termsIn(table)}`);
  if (stale !== undefined) lines.push(`  replaces ${stale}, which has CHANGED since it was shown`);
  const wide = Math.min(24, Math.max(0, ...table.map(([name]) => name.length)));
  for (const [name, value] of table) lines.push(`    ${name.padEnd(wide)}  ${value}`);
  if (diff !== undefined) lines.push('  what would change:', ...diff.split('\n').map((line) => `    ${line}`));
  lines.push('  a yes permits:', ...permits.map((line) => `    ${line}`));
  for (const flag of flags) lines.push(`  BEWARE: ${flag}`);
  if (why !== '') lines.push(`  ${why}`);
  for (const { means, why: says } of proposals) lines.push(`  a judge proposes: ${means}; ${says}`);
  return lines;
}

/** The rows of the terms as one line. The first of them says how often. */
function termsIn(table: Rows): string {
  const [[, often] = ['', ''], ...rest] = termRowsOf(table);
  return [often, ...rest.map(([name, value]) => `${name}: ${value}`)].join('; ');
}
