/**
 * Replaces passages of a text, one after the other.
 *
 * Promise: a passage is replaced only if it occurs exactly once in the text that the earlier edits produced.
 * Either all are replaced or none. Large texts are edited in a worker thread, so this imports only what
 * loads fast: no actors, and of the library `diff` one module.
 */
import { Stop } from './descent.ts';
import { unifiedDiff } from './diff.ts';

export interface Edit {
  readonly oldText: string;
  readonly newText: string;
}

/** Plain data that was checked before. */
export interface EditTask {
  readonly text: string;
  readonly edits: readonly Edit[];
  /** The name of the file in the diff. */
  readonly name: string;
  /** The most characters that the text may have after any edit. */
  readonly max: number;
}

export interface Edited {
  readonly edited: string;
  readonly diff: string;
}

const maxCounted = 1_000;

export function editText({ text, edits, name, max }: EditTask): Edited {
  const edited = replaced(text, edits, max);
  return { edited, diff: unifiedDiff(text, edited, name) };
}

function replaced(text: string, edits: readonly Edit[], max: number): string {
  return edits.reduce((now, { oldText, newText }, index) => {
    const at = onlyPlaceOf(oldText, now, index);
    const next = now.slice(0, at) + newText + now.slice(at + oldText.length);
    if (next.length > max) throw new Stop('FS_LIMIT', `maxWriteBytes ${max}`);
    return next;
  }, text);
}

function onlyPlaceOf(passage: string, text: string, index: number): number {
  const at = text.indexOf(passage);
  if (at < 0) throw new Stop('NO_MATCH', `edit ${index + 1}`);
  let count = 1;
  // Search from the next character and not from the end of the passage: `aa` occurs twice in `aaa`.
  for (let next = text.indexOf(passage, at + 1); next >= 0 && count < maxCounted; count++) {
    next = text.indexOf(passage, next + 1);
  }
  if (count > 1) throw new Stop('AMBIGUOUS', `edit ${index + 1}, ${count} times`);
  return at;
}

/**
 * The most steps that the edits may take. At worst, finding a passage takes its length times the length of
 * the text (40,000 characters in 400,000 took 15 s). Each edit also copies the text.
 */
export function weightOf(text: string, edits: readonly Edit[]): number {
  let length = text.length;
  let passages = 0;
  for (const { oldText, newText } of edits) {
    length += newText.length;
    passages += oldText.length;
  }
  return length * passages;
}
