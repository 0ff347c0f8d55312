/**
 * A glob or a search that is small enough to be made where it is asked: a thread takes 60 ms to be there, this takes some
 * milliseconds.
 *
 * Promise: whatever it answers is what the thread would have; where it would take longer it answers `undefined`, and has
 * looked at no more than this much, in no more steps than these, whoever wrote the names, the pattern and the `.gitignore`
 * files. Regular expressions and long texts go to the thread: what they take depends on who wrote them.
 */
import { refusal } from '../base/errors.ts';
import type { Kernel } from '../base/kernel.ts';
import { weightOf } from '../base/names.ts';
import { type Ground, Stop } from './descent.ts';
import { paths } from './paths.ts';
import { type Hit, type Query, search } from './scan.ts';
import { TooMuch, Work } from './work.ts';

const fewEntries = 500;
const fewBytes = 512 * 1024;

/** Of comparing names with patterns and rules. */
const fewSteps = 1_000_000;
/** Of comparing names with what is excepted, all of them. */
const fewCompared = 4_000_000;
/** Looking for a text takes its length times that of the file, where somebody made them so. */
const shortText = 128;

export function globAtOnce(
  kernel: Kernel,
  ground: Ground,
  pattern: string,
  limit: number,
): readonly string[] | undefined {
  return unlessMore(() => paths(kernel, fewOf(ground), pattern, limit, new Work(fewSteps)));
}

export function searchAtOnce(kernel: Kernel, ground: Ground, query: Query): readonly Hit[] | undefined {
  if (query.literal === undefined || query.literal.length > shortText) return undefined;
  const short = { ...query, maxBytes: Math.min(fewBytes, query.maxBytes) };
  return unlessMore(() => search(kernel, fewOf(ground), short, new Work(fewSteps)));
}

function fewOf(ground: Ground): Ground {
  const compared = Math.floor(fewCompared / Math.max(1, weightOf(ground.excepted)));
  return { ...ground, maxEntries: Math.min(fewEntries, compared, ground.maxEntries) };
}

/** `undefined`: there is more than is looked at here; where that is the cap's own limit, it is the thread's to say. */
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
