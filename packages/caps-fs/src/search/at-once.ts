/**
 * A glob or a search that is small enough for the main thread. Starting a worker thread takes 60 ms, this
 * takes a few.
 *
 * Promise: a result from here equals the result of the worker thread. If it would take longer, the functions
 * return `undefined`, after looking at no more entries and making no more steps than the limits below,
 * whoever wrote the names, the pattern and the `.gitignore` files. Regular expressions and long texts always
 * go to the worker thread, because an attacker can choose ones that take long.
 */
import { refusal } from '../base/errors.ts';
import type { Tree } from '../base/fs-cap.ts';
import type { Kernel } from '../base/kernel.ts';
import { weightOf } from '../base/names.ts';
import { type SearchScope, Stop } from './descent.ts';
import { paths, type TreeQuery, treeOf } from './paths.ts';
import { type Found, type Query, search } from './scan.ts';
import { StepBudget, TooMuch } from './step-budget.ts';

const fewEntries = 500;
const fewBytes = 512 * 1024;

/** Steps for comparing names with patterns and rules. */
const fewSteps = 1_000_000;
/** Steps for comparing all names with the excepted patterns. */
const fewCompared = 4_000_000;
/** At worst, finding a text takes its length times the length of the file. */
const shortText = 128;

export function globAtOnce(
  kernel: Kernel,
  ground: SearchScope,
  pattern: string,
  limit: number,
): readonly string[] | undefined {
  return unlessMore(() => paths(kernel, fewOf(ground), pattern, limit, new StepBudget(fewSteps)));
}

export function treeAtOnce(kernel: Kernel, ground: SearchScope, query: TreeQuery): Tree | undefined {
  return unlessMore(() => treeOf(kernel, fewOf(ground), query));
}

export function searchAtOnce(kernel: Kernel, ground: SearchScope, query: Query): Found | undefined {
  if (query.literal === undefined || query.literal.length > shortText) return undefined;
  const short = { ...query, maxBytes: Math.min(fewBytes, query.maxBytes) };
  return unlessMore(() => search(kernel, fewOf(ground), short, new StepBudget(fewSteps)));
}

function fewOf(ground: SearchScope): SearchScope {
  const compared = Math.floor(fewCompared / Math.max(1, weightOf(ground.excepted)));
  return { ...ground, maxEntries: Math.min(fewEntries, compared, ground.maxEntries) };
}

/**
 * Returns `undefined` if a limit was reached. If it was the cap's own limit, the worker thread reports it.
 */
function unlessMore<A>(answer: () => A): A | undefined {
  try {
    return answer();
  } catch (error) {
    if (error instanceof TooMuch) return undefined;
    if (!(error instanceof Stop)) throw error;
    if (/^max(?:Entries|SearchBytes) /.test(error.detail ?? '')) return undefined;
    throw refusal(error.code, error.detail);
  }
}
