/**
 * Finds text about a person in danger: suicide, self-harm, an overdose, immediate danger to life, and instructions
 * about what somebody in that danger should do.
 *
 * Two readings look at a text in ten languages, in each way in which it can be read (`views.ts`): phrases, which are
 * always found, and a model that has learned from texts (`learned/model.ts`), for what no phrase foresaw. It is a net
 * with holes: every detector of this kind misses some. A host whose channel reaches people in danger should make that
 * channel wait for a person always.
 */
import { languages } from './languages/all.ts';
import { looksLikeDanger } from './learned/model.ts';
import { folded } from './reading/folded.ts';
import { type Phrase, PhraseIndex, phraseOf, wordsOf } from './reading/pattern.ts';
import { longestText, viewsOf, withoutIds } from './reading/views.ts';

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
function phraseIn(view: string): string | undefined {
  const found = phrases.firstIn(idioms.without(wordsOf(folded(view))));
  if (found !== undefined) return found;
  const compact = view.replace(between, '');
  return unspaced.find(({ wanted, harmless }) => wanted.test(compact.replace(harmless, '\u0000')))?.name;
}

/** The default detector. It looks at the text alone. */
export const detectCrisis = (text: string): CrisisVerdict => {
  if (text.length > longestText) return tooLong;
  for (const view of viewsOf(withoutIds(text))) {
    const language = phraseIn(view);
    if (language !== undefined)
      return { sensitive: true, why: `it has a phrase about a person in danger (${language})` };
    if (looksLikeDanger(folded(view))) return { sensitive: true, why: 'it reads like a text about a person in danger' };
  }
  return nothing;
};
