/**
 * The granter's commands about requests: list them, look at one, say yes or no.
 *
 * Promise: a yes names the digest that was read off the card. If something else is asked by now, the yes is refused. It grants what was asked, or
 * less where its options say so.
 */
import { CapError, E, type Far } from '@hob/vat';
import type { Granter } from '../granters/grants.ts';
import { askedBy, card, shortDigest } from '../powerbox/card.ts';
import type { Request } from '../powerbox/inbox.ts';
import { termLine } from '../powerbox/shown.ts';
import { completed, stricter } from '../powerbox/stricter.ts';
import type { GrantTerms } from '../state/terms.ts';

export type Out = (line: string) => void;

/** By command. */
export const requestUsage: Readonly<Record<'requests' | 'request' | 'approve' | 'refuse', string>> = {
  requests: '  requests                  what is asked and waits for an answer\n',
  request: '  request ID                the whole of one: what it would do, with what, and what it would change\n',
  approve: `  approve ID DIGEST [--uses N] [--for MINUTES | --until DATE] [--methods A,B]
                            yes, to what was shown with that digest (its first ${shortDigest} letters), on the
                            terms that were asked or on narrower ones
`,
  refuse: '  refuse ID [WHY] [--lasting]  no; lasting: to exactly this, for as long as its session lasts\n',
};

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
    out(`${id}  ${digest.slice(0, shortDigest)}  ${askedBy(asker)}  ${effect}${count > 1 ? `  (${count} times)` : ''}${waiting ? '' : '  NOT there now'}${flags.length > 0 ? '  BEWARE' : ''}`); // biome-ignore format: one line
  if (found.length === 0) out('nothing is asked');
  return 0;
}

export async function showRequest(granter: Far<Granter>, id: string, out: Out): Promise<number> {
  for (const line of card(await one(granter, id))) out(line);
  return 0;
}

/** Asks whoever approves, with what a yes does in front of them; `true` where nobody is there to be asked. */
export type Agree = (lines: readonly string[]) => Promise<boolean>;

export interface Approval {
  readonly id: string;
  /** The first letters of the digest that was shown. */
  readonly digest: string;
  /** Narrower than what was asked; none of them: as it was asked. */
  readonly terms: GrantTerms;
  /** Now, in ms since 1970. */
  readonly wall: number;
}

export async function approve(
  granter: Far<Granter>,
  { id, digest: prefix, terms: said, wall }: Approval,
  agree: Agree,
  out: Out,
): Promise<number> {
  if (!/^[a-z2-7]{12,52}$/.test(prefix))
    throw new CapError('invalid', `the digest is what "request ${id.slice(0, 64)}" shows: at least its first ${shortDigest} letters`); // biome-ignore format: one line
  const { digest, kind, terms: asked = {}, effect } = await one(granter, id);
  if (!digest.startsWith(prefix))
    throw new CapError('denied', 'something else is asked now than what had that digest: look at it again');
  const grant = kind === 'call' ? said : completed(asked, said);
  const does = kind === 'call' ? `: it ${effect}` : ` on these terms: ${termLine(stricter(asked, grant, wall), wall)}`;
  if (
    !(await agree(kind === 'call' ? [`approve ${id}${does}`] : [`request ${id}: it ${effect}`, `approve it${does}`]))
  ) {
    out(`nothing was approved: ${id} still waits for an answer`);
    return 1;
  }
  await E(granter).answer(id, { grant, digest });
  out(`approved ${id}${does}`);
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
