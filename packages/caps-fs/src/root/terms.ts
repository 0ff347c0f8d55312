/**
 * The rights of a cap beneath its directory.
 *
 * Promise: terms only ever narrow. Every cap made from a cap carries at least the terms of that cap. So the
 * subdirectories of a read-only directory are read-only by construction, and no method has to remember a
 * check.
 */
import { takeCount, takeList, takeRecord, takeString } from '../base/arguments.ts';
import { refusal } from '../base/errors.ts';
import { Meter } from '../base/meter.ts';
import { namedBy, weightOf } from '../base/names.ts';

export interface Terms {
  readonly writes: boolean;
  readonly operations: ReadonlySet<string> | undefined;
  /** Names that do not exist for the holder. */
  readonly excepted: readonly string[];
  readonly meters: readonly Meter[];
}

export const unbounded: Terms = { writes: true, operations: undefined, excepted: [], meters: [] };

const maxPatterns = 256;
const maxMeters = 64;
// Limits the comparisons for each name that a walk meets.
const maxWeight = 65_536;
const changing: ReadonlySet<string> = new Set([
  'write',
  'append',
  'edit',
  'mkdir',
  'remove',
  'rename',
  'copy',
  'openWrite',
]);

/** Operations that read something beneath the directory and change nothing. */
const looking = ['read', 'readText', 'list', 'entries', 'stat', 'glob', 'search', 'openRead', 'subdir'] as const;

/** Returns the terms as the rights of a mount, or `undefined` if a mount could not enforce them. */
export function rightsOf({ writes, operations, excepted, meters }: Terms): 'ro' | 'rw' | undefined {
  if (excepted.length > 0 || meters.length > 0) return undefined;
  if (operations === undefined) return writes ? 'rw' : 'ro';
  if (!looking.every((operation) => operations.has(operation))) return undefined;
  const changes = [...changing].filter((operation) => operations.has(operation));
  if (!writes || changes.length === 0) return 'ro';
  return changes.length === changing.size ? 'rw' : undefined;
}

export function permits(terms: Terms, operation: string): boolean {
  return (terms.operations?.has(operation) ?? true) && (terms.writes || !changing.has(operation));
}

export function permit(terms: Terms, operation: string): void {
  if (terms.operations && !terms.operations.has(operation)) throw refusal('NOT_PERMITTED');
  if (!terms.writes && changing.has(operation)) throw refusal('READ_ONLY');
}

/** Charges every meter or none. */
export function charge(terms: Terms, cost: { readonly bytes?: number; readonly files?: number }): void {
  for (const meter of terms.meters) meter.check(cost);
  for (const meter of terms.meters) meter.charge(cost);
}

/** Refuses whether or not the name exists, so the refusal says nothing about that. */
export function refuseExcepted(terms: Terms, name: string): void {
  if (isExcepted(terms, name)) throw refusal('NOT_PERMITTED');
}

export function isExcepted(terms: Terms, name: string): boolean {
  return namedBy(terms.excepted, name);
}

export function readOnlyTerms(terms: Terms): Terms {
  return { ...terms, writes: false };
}

export function onlyTerms(terms: Terms, operations: unknown, known: ReadonlySet<string>): Terms {
  const wanted = new Set<string>();
  for (const operation of takeList(operations, 'operations', known.size)) {
    const name = takeString(operation, 'an operation');
    if (!known.has(name)) throw refusal('invalid', 'an operation of that name does not exist');
    if (terms.operations === undefined || terms.operations.has(name)) wanted.add(name);
  }
  return { ...terms, operations: wanted };
}

export function exceptTerms(terms: Terms, patterns: unknown): Terms {
  const more = takeList(patterns, 'patterns', maxPatterns).map((pattern) => {
    const text = takeString(pattern, 'a pattern');
    const ok = text !== '' && text !== '.' && text !== '..' && text.length <= 255 && !/[/\0]/.test(text);
    if (!ok) throw refusal('invalid', 'a pattern is one name, with * and ?');
    return text;
  });
  if (terms.excepted.length + more.length > maxPatterns) throw refusal('FS_LIMIT', `patterns ${maxPatterns}`);
  const excepted = [...terms.excepted, ...more];
  if (weightOf(excepted) > maxWeight) throw refusal('FS_LIMIT', 'patterns are too long together');
  return { ...terms, excepted };
}

export function quotaTerms(terms: Terms, quota: unknown): Terms {
  const { bytes, files } = takeRecord(quota, 'a quota');
  // Every write checks every meter.
  if (terms.meters.length >= maxMeters) throw refusal('FS_LIMIT', `quotas of one capability ${maxMeters}`);
  return { ...terms, meters: [...terms.meters, new Meter(takeCount(bytes, 'bytes'), takeCount(files, 'files'))] };
}
