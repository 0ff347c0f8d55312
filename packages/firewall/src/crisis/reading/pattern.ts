/**
 * Phrases, and how they are found in a text.
 *
 * A phrase is words with a space between. In a word, `a|b` is one of several, `a~` any word that begins so, `a?` a
 * word that may be missing, and `*` up to three words of any kind. In a language without spaces a phrase is text,
 * with `*` for up to eight characters.
 */

/** The phrases of one language. */
export interface Language {
  readonly name: string;
  /** Words are written without spaces between them. */
  readonly unspaced?: boolean;
  readonly phrases: readonly string[];
  /** Figures of speech that hold such a phrase and mean something else. They are taken out of a text first. */
  readonly idioms: readonly string[];
}

/** One word of a phrase. */
interface Part {
  readonly words: readonly { readonly text: string; readonly prefix: boolean }[];
  readonly optional: boolean;
  readonly gap: boolean;
}

export type Phrase = readonly Part[];

/** `fold` reads the words as the view does that they are looked for in. */
export function phraseOf(text: string, fold: (text: string) => string): Phrase {
  return text.split(' ').map((part): Part => {
    if (part === '*') return { words: [], optional: false, gap: true };
    const optional = part.endsWith('?');
    const words = (optional ? part.slice(0, -1) : part).split('|').map((word) => {
      const prefix = word.endsWith('~');
      return { text: fold(prefix ? word.slice(0, -1) : word), prefix };
    });
    return { words, optional, gap: false };
  });
}

/** The words of a text. A word is letters with their marks, digits and apostrophes between them. */
export const wordsOf = (text: string): readonly string[] => text.match(/[\p{L}\p{N}][\p{L}\p{M}\p{N}]*(?:'[\p{L}\p{M}]+)*/gu) ?? []; // biome-ignore format: one line

/** Words between the words of a phrase where it has `*`. */
const longestGap = 3;

/** Where the phrase ends if it begins at `at`: the place after its last word. Undefined if it is not there. */
function endOf(phrase: Phrase, words: readonly string[], at: number, part = 0): number | undefined {
  const of = phrase[part];
  if (of === undefined) return at;
  if (of.gap) {
    for (let skip = 0; skip <= longestGap; skip += 1) {
      const end = endOf(phrase, words, at + skip, part + 1);
      if (end !== undefined) return end;
    }
    return undefined;
  }
  const word = words[at];
  const end = word !== undefined && of.words.some((each) => isWord(word, each)) ? endOf(phrase, words, at + 1, part + 1) : undefined; // biome-ignore format: one line
  return end ?? (of.optional ? endOf(phrase, words, at, part + 1) : undefined);
}

/** Many phrases, found by the first letter of their first word. A misspelt word keeps its first letter. */
export class PhraseIndex {
  readonly #byLetter = new Map<string, { readonly phrase: Phrase; readonly of: string }[]>();

  constructor(phrases: readonly { readonly phrase: Phrase; readonly of: string }[]) {
    for (const each of phrases)
      for (const letter of new Set((each.phrase[0] as Part).words.map(({ text }) => text[0] ?? ''))) {
        const there = this.#byLetter.get(letter);
        if (there === undefined) this.#byLetter.set(letter, [each]);
        else there.push(each);
      }
  }

  /** The language of the first phrase that occurs. */
  firstIn(words: readonly string[]): string | undefined {
    for (let at = 0; at < words.length; at += 1) {
      const found = this.#at(words, at);
      if (found !== undefined) return found.of;
    }
    return undefined;
  }

  /** The words, with a mark that is no word in the place of each phrase that occurs. */
  without(words: readonly string[]): readonly string[] {
    const rest: string[] = [];
    for (let at = 0; at < words.length; ) {
      const found = this.#at(words, at);
      rest.push(found === undefined ? (words[at] as string) : '\u0000');
      at = Math.max(found?.end ?? 0, at + 1);
    }
    return rest;
  }

  #at(words: readonly string[], at: number): { readonly of: string; readonly end: number } | undefined {
    for (const { phrase, of } of this.#byLetter.get((words[at] as string)[0] ?? '') ?? []) {
      const end = endOf(phrase, words, at);
      if (end !== undefined) return { of, end };
    }
    return undefined;
  }
}

/** A misspelt word counts if it is long enough that one slip leaves no other common word. */
const longEnough = 6;
/** In a shorter one two letters may have changed places. */
const longEnoughForSwap = 4;

function isWord(word: string, { text, prefix }: Part['words'][number]): boolean {
  if (prefix ? word.startsWith(text) : word === text) return true;
  if (text.length < longEnough)
    return text.length >= longEnoughForSwap && !prefix && word.length === text.length && isSwap(word, text);
  if (word.length < text.length - 1) return false;
  const compared = prefix ? word.slice(0, text.length + 1) : word;
  return compared[0] === text[0] && withinOneSlip(compared, text, prefix);
}

/** The same letters, two neighbours within the word in the other order. */
function isSwap(word: string, text: string): boolean {
  for (let at = 1; at < text.length - 1; at += 1)
    if (word[at] !== text[at])
      return word[at] === text[at + 1] && word[at + 1] === text[at] && word.slice(at + 2) === text.slice(at + 2) && word[0] === text[0]; // biome-ignore format: one line
  return false;
}

/** One letter missing, too many, another one, or two that changed places. With `prefix` what follows does not count. */
function withinOneSlip(word: string, text: string, prefix = false): boolean {
  let same = 0;
  while (same < text.length && word[same] === text[same]) same += 1;
  if (same === text.length) return prefix || word.length - text.length <= 1;
  const rest = (of: string, from: number): string => of.slice(from);
  const ends = (mine: string, theirs: string): boolean => (prefix ? mine.startsWith(theirs) : mine === theirs);
  return (
    ends(rest(word, same + 1), rest(text, same + 1)) ||
    ends(rest(word, same + 1), rest(text, same)) ||
    ends(rest(word, same), rest(text, same + 1)) ||
    (word[same] === text[same + 1] && word[same + 1] === text[same] && ends(rest(word, same + 2), rest(text, same + 2)))
  );
}
