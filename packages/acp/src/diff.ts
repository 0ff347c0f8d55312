/** Turns a unified diff into the two texts that an editor compares. */

/** An empty `oldText` stands for a new file. */
export interface Texts {
  readonly oldText: string | null;
  readonly newText: string;
}

/**
 * The lines of the hunks before and after the change. Hob's own diff is the source, which the digest of a
 * request is for: what the editor shows is not read a second time.
 */
export function textsOf(diff: string): Texts {
  const before: string[] = [];
  const after: string[] = [];
  for (const line of diff.split('\n').slice(2)) {
    const [mark, text] = [line.slice(0, 1), line.slice(1)];
    if (mark === '-') before.push(text);
    else if (mark === '+') after.push(text);
    else {
      const shown = mark === ' ' ? text : line;
      // The first lines of a file need no number.
      if (/^@@ -[01],/.test(shown) && before.length + after.length === 0) continue;
      before.push(shown);
      after.push(shown);
    }
  }
  return {
    oldText: before.length === 0 ? null : `${before.join('\n')}\n`,
    newText: after.length === 0 ? '' : `${after.join('\n')}\n`,
  };
}
