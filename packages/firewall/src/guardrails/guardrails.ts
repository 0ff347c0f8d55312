/**
 * Loop guardrails: they warn a caller that goes round in circles, and then stop it.
 *
 * Promise: counted per cap of a session. So many calls run as the threshold says; the next one is answered with the
 * error `limit`, which says what to do instead, is not sent and spends no use. A success clears the failures of its
 * signature and of its method. Another method resets nothing. A guardrail never lets a call through that something
 * else stops.
 */
import type { LoopCall, LoopGuard } from '@hob/host';
import { CapError } from '@hob/vat';
import { digestOf, errorDigest } from './compare.ts';
import {
  afterFailure,
  afterResult,
  afterSuccess,
  type Counts,
  countsFrom,
  failuresOf,
  failuresOfMethod,
  repeatsOf,
} from './counts.ts';
import { type GuardrailOptions, type Threshold, type Thresholds, thresholds } from './thresholds.ts';

/** Makes the guardrails. Errors: `invalid`. */
export function makeGuardrails(given?: GuardrailOptions): LoopGuard {
  const limits = thresholds(given);
  return Object.freeze({
    before: (call: LoopCall, kept: unknown) => before(limits, call, kept),
    after: (call: LoopCall, outcome: Parameters<LoopGuard['after']>[1], kept: unknown) =>
      after(limits, call, outcome, countsFrom(kept)),
  });
}

function before(limits: Thresholds, call: LoopCall, kept: unknown): void {
  if (kept === undefined) return;
  const counts = countsFrom(kept);
  const { exactFailure, sameMethod, sameResult } = limits;
  const method = call.method.slice(0, 64);
  const failures = failuresOfMethod(counts, call.method);
  if (isOver(sameMethod, failures)) throw stopped(`the method "${method}" of this cap has failed ${failures} times, with these and other arguments. Do not call it again now`); // biome-ignore format: one line
  const mayStop = anyOver(exactFailure, counts.failed) || anyOver(sameResult, counts.same);
  const signature = mayStop ? signatureOf(call) : undefined;
  if (signature === undefined) return;
  const exact = failuresOf(counts, signature);
  if (isOver(exactFailure, exact)) throw stopped(`"${method}" has failed ${exact} times with these arguments and the same error. Do not repeat it`); // biome-ignore format: one line
  const same = repeatsOf(counts, signature);
  if (isOver(sameResult, same)) throw stopped(`"${method}" has returned the same ${same} times for these arguments. Use that result`); // biome-ignore format: one line
}

const isOver = (limit: Threshold | undefined, count: number): boolean => limit !== undefined && count >= limit.stop;
/** Only then the arguments have to be looked at before the call. */
const anyOver = (limit: Threshold | undefined, list: readonly { readonly count: number }[]): boolean =>
  list.some(({ count }) => isOver(limit, count));

const stopped = (what: string): CapError =>
  new CapError('limit', `stopped, because it goes round in circles: ${what}. Change the arguments, go another way, or tell the person you work for what is missing`); // biome-ignore format: one line

/** The errors that are no failure of the call: it is kept as a draft, its caller cancelled it, or its grant is over. */
const noFailures: readonly unknown[] = ['drafted', 'revoked', 'expired'];

function after(
  limits: Thresholds,
  call: LoopCall,
  outcome: Parameters<LoopGuard['after']>[1],
  counts: Counts,
): ReturnType<LoopGuard['after']> {
  if (!outcome.ok) {
    if (noFailures.includes((outcome.error as { readonly code?: unknown } | undefined)?.code)) return undefined;
    if (limits.exactFailure === undefined && limits.sameMethod === undefined) return undefined;
    const signature = signatureOf(call);
    const kept = afterFailure(counts, { method: call.method, signature, outcome: errorDigest(outcome.error) });
    return { kept, lasting: true, warning: warningOfFailure(limits, call, failuresOf(kept, signature), kept) };
  }
  const cleared = afterSuccess(counts, call.method, () => signatureOf(call));
  const repeated = limits.sameResult === undefined ? undefined : afterRepeat(limits.sameResult, call, outcome.value, { counts: cleared, before: counts }); // biome-ignore format: one line
  return repeated ?? (cleared === counts ? undefined : { kept: cleared, lasting: true });
}

function afterRepeat(
  limit: Threshold,
  call: LoopCall,
  value: unknown,
  { counts, before }: { readonly counts: Counts; readonly before: Counts },
): ReturnType<LoopGuard['after']> {
  // biome-ignore format: one line
  if (!isIdempotent(call)) return undefined;
  const signature = signatureOf(call);
  const result = signature === undefined ? undefined : digestOf(value, effectOf(call)?.volatile);
  if (signature === undefined || result === undefined) return undefined;
  const kept = afterResult(counts, signature, result);
  const count = repeatsOf(kept, signature);
  // A first sight is not kept on the disk, unless it clears what is there.
  const lasting = count > 1 || counts !== before || repeatsOf(counts, signature) > 1;
  return { kept, lasting, warning: count < limit.warn ? undefined : `warning: "${call.method.slice(0, 64)}" has returned the same ${count} times for these arguments. Use that result. ${atStop(limit, count)}` }; // biome-ignore format: one line
}

function warningOfFailure(
  { exactFailure, sameMethod }: Thresholds,
  { method }: LoopCall,
  exact: number,
  counts: Counts,
): string | undefined {
  const shown = method.slice(0, 64);
  if (exactFailure !== undefined && exact >= exactFailure.warn)
    return `warning: "${shown}" has failed ${exact} times with these arguments and the same error. Change something. ${atStop(exactFailure, exact)}`; // biome-ignore format: one line
  const failures = failuresOfMethod(counts, method);
  if (sameMethod === undefined || failures < sameMethod.warn) return undefined;
  return `warning: "${shown}" has failed ${failures} times. Read its errors, or go another way. ${atStop(sameMethod, failures)}`; // biome-ignore format: one line
}

const atStop = ({ stop }: Threshold, count: number): string =>
  count >= stop ? 'The next such call is not sent.' : `After ${stop} such calls the next one is not sent.`;

const effectOf = ({ method, effects }: LoopCall): NonNullable<LoopCall['effects']>[string] | undefined =>
  effects !== undefined && Object.hasOwn(effects, method) ? effects[method] : undefined;

/** A method that says so, or one that only reads and says nothing. Nothing is known of a method that is not declared. */
function isIdempotent(call: LoopCall): boolean {
  const effect = effectOf(call);
  if (effect?.idempotent !== undefined) return effect.idempotent;
  return effect === undefined ? call.reads.includes(call.method) : effect.class === 'A';
}

/** Stands for the object, the method and the arguments. Undefined if these are not data. */
const signatureOf = ({ method, args, object }: LoopCall): string | undefined => {
  const known = digestOf(args);
  return known === undefined ? undefined : `${known} ${method} ${object()}`;
};
