/**
 * A search that is small enough to be made where it is asked: a thread takes 60 ms to be there, this takes some milliseconds.
 *
 * Promise: whatever it answers is what the thread would have; where it would take longer it answers `undefined`, and has
 * looked at no more than this much. Patterns go to the thread: what they take depends on who wrote them.
 */
import { mutant } from '@hob/vat';
import { type Ground, Stop } from './descent.ts';
import { refusal } from './errors.ts';
import type { Kernel } from './kernel.ts';
import { type Hit, type Query, search } from './scan.ts';

const all = mutant('fs-at-once');
const fewEntries = all ? Number.POSITIVE_INFINITY : 500;
const fewBytes = all ? Number.POSITIVE_INFINITY : 512 * 1024;

export function searchAtOnce(kernel: Kernel, ground: Ground, query: Query): readonly Hit[] | undefined {
  if (query.literal === undefined) return undefined;
  const few = { ...ground, maxEntries: Math.min(fewEntries, ground.maxEntries) };
  try {
    return search(kernel, few, { ...query, maxBytes: Math.min(fewBytes, query.maxBytes) });
  } catch (error) {
    if (!(error instanceof Stop)) throw error;
    if (/^max(?:Entries|SearchBytes) /.test(error.detail ?? '')) return undefined;
    throw refusal(error.code, error.detail);
  }
}
