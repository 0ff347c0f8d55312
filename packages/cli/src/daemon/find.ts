/** Finds what a person means by R7, G3 or S12. */
import type { Grant, Granter, Request } from '@hob/host';
import { allOf } from '@hob/host/programs';
import { E, type Far } from '@hob/vat';
import { checkId, isMeant } from '../line/ids.ts';
import { Mistake } from '../line/mistake.ts';

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

/** Errors: `Mistake`. */
export async function requestNamed(granter: Far<Granter>, text: string): Promise<Request> {
  checkId('R', text);
  const found = (await allRequests(granter)).find(({ id }) => isMeant('R', text, id));
  if (found === undefined)
    throw new Mistake(`no request ${text} waits: it was answered, has ended, or never existed; hob inbox lists them`);
  return found;
}

/** Errors: `Mistake`. */
export async function grantNamed(granter: Far<Granter>, text: string): Promise<Grant> {
  checkId('G', text);
  const found = (await allGrants(granter)).find(({ id }) => isMeant('G', text, id));
  if (found === undefined) throw new Mistake(`there is no grant ${text}: hob list shows them`);
  return found;
}

/** Also finds a child by its path: `S12/reviewer`. Errors: `Mistake`. */
export async function sessionNamed(granter: Far<Granter>, text: string): Promise<SessionRow> {
  const [top = '', ...names] = text.split('/');
  checkId('S', top);
  const sessions = await allSessions(granter);
  let found = sessions.find(({ id }) => isMeant('S', top, id));
  for (const name of names) found = sessions.find((each) => each.parent === found?.id && each.name === name);
  if (found === undefined) throw new Mistake(`there is no session ${text}: hob sessions lists them`);
  return found;
}
