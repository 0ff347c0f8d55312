/** Grants, requests and sessions as rows of a table, and as JSON with short ids. */
import type { Grant, Request } from '@hob/host';
import { conditionsText, grantLine, timeLeft } from '@hob/host/client';
import { shortId } from '../line/ids.ts';
import type { SessionRow } from './find.ts';
import { called, idText, type Names } from './names.ts';

/** The heads of its table. */
export const GRANT_HEADS: readonly string[] = ['id', 'session', 'cap', 'state', 'uses left', 'time left', 'leads to'];
/** A grant as a row. */
export const grantRow = (grant: Grant, names: Names): readonly string[] => {
  const { id, session, petname, state, usesLeft, until, what, where, madeUntil } = grant;
  return [
    idText('G', id, names),
    idText('S', session, names),
    petname,
    madeUntil === undefined ? state : `${state}; objects it made: ${timeLeft(madeUntil)}`,
    [usesLeft === undefined ? 'any' : String(usesLeft), ...conditionsText(grant)].join('; '),
    state === 'live' ? timeLeft(until) : '-',
    where === undefined ? what : `${what}, ${where}`,
  ];
};
/** A grant as a line, with short ids. */
export const grantText = (grant: Grant): string =>
  grantLine({ ...grant, id: shortId('G', grant.id), session: shortId('S', grant.session) });
/** A grant as JSON. `until` is in ms since 1970. */
export const grantJson = (
  { id, session, petname, state, usesLeft, until, parent, madeUntil, asks, waits, drafts }: Grant,
  names: Names,
): object => ({
  id: shortId('G', id),
  grant: id,
  session: shortId('S', session),
  cap: petname,
  state,
  ...(usesLeft === undefined ? {} : { usesLeft }),
  until,
  ...(madeUntil === undefined ? {} : { madeUntil }),
  ...(parent === undefined ? {} : { parent: shortId('G', parent) }),
  ...(asks === undefined ? {} : { asks }),
  ...(waits === undefined ? {} : { waits }),
  ...(drafts === undefined ? {} : { drafts }),
  ...called(id, names),
});

/** The heads of its table. */
export const REQUEST_HEADS: readonly string[] = ['id', 'session', 'waits', 'time to live', 'asks'];
const minutes = (ms: number): string => (ms < 120_000 ? `${Math.ceil(ms / 1000)} s` : `${Math.ceil(ms / 60_000)} min`);
/** A request as a row. */
export const requestRow = (
  { id, asker, waiting, draft, leftMs, effect, flags }: Request,
  names: Names,
): readonly string[] => [
  idText('R', id, names),
  asker.map((each) => idText('S', each, names)).join('/'),
  draft === true ? 'draft' : waiting ? 'yes' : 'not connected',
  minutes(leftMs),
  `${flags.length > 0 ? 'BEWARE ' : ''}${effect}`,
];
/** A request as JSON. */
export const requestJson = (
  { id, kind, asker, asks, effect, digest, waiting, leftMs, terms, flags, draft }: Request,
  names: Names,
): object => ({
  id: shortId('R', id),
  request: id,
  kind,
  session: shortId('S', asker.at(-1) ?? ''),
  cap: asks,
  effect,
  digest,
  waiting,
  leftMs: Math.round(leftMs),
  ...(terms === undefined ? {} : { terms }),
  ...(draft === undefined ? {} : { draft }),
  flags,
  ...called(id, names),
});

/** The heads of its table. */
export const SESSION_HEADS: readonly string[] = ['id', 'name', 'parent', 'whole id'];
/** A session as a row. */
export const sessionRow = ({ id, name, parent }: SessionRow, names: Names): readonly string[] => [
  idText('S', id, names),
  name,
  parent === undefined ? '-' : idText('S', parent, names),
  id,
];
/** A session as JSON. */
export const sessionJson = ({ id, name, parent }: SessionRow, names: Names): object => ({
  id: shortId('S', id),
  session: id,
  name,
  ...(parent === undefined ? {} : { parent: shortId('S', parent) }),
  ...called(id, names),
});
