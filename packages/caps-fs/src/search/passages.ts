/**
 * Passages of a text, replaced one after the other.
 *
 * Promise: each is replaced only where it stands exactly once in the text as those before it left it, all of them or none.
 * Imports only what imports nothing: with large texts it runs in a thread.
 */
import { Stop } from './descent.ts';
import { unifiedDiff } from './diff.ts';

export interface Edit {
  readonly oldText: string;
  readonly newText: string;
}

/** Plain data, checked before. */
export interface EditTask {
  readonly text: string;
  readonly edits: readonly Edit[];
  /** In the diff. */
  readonly name: string;
  /** Of the text, at any time. */
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
  // From one further on, not from the passage's end: `aa` stands twice in `aaa`.
  for (let next = text.indexOf(passage, at + 1); next >= 0 && count < maxCounted; count++) {
    next = text.indexOf(passage, next + 1);
  }
  if (count > 1) throw new Stop('AMBIGUOUS', `edit ${index + 1}, ${count} times`);
  return at;
}

/**
 * What looking for them may take: a passage costs its length times that of the text where somebody made both so (40,000
 * characters in 400,000 took 15 s), each of them a copy of the text at least.
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
