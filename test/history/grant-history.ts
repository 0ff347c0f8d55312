/**
 * Checks whether some order of the calls explains a recorded history of one grant. Each call must have happened at one
 * moment between its begin and its end (linearisability: Herlihy and Wing, 1990).
 *
 * A grant has N uses. `use` takes one and returns how many were left before it. If the grant is revoked, it returns
 * `revoked`. Otherwise, if none is left, it returns `exhausted`. `left` returns how many are left. `revoke` ends the
 * grant.
 *
 * The check is exact and takes n log n steps. Each charged use returns another number, so the order of the charges is
 * known. The check looks only for their moments. It gives each charge the earliest moment that is possible. If these
 * moments do not explain the history, no others do. `search.ts` tries every order instead, and
 * `../grant-history.test.ts` compares the two.
 */

/** One call of the grant, as the process that made it saw it. */
export interface Call {
  readonly kind: 'use' | 'left' | 'revoke';
  /** When the call began, by a clock that all processes share. */
  readonly from: number;
  /** When its answer came; `Infinity` if none came. */
  readonly to: number;
  /** `undefined`: the outcome is unknown. The call may have been carried out at any time after `from`, or never. */
  readonly answer: number | 'exhausted' | 'revoked' | 'done' | undefined;
}

/** Returns why no order of the calls explains the history of a grant of `uses` uses; `undefined` if one does. */
export function whyNot(uses: number, history: readonly Call[]): string | undefined {
  const charges = chargesOf(uses, history);
  if (typeof charges === 'string') return charges;
  const reads = readsOf(history);
  const untold = byBegin(history.filter(({ kind, answer }) => kind === 'use' && answer === undefined));
  // The smallest number of uses left that an answer shows. Further charges would explain nothing more.
  const fewest = Math.min(uses, ...[...charges.keys()].map((left) => left - 1), ...reads.keys());
  let charged = Number.NEGATIVE_INFINITY;
  let now = charged;
  for (let left = uses; left >= fewest; left -= 1) {
    if (left < uses) {
      // No answer has this charge, so it is a use of unknown outcome: the one that began first, as none has an end.
      const call = charges.get(left + 1) ?? untold.shift();
      if (call === undefined) return `use ${left + 1} was charged, and nobody made it`;
      charged = Math.max(now, call.from);
      if (charged > call.to) return tooLate(call, charged);
    }
    // Reads change nothing. Each gets the earliest moment between this charge and the next one.
    now = charged;
    for (const read of reads.get(left) ?? []) {
      const moment = Math.max(charged, read.from);
      if (moment > read.to) return tooLate(read, moment);
      now = Math.max(now, moment);
    }
  }
  return whyNotRevoked(history, charged);
}

/** Returns the charges by the number that was left before each, or why there cannot be such charges. */
function chargesOf(uses: number, history: readonly Call[]): ReadonlyMap<number, Call> | string {
  const charges = new Map<number, Call>();
  for (const call of history) {
    if (typeof call.answer !== 'number') continue;
    const least = call.kind === 'use' ? 1 : 0;
    if (!(call.answer >= least && call.answer <= uses)) return `a ${call.kind} found ${call.answer} of ${uses} left`;
    if (call.kind !== 'use') continue;
    if (charges.has(call.answer)) return `use ${call.answer} was charged twice`;
    charges.set(call.answer, call);
  }
  return charges;
}

/** Returns the calls that found how many uses were left, by that number. */
function readsOf(history: readonly Call[]): ReadonlyMap<number, readonly Call[]> {
  const reads = new Map<number, Call[]>();
  for (const call of history) {
    const left = call.answer === 'exhausted' ? 0 : call.kind === 'left' ? call.answer : undefined;
    if (typeof left === 'number') reads.set(left, [...(reads.get(left) ?? []), call]);
  }
  return reads;
}

/**
 * Returns why no moment fits the first revocation; undefined if one does. The revocation comes after the last charge,
 * which was at `charged`, and after each use that found none left. Each call that found the grant revoked, and each
 * `revoke` that returned, ended after it.
 */
function whyNotRevoked(history: readonly Call[], charged: number): string | undefined {
  const revocations = byBegin(history.filter(({ kind }) => kind === 'revoke'));
  const after = history.filter(({ answer }) => answer === 'revoked' || answer === 'done');
  if (after.length === 0) return undefined;
  if (revocations[0] === undefined) return 'a use found the grant revoked, and nobody revoked it';
  const usedUp = history.filter(({ answer }) => answer === 'exhausted').map(({ from }) => from);
  const earliest = Math.max(charged, revocations[0].from, ...usedUp);
  const late = after.find(({ to }) => to < earliest);
  return late && tooLate(late, earliest);
}

const byBegin = (calls: readonly Call[]): Call[] => calls.toSorted((one, other) => one.from - other.from);

const tooLate = ({ kind, answer, to }: Call, moment: number): string =>
  `a ${kind} that said ${answer} ended at ${to}, and what came before it was not before ${moment}`;
