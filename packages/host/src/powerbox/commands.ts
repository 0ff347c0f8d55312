/**
 * The granter's commands about requests: list them, look at one, say yes or no.
 *
 * Promise: a yes names the digest that was read off the card, so it is for what was shown then: if something else is asked by now it is refused.
 */
import { CapError, E, type Far } from '@hob/vat';
import type { Granter } from '../grants.ts';
import { card, shortDigest } from './card.ts';
import type { Request } from './inbox.ts';

export type Out = (line: string) => void;

export const requestUsage: string = `  requests                  what is asked and waits for an answer
  request ID                the whole of one: what it would do, with what, and what it would change
  approve ID DIGEST         yes, to what was shown with that digest (its first ${shortDigest} letters)
  refuse ID [WHY] [--lasting]  no; lasting: to exactly this, for as long as its session lasts
`;

async function all(granter: Far<Granter>): Promise<readonly Request[]> {
  const found: Request[] = [];
  for (let after: string | undefined; ; ) {
    const page = (await E(granter).inbox(after)) as readonly Request[];
    found.push(...page);
    after = page.at(-1)?.id;
    if (after === undefined) return found;
  }
}

async function one(granter: Far<Granter>, id: string): Promise<Request> {
  const found = (await all(granter)).find((request) => request.id === id);
  if (found === undefined)
    throw new CapError('no-such-object', 'nothing of that id is asked: it was answered, or has ended, or never was');
  return found;
}

export async function showRequests(granter: Far<Granter>, out: Out): Promise<number> {
  const found = await all(granter);
  for (const { id, digest, asker, effect, waiting, count, flags } of found)
    out(`${id}  ${digest.slice(0, shortDigest)}  ${asker.join(' > ')}  ${effect}${count > 1 ? `  (${count} times)` : ''}${waiting ? '' : '  NOT there now'}${flags.length > 0 ? '  BEWARE' : ''}`); // biome-ignore format: one line
  if (found.length === 0) out('nothing is asked');
  return 0;
}

export async function showRequest(granter: Far<Granter>, id: string, out: Out): Promise<number> {
  for (const line of card(await one(granter, id))) out(line);
  return 0;
}

export async function approve(granter: Far<Granter>, id: string, prefix: string, out: Out): Promise<number> {
  if (!/^[a-z2-7]{12,52}$/.test(prefix))
    throw new CapError('invalid', `the digest is what "request ${id.slice(0, 64)}" shows: at least its first ${shortDigest} letters`); // biome-ignore format: one line
  const { digest, kind, terms = {}, effect } = await one(granter, id);
  if (!digest.startsWith(prefix))
    throw new CapError('denied', 'something else is asked now than what had that digest: look at it again');
  await E(granter).answer(id, { grant: kind === 'call' ? {} : terms, digest });
  out(`approved ${id}: it ${effect}`);
  return 0;
}

export async function refuse(
  granter: Far<Granter>,
  id: string,
  why: string,
  lasting: boolean,
  out: Out,
): Promise<number> {
  // biome-ignore format: one line
  const { digest } = await one(granter, id);
  await E(granter).answer(id, { refuse: why, digest, ...(lasting ? { lasting } : {}) });
  out(`refused ${id}${lasting ? ', for as long as its session lasts' : ''}`);
  return 0;
}
