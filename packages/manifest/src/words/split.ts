/** Splits an example like `git commit -m "a text"` into words: at spaces outside quotes, and nowhere else. */

/** Returns the words; undefined if a quote stays open. Nothing is expanded: `$HOME`, `*` and `;` are characters. */
export function splitWords(text: string): readonly string[] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote: string | undefined;
  for (const sign of text) {
    if (quote !== undefined) {
      if (sign === quote) quote = undefined;
      else word += sign;
    } else if (sign === '"' || sign === "'") {
      quote = sign;
      word ??= '';
    } else if (sign === ' ' || sign === '\t') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = (word ?? '') + sign;
  }
  if (quote !== undefined) return undefined;
  if (word !== undefined) words.push(word);
  return words;
}
