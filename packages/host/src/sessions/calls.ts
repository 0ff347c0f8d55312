/**
 * Calls that their session can cancel.
 *
 * Promise: from the turn that cancels a call, nothing more is sent for it: its driver gets the signal, its answer
 * breaks, a job that it began ends, and a request that it made is withdrawn. No other call notices, and no session
 * reaches a call of another one. A use that was charged stays charged.
 */
import { isData } from '@hob/revocable';
import { CapError, E, ledgerLine } from '@hob/vat';
import { cut, type Group, takeOptions, under } from '@hob/vat/forwarder';
import { capNamed } from '../state/c-list.ts';
import { type HostState, tablesOf } from '../state/host-state.ts';
import { warningsOf } from '../state/loops.ts';
import { skeletonOf } from '../state/names.ts';
import type { SessionRecord } from '../state/records.ts';

/** One call of a cap that the session holds. `call` names it, for `cancel`. */
export interface CancellableCall {
  /** 16 to 64 letters, digits, `-` and `_`. Use each once: the name of a cancelled call works never again. */
  readonly call: string;
  readonly cap: string;
  readonly method: string;
  readonly args: readonly unknown[];
  /** The call resolves with a `NotedResult`, however it ends. */
  readonly noted?: boolean;
}

/** The end of a call, and the warnings of the firewall about it: the metadata of an answer. */
export type NotedResult = { readonly warnings: readonly string[] } & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Error }
);

const cancelled: CapError = Object.freeze(new CapError('revoked', 'this call was cancelled by its caller'));

/** The name is the session's own: another session with the same name for a call has another group. */
const groupOf = (session: string, call: unknown): Group => {
  if (typeof call !== 'string' || !/^[\w-]{16,64}$/.test(call))
    throw new CapError('invalid', 'the name of a call is 16 to 64 letters, digits, "-" and "_", new for each call');
  return `=call ${session} ${call}`;
};

/** Whether a cause is the group of a call that its session named. */
export const isNamedCall = (cause: string): boolean => cause.startsWith('=call ');

type Methods = Readonly<Record<string, ((...args: readonly unknown[]) => Promise<unknown>) | undefined>>;

/** In a turn of the session. Errors: `invalid`, `no-such-object`, `no-such-method`, those of the cap. */
export function callHeld(hostState: HostState, session: SessionRecord, given: unknown): Promise<unknown> {
  const {
    call,
    cap,
    method,
    args,
    noted = false,
  } = takeOptions<Partial<Record<keyof CancellableCall, unknown>>>((given ?? {}) as object, 'call', {
    call: true,
    cap: true,
    method: true,
    args: true,
    noted: true,
  });
  if (typeof method !== 'string' || !Array.isArray(args) || !isData(args) || typeof noted !== 'boolean')
    throw new CapError('invalid', 'call takes {call, cap: "notes", method: "readText", args: ["a.txt"]}, whose arguments are data'); // biome-ignore format: one line
  const held = capNamed(session, cap);
  const sent = (E(held) as unknown as Methods)[method];
  if (sent === undefined) throw new CapError('no-such-method', 'that cannot be the name of a method');
  const group = groupOf(session.id, call);
  const answer = under(group, () => sent(...args));
  if (!noted) return answer;
  const warnings = (): readonly string[] => {
    const grant = session.held.get(skeletonOf(String(cap)))?.grant;
    return grant === undefined ? [] : warningsOf(tablesOf(hostState), { id: grant, session: session.id }, group);
  };
  return E.when(
    answer,
    (value): NotedResult => ({ ok: true, value, warnings: warnings() }),
    (error): NotedResult => ({ ok: false, error, warnings: warnings() }),
  );
}

/** In a turn of the session: runs `body`, and what it sends can be cancelled. Errors: `invalid`. */
export const cancellable = <R>(session: string, call: unknown, body: () => R): R =>
  call === undefined ? body() : under(groupOf(session, call), body);

/** In a turn of the session. Resolves when the drivers at work for the call are done. Errors: `invalid`, `limit`. */
export function cancelCall(session: string, call: unknown): Promise<void> {
  const group = groupOf(session, call);
  ledgerLine('cancel', { session, call: call as string });
  return cut(group, cancelled);
}
