/**
 * How a granter changes the limits of a grant that is in use. The object behind never changes.
 *
 * Narrowing only takes away, whatever the terms say. Renewing only makes the grant last longer, and at most
 * 90 days from now.
 */
import { CapError } from '@hob/vat';
import { type GrantLimits, limitsOf, longestTerm, type Now, readTerms, type Terms } from './terms.ts';

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

interface Narrowed {
  readonly limits: GrantLimits;
  /** The uses that are left. */
  readonly left: number | undefined;
}

export function narrowed({ limits, left }: Narrowed, given: Terms, now: Now): Narrowed {
  const terms = readTerms(given);
  if (Object.keys(terms).length === 0) refuse('say what to take away: {uses: 1}, {for: 60000}, {methods: [...]}');
  if (terms.made !== undefined) refuse('the terms of what a grant makes stay: revoke it and make a new one');
  if (terms.mount === true && !limits.mount) refuse('narrowing only takes away: it cannot let the grant be mounted');
  const timed = terms.for !== undefined || terms.until !== undefined;
  const asked = limitsOf(terms, now, longestTerm);
  const earlier = (a: number, b: number): number => Math.min(a, b);
  for (const method of asked.methods ?? [])
    if (limits.methods?.includes(method) === false)
      refuse(`narrowing only takes away: "${method.slice(0, 64)}" is not among the methods of this grant`);
  const methods = asked.methods ?? limits.methods;
  for (const method of Object.keys(asked.where ?? {}))
    if (limits.where !== undefined && Object.hasOwn(limits.where, method))
      refuse(`"${method.slice(0, 64)}" has bounds already: revoke this grant and make a new one`);
  const where = asked.where === undefined ? limits.where : Object.freeze({ ...limits.where, ...asked.where });
  const spent = (limits.uses ?? 0) - (left ?? 0);
  const next = terms.uses === undefined ? left : earlier(left ?? Number.POSITIVE_INFINITY, terms.uses);
  return {
    left: next,
    limits: Object.freeze({
      ...limits,
      uses: next === undefined ? undefined : spent + next,
      ...(terms.uses === undefined ? {} : { narrowed: now.vat }),
      deadline: timed ? earlier(limits.deadline, asked.deadline) : limits.deadline,
      wallDeadline: timed ? earlier(limits.wallDeadline, asked.wallDeadline) : limits.wallDeadline,
      boot: limits.boot ?? (terms.for === undefined ? undefined : now.boot),
      grace: timed ? Math.min(limits.grace, asked.grace) : limits.grace,
      methods,
      where,
      audited: limits.audited || asked.audited,
      mount: limits.mount && terms.mount !== false,
    }),
  };
}

export function renewed(limits: GrantLimits, until: number, now: Now): GrantLimits {
  const { deadline, wallDeadline, grace } = limitsOf({ until }, now);
  if (deadline <= limits.deadline || wallDeadline <= limits.wallDeadline)
    refuse('renewing makes a grant last longer: to end it earlier, narrow or revoke it');
  return Object.freeze({ ...limits, deadline, wallDeadline, grace, boot: undefined });
}
