/**
 * The limits of a planned cap as the terms of a grant.
 *
 * Promise: no grant lasts longer than the session's deadline, or than a host allows.
 */
import type { GrantTerms } from '@hob/host';
import { decisionsOf, type Plan, type PlannedCap, type PlannedTerms } from '@hob/manifest';
import { callBounds } from './bounds.ts';
import { waitingMethods } from './rights.ts';

/** As long as a host grants anything. */
const LONGEST = 90 * 86_400_000;

/** The terms of a cap when its session starts at `now`, in ms since 1970. */
export function grantTerms(plan: Plan, cap: PlannedCap, now: number): GrantTerms {
  const { level, alwaysHuman } = cap.terms;
  const base: GrantTerms = {
    ...limits(calls(cap), plan.deadlineMs, now),
    ...(alwaysHuman === true ? { personOnly: true } : {}),
  };
  const risk: GrantTerms = level === undefined ? {} : { level };
  // A granter sees each message as it will arrive. The first call, a draft, would show nothing of it.
  if (cap.how === 'ask' && cap.kind !== 'message')
    return { ...base, ...boundsOf(cap), asks: { ...proposal(cap, plan.deadlineMs, now), ...risk } };
  return {
    ...base,
    ...risk,
    ...boundsOf(cap),
    ...((cap.kind === 'fs' || cap.kind === 'http') && cap.own === true ? { own: true as const } : {}),
    ...waitingMethods(cap.kind, cap.kind === 'fs' ? cap.can : [], decisionsOf(plan, cap)),
  };
}

/** The limits of a schedule are those of its runs. Its own calls end with the session. A message takes two calls: its draft, and the sending. A draft is sent once, so there are no more messages than that. */
function calls({ kind, terms }: PlannedCap): PlannedTerms {
  if (kind === 'schedule') return {};
  return kind === 'message' && terms.uses !== undefined ? { ...terms, uses: 2 * terms.uses } : terms;
}

/** The bounds of the arguments of a tool. Its description is no call. */
function boundsOf(cap: PlannedCap): GrantTerms {
  if (cap.kind !== 'mcp' || cap.where === undefined) return {};
  return { methods: ['call', 'describe'], where: callBounds(cap.where) };
}

/** The terms that a question proposes. A manifest that names none means this one call. */
function proposal({ offer }: PlannedCap, deadlineMs: number | undefined, now: number): GrantTerms {
  return limits(offer ?? { uses: 1 }, deadlineMs, now);
}

/** The limits of a grant that begins now. */
export function limits(
  { uses, forMs, untilMs }: PlannedTerms,
  deadlineMs: number | undefined,
  now: number,
): GrantTerms {
  const times = [forMs, deadlineMs].filter((ms) => ms !== undefined);
  const most = Math.min(LONGEST, ...times);
  const time: GrantTerms =
    untilMs !== undefined
      ? { until: Math.min(untilMs, now + most) }
      : times.length > 0
        ? { for: most }
        : { scope: 'session' };
  return { ...time, ...(uses === undefined ? {} : { uses }) };
}
