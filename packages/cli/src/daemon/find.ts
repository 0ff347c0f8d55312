/** Finds what a person means by R7, G3, S12, or a name that the person gave. */
import type { Grant, Granter, Request } from '@hob/host';
import { allOf } from '@hob/host/client';
import { E, type Far } from '@hob/vat';
import { checkId, isId, isMeant, KIND_WORDS, type ShortKind } from '../line/ids.ts';
import { Mistake } from '../line/mistake.ts';
import { allNames, shortOf } from './names.ts';

/** A session, as its granter sees it. */
export interface SessionRow {
  readonly id: string;
  readonly name: string;
  readonly parent?: string;
}

type Paged<T> = (after?: string) => Promise<readonly T[]>;

async function all<T extends { readonly id: string }>(page: Paged<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for (let after: string | undefined; ; ) {
    const rows = await page(after);
    found.push(...rows);
    after = rows.at(-1)?.id;
    if (after === undefined) return found;
  }
}

/** All requests that wait. */
export const allRequests = (granter: Far<Granter>): Promise<readonly Request[]> =>
  all(async (after) => (await E(granter).inbox(after)) as readonly Request[]);

/** All sessions. */
export const allSessions = (granter: Far<Granter>): Promise<readonly SessionRow[]> =>
  all(async (after) => (await E(granter).sessions(after)) as readonly SessionRow[]);

/** Grants, of one session or of all. */
export async function allGrants(
  granter: Far<Granter>,
  filter: { readonly session?: string; readonly live?: boolean } = {},
): Promise<readonly Grant[]> {
  const found: Grant[] = [];
  for await (const grant of allOf(
    async (after) => (await E(granter).list({ ...filter, ...after })) as readonly Grant[],
  ))
    found.push(grant);
  return found;
}

/** Returns the id that the person wrote, or the id of that name. The thing may have ended. Errors: `Mistake`. */
export async function idOf(granter: Far<Granter>, kind: ShortKind, text: string): Promise<string> {
  if (isId(kind, text)) return text;
  const own = [...(await allNames(granter)).values()].find(({ name }) => name === text);
  if (own === undefined) return checkId(kind, text);
  if (KIND_WORDS[kind] !== own.kind)
    throw new Mistake(`${text} is your name for ${shortOf(own)}, which is not a ${KIND_WORDS[kind]}`);
  return own.id;
}

/** Errors: `Mistake`. */
export async function requestNamed(granter: Far<Granter>, text: string): Promise<Request> {
  const meant = await idOf(granter, 'R', text);
  const found = (await allRequests(granter)).find(({ id }) => isMeant('R', meant, id));
  if (found === undefined)
    throw new Mistake(`no request ${text} waits: it was answered, has ended, or never existed; hob inbox lists them`);
  return found;
}

/** Errors: `Mistake`. */
export async function grantNamed(granter: Far<Granter>, text: string): Promise<Grant> {
  const meant = await idOf(granter, 'G', text);
  const found = (await allGrants(granter)).find(({ id }) => isMeant('G', meant, id));
  if (found === undefined) throw new Mistake(`there is no grant ${text}: hob list shows them`);
  return found;
}

/** Also finds a child by its path: `S12/reviewer`. Errors: `Mistake`. */
export async function sessionNamed(granter: Far<Granter>, text: string): Promise<SessionRow> {
  const [top = '', ...names] = text.split('/');
  const meant = await idOf(granter, 'S', top);
  const sessions = await allSessions(granter);
  let found = sessions.find(({ id }) => isMeant('S', meant, id));
  for (const name of names) found = sessions.find((each) => each.parent === found?.id && each.name === name);
  if (found === undefined) throw new Mistake(`there is no session ${text}: hob sessions lists them`);
  return found;
}

/** The whole id of a thing that may have a name: R7, G3, S12, or its name. Errors: `Mistake`. */
export async function thingNamed(granter: Far<Granter>, text: string): Promise<string> {
  if (isId('R', text)) return (await requestNamed(granter, text)).id;
  if (isId('G', text)) return (await grantNamed(granter, text)).id;
  if (isId('S', text.split('/', 1)[0] ?? '')) return (await sessionNamed(granter, text)).id;
  const own = [...(await allNames(granter)).values()].find(({ name }) => name === text);
  if (own === undefined) throw new Mistake(`${JSON.stringify(text.slice(0, 40))} is no id and no name of yours: write R7, G3 or S12`, 2); // biome-ignore format: one line
  return own.id;
}
