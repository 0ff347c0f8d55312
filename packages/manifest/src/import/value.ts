/**
 * A file of rules as values that know their lines, whatever the format.
 *
 * A file that cannot be read whole is not read at all: a rule that was overlooked might be the one that denies.
 */
import type { Mistake } from '../text/mistakes.ts';
import type { Source } from '../text/read.ts';
import { MOST_DEPTH, tooLarge } from '../text/size.ts';

/** A text, number, list or record, and the line where it begins. */
export type Value =
  | { readonly kind: 'scalar'; readonly line: number; readonly value: string | number | boolean | null }
  | { readonly kind: 'list'; readonly line: number; readonly items: readonly Value[] }
  | { readonly kind: 'record'; readonly line: number; readonly entries: readonly Entry[] };
/** A key and its value. */
export interface Entry {
  readonly key: string;
  readonly line: number;
  readonly value: Value;
}

/** Thrown by readers inside this folder, and caught where files are read. */
export class Unreadable extends Error {
  readonly line: number;
  readonly column: number;
  readonly write: string;
  constructor(place: { readonly line: number; readonly column?: number }, wrong: string, write: string) {
    super(wrong);
    this.line = place.line;
    this.column = place.column ?? 1;
    this.write = write;
  }
}

/** Reads a file with `read`, or returns what is wrong with it. It never throws for a text. */
export function readValue<T>(source: Source, read: (text: string) => T): T | { readonly mistakes: readonly Mistake[] } {
  const { file } = source;
  const large = tooLarge(source.text);
  const mistake = (place: { line: number; column: number }, wrong: string, write: string) => ({
    mistakes: [{ severity: 'error' as const, file, ...place, at: '', wrong, write }],
  });
  if (large !== undefined) return mistake(large.place, large.wrong, 'import several smaller files');
  if (/\0/.test(source.text)) return mistake({ line: 1, column: 1 }, 'this is no text', 'name a file of rules');
  try {
    return read(source.text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (error instanceof Unreadable) {
      const { line, column, message, write } = error;
      return mistake({ line, column }, message, write);
    }
    // Parsers of deep texts run out of stack. The depth was checked, so this is a fence and no plan.
    if (error instanceof RangeError)
      return mistake({ line: 1, column: 1 }, 'the file is nested too deep', `use at most ${MOST_DEPTH} levels`);
    throw error;
  }
}

/** A record of entries in which no key stands twice: products differ in which of the two holds. */
export function record(line: number, entries: readonly Entry[]): Value {
  const seen = new Map<string, number>();
  for (const { key, line: at } of entries) {
    const first = seen.get(key);
    if (first !== undefined)
      throw new Unreadable(
        { line: at },
        `this key stands twice, first in line ${first}`,
        'keep the one that is meant to hold',
      );
    seen.set(key, at);
  }
  return { kind: 'record', line, entries };
}

/** The value of a key; undefined if the value is no record or has no such key. */
export function get(value: Value | undefined, key: string): Value | undefined {
  return value?.kind === 'record' ? value.entries.find((entry) => entry.key === key)?.value : undefined;
}
/** The entries of a record; none for any other value. */
export const entriesOf = (value: Value | undefined): readonly Entry[] =>
  value?.kind === 'record' ? value.entries : [];
/** The text of a scalar text; undefined for every other value. */
export const textOf = (value: Value | undefined): string | undefined =>
  value?.kind === 'scalar' && typeof value.value === 'string' ? value.value : undefined;
/** The texts of a list, or of one text. Undefined if a part is no text. */
export function textsOf(value: Value | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const items = value.kind === 'list' ? value.items : [value];
  const texts = items.map(textOf);
  return texts.every((one) => one !== undefined) ? (texts as string[]) : undefined;
}

/** A value as it could be written in JSON, for messages. */
export function show(value: Value): string {
  switch (value.kind) {
    case 'scalar':
      return typeof value.value === 'string' ? value.value : String(value.value);
    case 'list':
      return `[${value.items.map(show).join(', ')}]`;
    case 'record':
      return `{${value.entries.map((entry) => `${entry.key}: ${show(entry.value)}`).join(', ')}}`;
  }
}
