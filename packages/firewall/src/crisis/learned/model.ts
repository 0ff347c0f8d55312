/**
 * The learned reading of a text: a weight for each of its features, from texts about danger and others.
 *
 * It finds sentences that no list of phrases foresaw, because danger shows in many small signs at once. It is a linear
 * classifier (logistic regression): a text is about danger if the mean of its weights is above a limit. `test/crisis`
 * has the texts that it learned from, the program that made the weights (`teach.ts`), and the texts that measure it.
 */
import { featuresOf } from './features.ts';
import { scoreOf } from './score.ts';
import { BIAS, LIMIT, SCALE, WEIGHTS } from './weights.ts';
import { windowsOf } from './windows.ts';

const weights = Int8Array.from(atob(WEIGHTS), (letter) => letter.charCodeAt(0));

const weightOf = (feature: number): number => (weights[feature] as number) * SCALE;

/** Whether a text that a view has folded, or a part of it that is as long as a message, is about danger. */
export function looksLikeDanger(text: string): boolean {
  return windowsOf(text).some((window) => scoreOf(featuresOf(window), weightOf, BIAS) > LIMIT);
}
