/**
 * Finds text about a person in danger: suicide, self-harm, an overdose, immediate danger to life, and instructions
 * about what somebody in that danger should do.
 *
 * It looks for words and phrases in ten languages, in each way in which a text can be read (`views.ts`). It is a
 * net with holes: every detector of this kind misses some. A host whose channel reaches people in danger should make
 * that channel wait for a person always.
 */
import { languages } from './languages/all.ts';
import { spacedLexicons, unspacedLexicons } from './lexicon/all.ts';
import { type KnownWords, SpacedLexicon, UnspacedLexicon } from './reading/concepts.ts';
import { type Phrase, PhraseIndex, phraseOf, wordsOf } from './reading/pattern.ts';
import { longestText, viewsOf } from './reading/views.ts';

/** The verdict about a text. `why` is text of ours: it holds nothing of the text that was judged. */
export interface CrisisVerdict {
  readonly sensitive: boolean;
  readonly why: string;
}

/** The source of a text. */
export interface CrisisContext {
  readonly session: string;
  readonly petname: string;
  readonly method: string;
  /** The message that the session answers, if the program of the host gives it. */
  readonly incoming?: string;
}

/** Decides about one text. One that throws counts as "sensitive" for everything that leaves this machine. */
export type CrisisDetector = (text: string, context: CrisisContext) => CrisisVerdict;

const nothing: CrisisVerdict = Object.freeze({ sensitive: false, why: '' });
const tooLong: CrisisVerdict = Object.freeze({ sensitive: true, why: 'the text is too long to be judged' });

/** Runs of one letter count as one: "kiiill" is read as "kil", and so are the words of phrases. */
const folded = (text: string): string =>
  text
    .normalize('NFC')
    .toLowerCase()
    .replace(/(\p{L})\1+/gu, '$1');

/** The same folding as that of a view, without the accents that a view has not. */
const foldedWord = (word: string): string => folded(word.normalize('NFKD').replace(/[\u0300-\u036F\u064B-\u065F\u0670]/g, '')); // biome-ignore format: one line
const foldedPhrase = (text: string): Phrase => phraseOf(text, foldedWord);

const spaced = languages.filter(({ unspaced }) => unspaced !== true);

/** An idiom of one language is none of another only by chance, and names of films travel. */
const idioms = new PhraseIndex(spaced.flatMap((language) => language.idioms.map((text) => ({ phrase: foldedPhrase(text), of: language.name })))); // biome-ignore format: one line
const phrases = new PhraseIndex(spaced.flatMap((language) => language.phrases.map((text) => ({ phrase: foldedPhrase(text), of: language.name })))); // biome-ignore format: one line

/** Characters that are put between those of a word to hide it. */
const between = /[\s\u00b7・.,、*_~\-/]/g;

/** A number of a phrase is a number of its own in the text, and no part of a longer one, of an id or of a digest. */
const textPattern = (phrase: string): string =>
  phrase
    .split('*')
    .map((part) => part.normalize('NFKC').replace(/[0-9]+/g, '(?<![0-9a-z])$&(?![0-9a-z])'))
    .join('[^。．！？!?\\n]{0,8}');

const unspaced = languages
  .filter((language) => language.unspaced === true)
  .map(({ name, phrases: wanted, idioms: harmless }) => ({
    name,
    wanted: new RegExp(wanted.map(textPattern).join('|'), 'u'),
    harmless: new RegExp(harmless.map(textPattern).join('|'), 'gu'),
  }));

const lexicons = Object.entries(spacedLexicons).map(([name, lexicon]) => ({ name, lexicon: new SpacedLexicon(name, lexicon, foldedWord) })); // biome-ignore format: one line
const unspacedWords = Object.entries(unspacedLexicons).map(([name, lexicon]) => ({ name, lexicon: new UnspacedLexicon(lexicon) })); // biome-ignore format: one line

/** The language of a phrase that the view holds, or of words that mean danger together. */
function inView(view: string, known: readonly KnownWords[]): string | undefined {
  const words = idioms.without(wordsOf(folded(view)));
  const found =
    phrases.firstIn(words) ?? lexicons.find(({ lexicon }, n) => lexicon.found(words, known[n] as KnownWords))?.name;
  if (found !== undefined) return found;
  const compact = view.replace(between, '');
  const of = unspaced.find(({ wanted, harmless }) => wanted.test(compact.replace(harmless, '\u0000')))?.name;
  if (of !== undefined || !/[\u3040-\u30ff\u4e00-\u9fff]/.test(compact)) return of;
  let rest = compact;
  for (const { harmless } of unspaced) rest = rest.replace(harmless, '\u0000\u0000');
  return unspacedWords.find(({ lexicon }) => lexicon.found(rest))?.name;
}

/** The default detector. It looks at the text alone. */
export const detectCrisis = (text: string): CrisisVerdict => {
  if (text.length > longestText) return tooLong;
  const known = lexicons.map((): KnownWords => new Map());
  for (const view of viewsOf(text)) {
    const found = inView(view, known);
    if (found !== undefined) return { sensitive: true, why: `it has a phrase about a person in danger (${found})` };
  }
  return nothing;
};
