/**
 * Finds a text that every match of a pattern contains. A file without that text needs no regular expression.
 *
 * Promise: if a text is returned, every match contains it. If the pattern has a form that is not known here, nothing is
 * returned, and the pattern is tried on every file. Imports nothing.
 */

// Most files contain any shorter text.
const least = 3;

/** Takes a pattern that compiles. Only characters outside of groups and classes count. */
export function requiredText(pattern: string, atLeast: number = least): string | undefined {
  let best = '';
  let run = '';
  let depth = 0;
  const end = (): void => {
    // Bytes that are not UTF-8 are read as U+FFFD, so U+FFFD in a pattern may match other bytes.
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

/** A class, a repetition, the beginning of a group, an escape, or one character. */
const tokens = /\[\^?\]?(?:\\.|[^\]\\[])*\]|\{\d+(?:,\d*)?\}|\(\?:|\(\??|\\.|./gsu;
/**
 * Not known here: flags and names of groups, a class in a class, unpaired brackets, escapes of more than one letter. Also
 * `[]` and `[^]`, which are only the beginning of a class: a bracket that comes first is one of its characters.
 */
const unknown = /^(?:\(\?|\[\^?\]|[[\]{}]|\\(?![dwsbazntrfv])[a-z0-9]|\\)$/i;
/** A token that ends a run of literal characters. */
const special = /^(?:[.^$*+?()|]|\(\?:|\[.+\]|\{.+\}|\\[a-z0-9])$/is;
