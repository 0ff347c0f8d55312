/**
 * What a session holds, as data: enough for a program to list its caps without calling one.
 *
 * Promise: it tells nothing but facts about the caps in the session's own c-list. It has no id of a grant, no name of
 * an offer, no label, no place, and nothing of another session.
 */
import type { GrantStatus } from '@hob/revocable';
import { wallTime } from '@hob/vat';
import { grantState } from '../state/c-list.ts';
import { warningsOf } from '../state/loops.ts';
import { grantsFrom } from '../state/order.ts';
import type { GrantRecord, HostTables, SessionRecord } from '../state/records.ts';

/** A cap that a session holds. A cap whose grant has ended stays in the list, with its `state`. */
export interface Holding {
  readonly petname: string;
  readonly state: GrantStatus;
  /** The methods that it allows, where the host can see them. */
  readonly methods?: readonly string[];
  /** The calls that are left. Absent: their number is not limited. */
  readonly usesLeft?: number;
  /** The time that is left, in ms. */
  readonly leftMs: number;
  /** Each call waits for a person, or each call of these methods. */
  readonly waits?: true | readonly string[];
  /** Calls of these methods are kept as drafts, and answered with the error `drafted`. */
  readonly drafts?: readonly string[];
  /** It was not granted yet: the next call waits until a person has granted it. */
  readonly asks?: true;
  /** The latest warnings of the firewall about its calls, since a person had a turn. */
  readonly warnings?: readonly string[];
}

/** In a turn: what the session holds, by petname. */
export function holdingsOf(tables: HostTables, session: SessionRecord): readonly Holding[] {
  const leases = leasesOf(tables, session);
  return [...session.held.entries()]
    .map(([, { petname, grant }]) => holdingOf(tables, petname, grant, leases))
    .sort((a, b) => (a.petname < b.petname ? -1 : 1));
}

/** The live grants that granters gave to facets that ask, by the grant of the facet. */
function leasesOf(tables: HostTables, session: SessionRecord): ReadonlyMap<string, GrantRecord> {
  const found = new Map<string, GrantRecord>();
  for (const grant of grantsFrom(tables, session.id))
    if (grant.parent !== undefined && grantState(tables, grant) === 'live') found.set(grant.parent, grant);
  return found;
}

function holdingOf(tables: HostTables, petname: string, id: string, leases: ReadonlyMap<string, GrantRecord>): Holding {
  const own = tables.grants.get(id);
  // Its row was removed, because it has ended.
  if (own === undefined) return { petname, state: 'revoked', leftMs: 0 };
  const above = withThoseAbove(tables, own);
  const lease = above.some(({ asks }) => asks) ? leases.get(id) : undefined;
  const all = lease === undefined ? above : [lease, ...above];
  const looks = all.map(({ gate }) => gate.look());
  const uses = looks.flatMap(({ usesLeft }) => usesLeft ?? []);
  const methods = allowed(tables.offerInfo.get(own.offered)?.methods, looks);
  const waits = joined(above.map((grant) => grant.waits));
  const warnings = warningsOf(tables, own);
  const drafts = above.flatMap((grant) => grant.drafts ?? []);
  return {
    petname,
    state: grantState(tables, own),
    ...(methods === undefined ? {} : { methods }),
    ...(uses.length === 0 ? {} : { usesLeft: Math.min(...uses) }),
    leftMs: Math.max(0, Math.min(...looks.map(({ until }) => until)) - wallTime()),
    ...(waits === undefined ? {} : { waits }),
    ...(drafts.length === 0 ? {} : { drafts }),
    ...(warnings.length === 0 ? {} : { warnings }),
    ...(lease === undefined && above.some(({ asks }) => asks) ? { asks: true as const } : {}),
  };
}

/** A call is charged to, and limited by, the grant and each grant that it was delegated from. */
function withThoseAbove(tables: HostTables, grant: GrantRecord): readonly GrantRecord[] {
  const above = grant.parent === undefined ? undefined : tables.grants.get(grant.parent);
  return above === undefined ? [grant] : [grant, ...withThoseAbove(tables, above)];
}

function allowed(
  offered: readonly string[] | undefined,
  looks: readonly { readonly methods: readonly string[] | undefined }[],
): readonly string[] | undefined {
  let left = offered;
  for (const { methods } of looks)
    if (methods !== undefined) left = left === undefined ? methods : left.filter((name) => methods.includes(name));
  return left;
}

function joined(lists: readonly (true | readonly string[] | undefined)[]): true | readonly string[] | undefined {
  if (lists.includes(true)) return true;
  const names = lists.flatMap((list) => (list === undefined || list === true ? [] : list));
  return names.length === 0 ? undefined : [...new Set(names)];
}
