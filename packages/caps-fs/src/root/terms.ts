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
import { changingMethods, readingMethods } from '../base/methods.ts';
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
const changing: ReadonlySet<string> = new Set(changingMethods);

/**
 * Returns the terms as the rights of a mount, or `undefined` if a mount could not enforce them. A program can do in a
 * mount whatever any method does, so the holder must have all reading methods, and all or none of the changing ones.
 */
export function rightsOf({ writes, operations, excepted, meters }: Terms): 'ro' | 'rw' | undefined {
  if (excepted.length > 0 || meters.length > 0) return undefined;
  if (operations === undefined) return writes ? 'rw' : 'ro';
  const held = changingMethods.filter((method) => operations.has(method));
  if (!readingMethods.every((method) => operations.has(method))) return undefined;
  if (!writes || held.length === 0) return 'ro';
  return held.length === changingMethods.length ? 'rw' : undefined;
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
    if (!known.has(name)) throw refusal('invalid', 'there is no operation of that name');
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
  const { bytes, files } = takeRecord(quota, 'a quota', ['bytes', 'files']);
  // Every write checks every meter.
  if (terms.meters.length >= maxMeters) throw refusal('FS_LIMIT', `a capability has at most ${maxMeters} quotas`);
  return { ...terms, meters: [...terms.meters, new Meter(takeCount(bytes, 'bytes'), takeCount(files, 'files'))] };
}
