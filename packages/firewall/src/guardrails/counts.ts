/**
 * The counts of one cap of one session, as data: what has failed, and what was the same, how often.
 *
 * Promise: a count is about one signature, or about one method. Nothing else resets it but what these functions say.
 */

/** One method with its arguments: how often its last outcome was seen in a row. */
interface Seen {
  readonly signature: string;
  readonly outcome: string;
  readonly count: number;
}

/** Lists are ordered by use, the latest last. */
export interface Counts {
  readonly failed: readonly Seen[];
  readonly same: readonly Seen[];
  /** The failures of a method since it last did not fail. */
  readonly methods: readonly (readonly [method: string, count: number])[];
}

const nothing: Counts = Object.freeze({ failed: [], same: [], methods: [] });

/** The most signatures, and methods, that are remembered of one cap. */
export const mostSeen = 24;

/** Returns the counts of a stored value. What is none counts as nothing. */
export function countsFrom(kept: unknown): Counts {
  const { failed, same, methods } = (kept ?? nothing) as Partial<Counts>;
  return Array.isArray(failed) && Array.isArray(same) && Array.isArray(methods) ? { failed, same, methods } : nothing;
}

export const failuresOf = ({ failed }: Counts, signature: string | undefined): number => countIn(failed, signature);
export const repeatsOf = ({ same }: Counts, signature: string | undefined): number => countIn(same, signature);
export const failuresOfMethod = ({ methods }: Counts, method: string): number =>
  methods.find(([name]) => name === method)?.[1] ?? 0;

const countIn = (list: readonly Seen[], signature: string | undefined): number =>
  list[placeOf(list, signature)]?.count ?? 0;

/** A call has failed. `signature` is undefined if its arguments are no data. */
export function afterFailure(
  counts: Counts,
  { method, signature, outcome }: { readonly method: string; readonly signature: string | undefined; readonly outcome: string }, // biome-ignore format: one line
): Counts {
  const rest = counts.methods.filter(([name]) => name !== method);
  const methods = latest(rest, [method, failuresOfMethod(counts, method) + 1] as const);
  return { ...counts, methods, failed: signature === undefined ? counts.failed : seenAgain(counts.failed, signature, outcome) }; // biome-ignore format: one line
}

/** A call has not failed. Returns the same object if there is nothing to clear. */
export function afterSuccess(counts: Counts, method: string, signature: () => string | undefined): Counts {
  if (failuresOfMethod(counts, method) === 0) return counts;
  const own = counts.failed.length === 0 ? undefined : signature();
  const failed = counts.failed.filter((seen) => seen.signature !== own);
  return { ...counts, failed, methods: counts.methods.filter(([name]) => name !== method) };
}

/** An idempotent call has returned. */
export function afterResult(counts: Counts, signature: string, outcome: string): Counts {
  return { ...counts, same: seenAgain(counts.same, signature, outcome) };
}

/** Each call that reads does this, so it looks through the list once. */
function seenAgain(list: readonly Seen[], signature: string, outcome: string): readonly Seen[] {
  const at = placeOf(list, signature);
  const before = list[at];
  const count = before?.outcome === outcome ? before.count + 1 : 1;
  const again: Seen = { signature, outcome, count };
  if (before === undefined) return latest(list, again);
  const rest = list.slice();
  rest.splice(at, 1);
  rest.push(again);
  return rest;
}

/** The last entry is the likeliest. */
function placeOf(list: readonly Seen[], signature: string | undefined): number {
  for (let at = list.length - 1; at >= 0; at -= 1) if (list[at]?.signature === signature) return at;
  return -1;
}

/** The entry that was unused for longest is forgotten. */
function latest<T>(list: readonly T[], item: T): readonly T[] {
  const rest = list.length < mostSeen ? list.slice() : list.slice(list.length - mostSeen + 1);
  rest.push(item);
  return rest;
}
