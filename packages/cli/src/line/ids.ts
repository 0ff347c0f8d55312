/**
 * Short ids for people: R7 a request, G3 a grant, S12 a session, E91 a line of the ledger.
 *
 * They are the numbers in the ids of the host. A host gives each number once, so a short id means one thing for good.
 */
import { Mistake } from './mistake.ts';

/** The kinds of things that have a short id. */
export type IdKind = 'R' | 'G' | 'S' | 'E';

const WORDS: Readonly<Record<IdKind, string>> = { R: 'a request', G: 'a grant', S: 'a session', E: 'a ledger line' };
const LISTED: Readonly<Record<IdKind, string>> = { R: 'inbox', G: 'list', S: 'sessions', E: 'ledger' };

/** `q007-ab3d` is R7, `g012-ab3d` is G12, and the session `work-ab3d4` is S4. */
export function shortId(kind: Exclude<IdKind, 'E'>, id: string): string {
  const digits = kind === 'S' ? /-[a-z2-7]{4}(\d{1,15})$/.exec(id)?.[1] : /^[gq](\d{3,15})-/.exec(id)?.[1];
  return digits === undefined ? id : `${kind}${Number(digits)}`;
}

/** Whether a person who wrote `text` means the thing of that id. */
export const isMeant = (kind: Exclude<IdKind, 'E'>, text: string, id: string): boolean =>
  text === id || text.toUpperCase() === shortId(kind, id);

/** Refuses text that is no id of that kind. Errors: `Mistake`. */
export function checkId(kind: IdKind, text: string): string {
  const short = new RegExp(`^${kind}\\d{1,15}$`, 'i').test(text);
  const whole = kind !== 'E' && new RegExp(kind === 'S' ? '^[a-z0-9-]+-[a-z2-7]{4}\\d+$' : '^[gq]\\d{3,15}-[a-z2-7]{4}$').test(text); // biome-ignore format: one line
  if (short || whole) return text;
  throw new Mistake(`${JSON.stringify(text.slice(0, 40))} is not ${WORDS[kind]}: write one like ${kind}7; hob ${LISTED[kind]} lists them`, 2); // biome-ignore format: one line
}

/** The number of a ledger line. Errors: `Mistake`. */
export const lineNumber = (text: string): number => Number(checkId('E', text).slice(1));
