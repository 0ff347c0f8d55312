/**
 * A call that waits for a judge, and then goes on as the judge was shown it.
 */
import { CapError, E, isReference, vatTime } from '@hob/vat';
import { frozenCopy } from '@hob/vat/forwarder';
import { type CallOutcome, shown } from './policy.ts';

/** A call that waits. */
export interface GatedCall {
  readonly method: string;
  readonly args: readonly unknown[];
  /**
   * The calls that its object came out of, outermost first, as text. Empty for the object that was gated
   * itself.
   */
  readonly via: readonly string[];
}

/** A yes for other arguments. A judge may put more data beside them, for the case that it is asked again. */
export interface PinnedCall {
  readonly with: readonly unknown[];
}

/** Decides about calls: a person, behind the program that asks them. Its maker trusts it. */
export interface Judge {
  /**
   * Returns `true` to send the call, or `{with: args}` to send it with these arguments. They pin what was
   * shown, for example the version of a file: if the object then throws `STALE`, the judge is asked again.
   * `inner` is the object behind, to look at. The uses of the call were charged at vat time `at`. A judge that is asked
   * again gets its earlier answer as `stale`.
   */
  ask(call: GatedCall, inner: object, at: number, stale?: PinnedCall): boolean | PinnedCall;
}

/** Whether `value` holds no reference, promise or function, and no object of a class. */
export function isData(value: unknown): boolean {
  if (isReference(value) || value instanceof Promise || typeof value === 'function') return false;
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return true;
  const proto: unknown = Object.getPrototypeOf(value);
  if (!Array.isArray(value) && proto !== Object.prototype && proto !== null) return false;
  return Object.values(value).every(isData);
}

/** Throws if the arguments could change after an approval. */
export function checkCanWait(method: string, args: readonly unknown[]): void {
  if (!isData(args))
    throw new CapError(
      'invalid',
      `"${shown(method)}" waits for approval here, so its arguments must be data: an object or a promise could change after the approval`,
    );
}

/** In a turn: asks the judge, and sends the call if the answer is yes. Rejects with `denied` if it is not. */
export function sendIfApproved(
  judge: Judge,
  call: GatedCall,
  inner: object,
  send: (args: readonly unknown[]) => Promise<unknown>,
): Promise<unknown> {
  const at = vatTime();
  // A copy, because bytes cannot be frozen: the policy of a forwarder in front of this one could change them meanwhile.
  const shownCall = { ...call, args: frozenCopy(call.args) };
  const ask = (stale?: PinnedCall): Promise<unknown> =>
    E.when(E(judge).ask(shownCall, inner, at, stale) as Promise<unknown>, (yes) => {
      const pinned = pinnedBy(yes);
      if (pinned !== undefined)
        return E.when(
          send(pinned.with),
          (value) => value,
          (error) => {
            if ((error as { readonly code?: string }).code === 'STALE') return ask(pinned);
            throw error;
          },
        );
      if (yes === true) return send(shownCall.args);
      throw new CapError('denied', 'this call was not approved: ask the person who decides');
    });
  return ask();
}

const pinnedBy = (yes: unknown): PinnedCall | undefined =>
  typeof yes === 'object' && yes !== null && Array.isArray((yes as { readonly with?: unknown }).with)
    ? (yes as PinnedCall)
    : undefined;

/** Looks at the outcome of a call before its caller gets it. If it throws, the caller gets that error instead. */
export interface Onlooker {
  look(call: { readonly method: string; readonly args: readonly unknown[] }, outcome: CallOutcome): void;
}

/** In a turn: the result, when the onlooker has seen it. */
export function seenBy(
  onlooker: Onlooker,
  call: { readonly method: string; readonly args: readonly unknown[] },
  result: unknown,
): Promise<unknown> {
  // A copy, for the same reason as in `sendIfApproved`.
  const sentCall = { ...call, args: frozenCopy(call.args) };
  const shownTo = (outcome: CallOutcome): Promise<unknown> => E(onlooker).look(sentCall, outcome) as never;
  return E.when(
    result as Promise<unknown>,
    (value) => E.when(shownTo({ ok: true, value }), () => value),
    (error) =>
      E.when(shownTo({ ok: false, error }), () => {
        throw error;
      }),
  );
}
