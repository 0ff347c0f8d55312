/**
 * A text that every match of a pattern has in it, so that most files need no regular expression.
 *
 * Promise: if a text is returned, no match lacks it. Where a pattern uses anything that is not understood here,
 * nothing is returned, and every file is matched. Imports nothing.
 */

// Shorter ones are in most files.
const least = 3;

/** For a pattern that compiles. Only what stands outside of groups and classes counts. */
export function requiredText(pattern: string, atLeast: number = least): string | undefined {
  let best = '';
  let run = '';
  let depth = 0;
  const end = (): void => {
    // Bytes that are not UTF-8 are read as U+FFFD, so it may match other bytes.
    if (run.length > best.length && !run.includes('\ufffd')) best = run;
    run = '';
  };
  for (const [token] of pattern.matchAll(tokens)) {
    const kind = token.charAt(0);
    if (token === '(' || token === '(?:') depth += 1;
    else if (token === ')') depth -= 1;
    if (depth === 0 && token === '|') return undefined;
    if (unknown.test(token)) return undefined;
    if (kind === '*' || kind === '?' || kind === '{') run = run.replace(/.$/su, '');
    const literal = /^\\[^a-z0-9]$/i.test(token) ? token.charAt(1) : token;
    if (depth > 0 || special.test(token)) end();
    else run += literal;
  }
  end();
  return best.length >= atLeast ? best : undefined;
}

/** A class, a repetition, the begin of a group, an escape, or one character. */
const tokens = /\[\^?\]?(?:\\.|[^\]\\[])*\]|\{\d+(?:,\d*)?\}|\(\?:|\(\??|\\.|./gsu;
/**
 * Flags and names of groups, classes of classes, odd brackets, and escapes that take more than one letter. `[]` and `[^]`
 * are never whole classes: a bracket that comes first is one of the characters.
 */
const unknown = /^(?:\(\?|\[\^?\]|[[\]{}]|\\(?![dwsbazntrfv])[a-z0-9]|\\)$/i;
/** What ends a row of characters that stand for themselves. */
const special = /^(?:[.^$*+?()|]|\(\?:|\[.+\]|\{.+\}|\\[a-z0-9])$/is;
