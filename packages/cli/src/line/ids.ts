/**
 * Short ids for people: R7 a request, G3 a grant, S12 a session, E91 a line of the ledger.
 *
 * They are the numbers in the ids of the host. A host gives each number once, so a short id means one thing for good.
 */
import { Mistake } from './mistake.ts';

/** The kinds of things that have a short id. */
type IdKind = 'R' | 'G' | 'S' | 'E';
/** The kinds of things that may also have a name. */
export type ShortKind = Exclude<IdKind, 'E'>;
/** The kinds in words. */
export const KIND_WORDS: Readonly<Record<ShortKind, string>> = { R: 'request', G: 'grant', S: 'session' };

const WORDS: Readonly<Record<IdKind, string>> = { R: 'a request', G: 'a grant', S: 'a session', E: 'a ledger line' };
const LISTED: Readonly<Record<IdKind, string>> = { R: 'inbox', G: 'list', S: 'sessions', E: 'ledger' };

/** `q007-ab3d` is R7, `g012-ab3d` is G12, and the session `work-ab3d4` is S4. */
export function shortId(kind: ShortKind, id: string): string {
  const digits = kind === 'S' ? /-[a-z2-7]{4}(\d{1,15})$/.exec(id)?.[1] : /^[gq](\d{3,15})-/.exec(id)?.[1];
  return digits === undefined ? id : `${kind}${Number(digits)}`;
}

/** Whether a person who wrote `text` means the thing of that id. */
export const isMeant = (kind: ShortKind, text: string, id: string): boolean =>
  text === id || text.toUpperCase() === shortId(kind, id);

/** Whether the text is an id of that kind. */
export function isId(kind: IdKind, text: string): boolean {
  if (new RegExp(`^${kind}\\d{1,15}$`, 'i').test(text)) return true;
  if (kind === 'E') return false;
  return kind === 'S' ? /^[a-z0-9-]+-[a-z2-7]{4}\d+$/.test(text) : new RegExp(`^${kind === 'R' ? 'q' : 'g'}\\d{3,15}-[a-z2-7]{4}$`).test(text); // biome-ignore format: one line
}

/** Refuses text that is no id of that kind. Errors: `Mistake`. */
export function checkId(kind: IdKind, text: string): string {
  if (isId(kind, text)) return text;
  throw new Mistake(`${JSON.stringify(text.slice(0, 40))} is not ${WORDS[kind]}: write one like ${kind}7; hob ${LISTED[kind]} lists them`, 2); // biome-ignore format: one line
}

/** The number of a ledger line. Errors: `Mistake`. */
export const lineNumber = (text: string): number => Number(checkId('E', text).slice(1));
