/** Finds the phrases of all languages (`languages/`) in a text. */
import { languages } from './languages/all.ts';
import { folded } from './reading/folded.ts';
import { type Phrase, PhraseIndex, phraseOf, wordsOf } from './reading/pattern.ts';

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

/** The language of a phrase that the view holds. */
export function phraseIn(view: string): string | undefined {
  const found = phrases.firstIn(idioms.without(wordsOf(folded(view))));
  if (found !== undefined) return found;
  const compact = view.replace(between, '');
  return unspaced.find(({ wanted, harmless }) => wanted.test(compact.replace(harmless, '\u0000')))?.name;
}
