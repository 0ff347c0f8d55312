/**
 * A ledger line for each call and each outcome.
 *
 * Promise: a call is in the ledger before it leaves, its outcome before the caller has it. Nobody sees through it past the ledger, unless its
 * maker said that it may be mounted; that is a line too.
 */
import { type AnyDefinition, type Far, freshName, ledgerLine } from '@hob/vat';
import {
  type Forward,
  type FullPolicy,
  forwardFully,
  inItsVat,
  type Outcome,
  opaque,
  shown,
} from '../forwarder/forward.ts';

/** What went well; what did not is told in any case. */
export function tellOutcome(grant: string, method: string, { ok }: Outcome): void {
  if (ok) ledgerLine('result', { grant, method: shown(method), code: 'ok' });
}

/** Throws, or says to the ledger that somebody sees through from now on. */
export function tellMount(grant: string, mount: boolean): void {
  if (!mount) throw opaque();
  ledgerLine('call', { grant, what: 'mount' });
}

const policy: FullPolicy<readonly [name: string, mount: boolean]> = {
  near: true,
  timeless: true,
  line: ([grant]) => ({ grant }),
  after: ([grant], method, outcome) => tellOutcome(grant, method, outcome),
  reveal: ([grant, mount]) => {
    tellMount(grant, mount);
    return undefined;
  },
};

const made: Forward<readonly [name: string, mount: boolean]> = forwardFully('revocable.audited', policy);

/** `name` is what its lines call it; without one they are numbered. */
export const audited = <T extends object>(
  inner: T | Far<T>,
  { name, mount = false }: { readonly name?: string; readonly mount?: boolean } = {},
): Far<T> => inItsVat(inner, () => made(inner, name ?? freshName('a'), mount));
export const auditedDefinition: AnyDefinition = made.definition;
