/**
 * A granter's own names for grants, sessions and requests.
 *
 * Promise: a name belongs to one granter. No session, no judge and no other granter sees it. It stands for one thing,
 * and looks like no other name of that granter and like no id. Each change is a line of the ledger.
 */
import { CapError, ledgerLine } from '@hob/vat';
import { requestNamed } from '../powerbox/answer-request.ts';
import type { Initiator } from '../state/c-list.ts';
import { checkName, skeletonOf } from '../state/names.ts';
import { numberOf, numberOfSession } from '../state/order.ts';
import type { HostTables, OwnName } from '../state/records.ts';
import { isGranter, OwnRows } from './own-rows.ts';

/** More than a person remembers. Each new name is compared with all others. */
const mostNames = 200;
const pageSize = 100;

const key = (granter: string, id: string): string => `${granter}/${id}`;

/** In a turn: the names of a granter, in the order of their keys, from the id `from` on. */
function* namesFrom(tables: HostTables, granter: string, from = ''): Generator<OwnName> {
  for (const [at, row] of tables.ownNames.entries(key(granter, from))) {
    if (!at.startsWith(key(granter, ''))) return;
    yield row;
  }
}

/** In a turn: names a thing. Its earlier name ends. Errors: `no-such-object`, `invalid`, `limit`. */
export function setOwnName(tables: HostTables, id: string, name: string, act: Initiator): OwnName {
  const row: OwnName = { id, kind: checkedKind(tables, act.by, id), name };
  checkName(name, 'a name of yours');
  if (isLikeId(name))
    throw new CapError('invalid', 'that name looks like an id such as G12: choose one that cannot be taken for an id');
  const earlier = tables.ownNames.get(key(act.by, id));
  if (earlier?.name === name) return earlier;
  const others = [...namesFrom(tables, act.by)].filter((other) => other.id !== id);
  const like = others.find((other) => skeletonOf(other.name) === skeletonOf(name));
  if (like !== undefined)
    throw new CapError('invalid', `that name looks like “${like.name}”, your name for ${like.id}: choose another`);
  if (others.length >= mostNames)
    throw new CapError('limit', `a granter gives at most ${mostNames} names: take one away first`);
  tables.ownNames.set(key(act.by, id), row);
  ledgerLine('name', { what: 'begin', [row.kind]: id, name, ...act });
  return row;
}

/** In a turn: takes a name away, also from a thing that has ended. Errors: `no-such-object`. */
export function removeOwnName(tables: HostTables, id: string, act: Initiator): void {
  const row = typeof id === 'string' ? tables.ownNames.get(key(act.by, id)) : undefined;
  if (row === undefined) throw new CapError('no-such-object', 'you gave no name to anything of that id');
  tables.ownNames.delete(key(act.by, id));
  ledgerLine('name', { what: 'end', [row.kind]: id, name: row.name, ...act });
}

/** In a turn: a page of a granter's names, after the id `after`. */
export function ownNames(tables: HostTables, granter: string, after: unknown = ''): readonly OwnName[] {
  const page: OwnName[] = [];
  for (const row of namesFrom(tables, granter, typeof after === 'string' ? after : '')) {
    if (page.length >= pageSize) break;
    if (row.id !== after) page.push(row);
  }
  return page;
}

/** A thing of another granter is as absent as one that never was. Errors: `no-such-object`. */
function checkedKind(tables: HostTables, granter: string, id: unknown): OwnName['kind'] {
  const text = typeof id === 'string' ? id : '';
  if (numberOfSession(text) !== undefined) {
    new OwnRows(tables, granter).session(text);
    return 'session';
  }
  if (numberOf(text) !== undefined && text.startsWith('g')) {
    new OwnRows(tables, granter).grant(text);
    return 'grant';
  }
  requestNamed(tables, isGranter(granter), id);
  return 'request';
}

/** `g12` and `work-ab3d12` are ids. In `gl2` the letter looks like a digit. */
const isLikeId = (name: string): boolean =>
  /^[egqrs][\dilosz]*\d[\dilosz]*$/.test(name) ||
  /^[gq]\d{3,15}-[a-z2-7]{4}$/.test(name) ||
  numberOfSession(name) !== undefined;
