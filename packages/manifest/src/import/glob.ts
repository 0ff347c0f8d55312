/** Globs in which `*` stands for any text: whether two of them have a text in common. */

/** Whether some text is taken by both. The work is the product of their lengths. */
export function globsMeet(a: string, b: string): boolean {
  // `meets[j]`: what is left of `a` from i and of `b` from j have a text in common.
  let next = new Uint8Array(b.length + 1);
  for (let i = a.length; i >= 0; i -= 1) {
    const row = new Uint8Array(b.length + 1);
    for (let j = b.length; j >= 0; j -= 1) {
      const skipA = a[i] === '*' && (next[j] === 1 || (j < b.length && row[j + 1] === 1));
      const skipB = b[j] === '*' && (row[j + 1] === 1 || (i < a.length && next[j] === 1));
      const same = i < a.length && a[i] === b[j] && next[j + 1] === 1;
      if ((i === a.length && j === b.length) || skipA || skipB || same) row[j] = 1;
    }
    next = row;
  }
  return next[0] === 1;
}

/** Whether a glob takes a text that has no wildcards of its own. */
export const globTakes = (glob: string, text: string): boolean =>
  glob === '*' || globsMeet(glob, text.replaceAll('*', '\u0000'));
