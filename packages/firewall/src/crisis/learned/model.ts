/**
 * The learned reading of a text: a weight for each of its features, from texts about danger and others.
 *
 * It finds sentences that no list of phrases foresaw, because danger shows in many small signs at once. It is a linear
 * classifier (logistic regression): a text is about danger if the mean of its weights is above a limit. `test/crisis`
 * has the texts that it learned from, the program that made the weights (`teach.ts`), and the texts that measure it.
 */
import { BUCKETS, featuresOf } from './features.ts';
import { scoreOf } from './score.ts';
import { tableFrom } from './table.ts';
import { BIAS, LIMIT, ORDINARY, SCALE, WEIGHTS } from './weights.ts';
import { clausesOf, windowsOf } from './windows.ts';

let weights: Int8Array | undefined;
/** The table is unpacked for the first text. That takes 45 ms, and most processes read none. */
const weightOf = (feature: number): number => {
  weights ??= tableFrom(WEIGHTS, BUCKETS);
  return (weights[feature] as number) * SCALE;
};

const score = (window: string): number => scoreOf(featuresOf(window), weightOf, BIAS);

/** Whether a text that a view has folded, or a part of it that is as long as a message, is about danger. */
export const looksLikeDanger = (text: string): boolean => windowsOf(text).some((window) => score(window) > LIMIT);

/**
 * Whether the text, and each clause of it, is like ordinary texts and not like those about danger. Clauses count by
 * themselves, so that nothing disappears among words that have nothing to do with it.
 */
export const looksOrdinary = (text: string): boolean =>
  [...windowsOf(text), ...clausesOf(text)].every((part) => score(part) <= ORDINARY);
