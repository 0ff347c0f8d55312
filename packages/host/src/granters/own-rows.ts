/**
 * The rows that a granter may see: the sessions that name it, and the grants in them.
 *
 * Promise: a row of another granter's session is as absent as one that never was. Each list comes in pages of
 * at most 100, in the order of the numbers in the ids.
 */
import type { GrantStatus } from '@hob/revocable';
import { CapError } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import { offerText } from '../powerbox/offer-text.ts';
import { hasSturdyref } from '../sharing/sturdyrefs.ts';
import { grantState, madeUntilOf } from '../state/c-list.ts';
import { sessionOf } from '../state/groups.ts';
import { grantsFrom, sessionsFrom } from '../state/order.ts';
import type { GrantRecord, HostTables, SessionRecord } from '../state/records.ts';

/** A grant, as data. `until` in ms since 1970. */
export interface Grant {
  readonly id: string;
  readonly session: string;
  readonly petname: string;
  readonly granter: string;
  /** The name of the offer that it leads to. */
  readonly offered: string;
  /** Its name for people: the label of the offer, or its name. Quoted, with odd characters escaped. */
  readonly what: string;
  /** Where it is on the host, for granters only: never give it to an agent. Quoted and escaped. */
  readonly where?: string;
  /** The grant that it was delegated from. It ends with that grant. */
  readonly parent?: string;
  readonly state: GrantStatus;
  readonly usesLeft?: number;
  readonly until: number;
  /** The latest end of the objects that its calls made (the term `made`). It may lie after the end of the grant. */
  readonly madeUntil?: number;
  /** The grant asks first: a call waits until a granter has granted its request. */
  readonly asks?: true;
  /** Every call, or each call of some methods, waits until a granter approves it. */
  readonly waits?: 'every' | 'some';
  /** Calls of some methods are kept as drafts. */
  readonly drafts?: true;
}

export function grantView(tables: HostTables, grant: GrantRecord): Grant {
  const { id, session, petname, granter, offered, parent } = grant;
  // The grant is asked once, because a page lists a hundred grants.
  const look = grant.gate.look();
  const { usesLeft, until } = leftOf(tables, grant, look);
  const info = tables.offerInfo.get(offered);
  const madeUntil = madeUntilOf(tables, grant, look);
  return {
    id,
    session,
    petname,
    granter,
    offered,
    what: offerText(offered, info),
    ...(info?.place === undefined ? {} : { where: info.place }),
    ...(parent === undefined ? {} : { parent }),
    state: grantState(tables, grant, look),
    ...(usesLeft === undefined ? {} : { usesLeft }),
    until,
    ...(madeUntil === undefined ? {} : { madeUntil }),
    ...conditionsOf(tables, grant),
  };
}

/**
 * The conditions of a call under this grant: those of the grant itself and of each grant above it.
 *
 * A grant made after a request has the grant that asked as its parent. It does not inherit `asks`, because a granter
 * has already granted it. The names of the methods are left out: a session may choose them in a request, and a page
 * with a hundred long lists would be too large.
 */
function conditionsOf(tables: HostTables, grant: GrantRecord): Pick<Grant, 'asks' | 'waits' | 'drafts'> {
  let [asks, drafts, waits]: [boolean, boolean, Grant['waits']] = [false, false, undefined];
  let granted = false;
  for (let one: GrantRecord | undefined = grant; one !== undefined; ) {
    asks ||= !granted && one.asks === true;
    drafts ||= one.drafts !== undefined;
    if (one.waits === true) waits = 'every';
    else if (one.waits !== undefined) waits ??= 'some';
    const above: GrantRecord | undefined = one.parent === undefined ? undefined : tables.grants.get(one.parent);
    // A grant that an earlier version delegated is not marked as `delegated`. Its session is not that of the one above.
    granted ||= above !== undefined && one.delegated !== true && above.session === one.session;
    one = above;
  }
  return {
    ...(asks ? { asks } : {}),
    ...(waits === undefined ? {} : { waits }),
    ...(drafts ? { drafts } : {}),
  };
}

/** The uses and the time that are left. A call spends a use of each grant above, and ends with the first of them. */
function leftOf(
  tables: HostTables,
  grant: GrantRecord,
  look: ReturnType<GrantRecord['gate']['look']>,
): { readonly usesLeft?: number | undefined; readonly until: number } {
  let { usesLeft, until } = look;
  for (let up = grant.parent; up !== undefined; ) {
    const above = tables.grants.get(up);
    if (above === undefined) break;
    const more = above.gate.look();
    usesLeft = more.usesLeft === undefined ? usesLeft : Math.min(usesLeft ?? more.usesLeft, more.usesLeft);
    until = Math.min(until, more.until);
    up = above.parent;
  }
  return { usesLeft, until };
}

/** Returns a test: whether a session names that granter. */
export const isGranter = (name: string) => (session: SessionRecord | undefined): session is SessionRecord => session?.granters.includes(name) === true; // biome-ignore format: one line

const pageSize = 100;
/** A page of live grants looks at no more grants than this, once it has found one. */
const maxLooked = 1000;

/** In a turn. */
export class OwnRows {
  readonly #tables: HostTables;
  readonly #isOwn: ReturnType<typeof isGranter>;

  constructor(tables: HostTables, granter: string) {
    this.#tables = tables;
    this.#isOwn = isGranter(granter);
  }

  /** Errors: `no-such-object`. */
  session(id: unknown): SessionRecord {
    const session = this.#ownSession(id);
    if (session === undefined)
      throw new CapError('no-such-object', 'you have no session of that id: list shows the grants of yours');
    return session;
  }

  /** Errors: `no-such-object`. */
  grant(id: unknown): GrantRecord {
    const grant = typeof id === 'string' ? this.#tables.grants.get(id) : undefined;
    if (grant === undefined || this.#ownSession(grant.session) === undefined)
      throw new CapError('no-such-object', 'you have no grant of that id: list shows them');
    return grant;
  }

  /** Errors: `invalid`. */
  list(filter: {
    readonly session?: string;
    readonly live?: boolean;
    readonly after?: string;
    readonly limit?: number;
  }): readonly Grant[] {
    const taken = takeOptions(filter, 'list', { session: true, live: true, after: true, limit: true });
    const { session: id, live, after, limit = pageSize } = taken;
    if (!Number.isSafeInteger(limit) || limit < 1) throw new CapError('invalid', 'limit is a whole number above 0');
    if (after !== undefined && typeof after !== 'string')
      throw new CapError('invalid', 'after is the id of the last grant of the page before');
    const found: Grant[] = [];
    let looked = 0;
    for (const grant of id === undefined ? this.#grants(after) : this.#grantsOf(id, after)) {
      // An empty page would mean that there are no more.
      if (found.length >= Math.min(limit, pageSize) || (found.length > 0 && looked >= maxLooked)) break;
      const view = grantView(this.#tables, grant);
      looked += 1;
      if (live !== true || view.state === 'live' || view.madeUntil !== undefined) found.push(view);
    }
    return found;
  }

  /** Errors: `no-such-object`. */
  sturdyrefs(filter: { readonly session?: string; readonly after?: string }): readonly Grant[] {
    const { session: id, after } = takeOptions(filter, 'sturdyrefs', { session: true, after: true });
    const from = typeof after === 'string' ? after : undefined;
    const grants = id === undefined ? this.#grants(from) : grantsFrom(this.#tables, this.session(id).id, from);
    const found: Grant[] = [];
    for (const grant of grants) {
      if (found.length >= pageSize) break;
      if (hasSturdyref(this.#tables, grant)) found.push(grantView(this.#tables, grant));
    }
    return found;
  }

  sessions(after: unknown): readonly { readonly id: string; readonly name: string; readonly parent?: string }[] {
    const found: { readonly id: string; readonly name: string; readonly parent?: string }[] = [];
    for (const session of sessionsFrom(this.#tables, typeof after === 'string' ? after : '')) {
      if (found.length >= pageSize) break;
      const { id, name, parent } = session;
      if (this.#ownSession(id) !== undefined) found.push({ id, name, ...(parent === undefined ? {} : { parent }) });
    }
    return found;
  }

  #ownSession(id: unknown): SessionRecord | undefined {
    const session = typeof id === 'string' ? sessionOf(this.#tables, id) : undefined;
    return this.#isOwn(session) ? session : undefined;
  }

  *#grants(after: string | undefined): Generator<GrantRecord> {
    for (const grant of grantsFrom(this.#tables, undefined, after))
      if (this.#ownSession(grant.session) !== undefined) yield grant;
  }

  #grantsOf(id: unknown, after: string | undefined): Iterable<GrantRecord> {
    const session = this.#ownSession(id);
    return session === undefined ? [] : grantsFrom(this.#tables, session.id, after);
  }
}
