/**
 * Finds text about a person in danger: suicide, self-harm, an overdose, immediate danger to life, and instructions
 * about what somebody in that danger should do.
 *
 * Two readings look at a text in ten languages, in each way in which it can be read (`views.ts`): phrases, and a model
 * that has learned from texts (`learned/model.ts`), for what no phrase foresaw. A phrase counts unless the model finds
 * the whole text, and each clause of it, like ordinary ones: words such as "overdose" and "hotline" stand in both. It
 * is a net with holes: every detector of this kind misses some. A host whose channel reaches people in danger should
 * make that channel wait for a person always.
 */
import { looksLikeDanger, looksOrdinary } from './learned/model.ts';
import { phraseIn } from './phrases.ts';
import { folded } from './reading/folded.ts';
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

/** The default detector. It looks at the text alone. */
export const detectCrisis = (text: string): CrisisVerdict => {
  if (text.length > longestText) return tooLong;
  for (const view of viewsOf(withoutIds(text))) {
    const language = phraseIn(view);
    if (language !== undefined && !looksOrdinary(folded(view)))
      return { sensitive: true, why: `it has a phrase about a person in danger (${language})` };
    if (looksLikeDanger(folded(view))) return { sensitive: true, why: 'it reads like a text about a person in danger' };
  }
  return nothing;
};
