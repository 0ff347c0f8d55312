/**
 * Waits for the programs that look at the answer of a call.
 *
 * Promise: the caller gets the answer after every program has returned, or an error that says that the call was made
 * and its answer is withheld. A program that cannot be run withholds.
 */
import { isData, type Onlooker } from '@hob/revocable';
import { CapError, type Definition, define, E, isReference, ledgerLine } from '@hob/vat';
import type { AnswerVerdict, HookedOutcome, HookPowers } from '../state/hooked.ts';
import type { HookedCap } from './hook-judge.ts';

export const OnlookerActor: Definition<Onlooker, [powers: HookPowers, cap: HookedCap]> = define(
  'host.hook-onlooker',
  (_bcom, powers, cap) => ({
    look(call, outcome) {
      const hooked = { ...cap, method: call.method, args: plain(call.args) as readonly unknown[] };
      const told: HookedOutcome = outcome.ok
        ? { ok: true, value: plain(outcome.value) }
        : { ok: false, code: codeOf(outcome.error), message: outcome.error?.message ?? '' };
      const looked = E(powers as object as Promise<HookPowers>).after(hooked, told);
      return E.when(looked as unknown as Promise<AnswerVerdict>, ({ withholds, trace }) => {
        ledgerLine('hook', { grant: cap.grant, method: call.method.slice(0, 64), ...trace });
        if (withholds !== undefined) throw new CapError('denied', withholds);
      }) as never;
    },
  }),
);

const codeOf = (error: Error | undefined): string => (error instanceof CapError ? error.code : 'error');

/** The same with a mark for each object, because a program gets data. */
function plain(value: unknown): unknown {
  if (isData(value)) return value;
  if (Array.isArray(value)) return value.map(plain);
  if (isReference(value) || typeof value !== 'object' || value === null) return { object: true };
  const proto: unknown = Object.getPrototypeOf(value);
  if (proto !== Object.prototype && proto !== null) return { object: true };
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, plain(inner)]));
}
