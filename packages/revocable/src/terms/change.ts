/**
 * What a granter changes of a grant that is in use: its limits, never whom it leads to.
 *
 * Promise: to narrow only takes away, whatever the terms say; to renew only lets it last longer, and no longer than 90 days from now.
 */
import { CapError } from '@hob/vat';
import { type Limits, limitsOf, longestTerm, type Now, readTerms, type Terms } from './terms.ts';

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

/** The limits, and the uses left, of a grant that had `limits` and `left`. */
export function narrowed(
  limits: Limits,
  left: number | undefined,
  given: Terms,
  now: Now,
): readonly [Limits, number | undefined] {
  const terms = readTerms(given);
  if (Object.keys(terms).length === 0) refuse('say what to take away: {uses: 1}, {for: 60000}, {methods: [...]}');
  if (terms.mount === true && !limits.mount) refuse('to narrow only takes away: it cannot let the grant be mounted');
  const timed = terms.for !== undefined || terms.until !== undefined;
  const asked = limitsOf(terms, now, longestTerm);
  const earlier = (a: number, b: number): number => Math.min(a, b);
  for (const method of asked.methods ?? [])
    if (limits.methods?.includes(method) === false)
      refuse(`to narrow only takes away: "${method.slice(0, 64)}" is not among the methods of this grant`);
  const methods = asked.methods ?? limits.methods;
  for (const method of Object.keys(asked.where ?? {}))
    if (limits.where !== undefined && Object.hasOwn(limits.where, method))
      refuse(`"${method.slice(0, 64)}" has bounds already: revoke this grant and give a new one`);
  const where = asked.where === undefined ? limits.where : Object.freeze({ ...limits.where, ...asked.where });
  const spent = (limits.uses ?? 0) - (left ?? 0);
  const next = terms.uses === undefined ? left : earlier(left ?? Number.POSITIVE_INFINITY, terms.uses);
  return [
    Object.freeze({
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
    next,
  ];
}

export function renewed(limits: Limits, until: number, now: Now): Limits {
  const { deadline, wallDeadline, grace } = limitsOf({ until }, now);
  if (deadline <= limits.deadline || wallDeadline <= limits.wallDeadline)
    refuse('to renew is to let it last longer: to end it earlier, narrow or revoke it');
  return Object.freeze({ ...limits, deadline, wallDeadline, grace, boot: undefined });
}
