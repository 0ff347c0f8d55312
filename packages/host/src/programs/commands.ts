/**
 * A granter's answers to requests: approve and refuse. A face of its own (`@hob/host/answers`): it loads the terms of
 * grants, which no other verb of `hob` needs.
 *
 * Promise: an approval names the digest that a person read. If the request has changed, it is refused. It
 * grants what was asked for, or less if its options say so.
 */
import { CapError, E, type Far } from '@hob/vat';
import type { Granter } from '../granters/granter.ts';
import { shortDigest } from '../powerbox/card.ts';
import { termLine } from '../powerbox/display.ts';
import type { Request } from '../powerbox/inbox.ts';
import { completed, stricter } from '../powerbox/stricter.ts';
import type { GrantTerms } from '../state/terms.ts';

/** Writes one line. */
export type Out = (line: string) => void;

async function allRequests(granter: Far<Granter>): Promise<readonly Request[]> {
  const found: Request[] = [];
  for (let after: string | undefined; ; ) {
    const page = (await E(granter).inbox(after)) as readonly Request[];
    found.push(...page);
    after = page.at(-1)?.id;
    if (after === undefined) return found;
  }
}

async function findRequest(granter: Far<Granter>, id: string): Promise<Request> {
  const found = (await allRequests(granter)).find((request) => request.id === id);
  if (found === undefined)
    throw new CapError('no-such-object', 'no request has that id: it was answered, has ended, or never existed');
  return found;
}

/**
 * Asks the person to confirm, and shows what the approval does. Returns true if nobody is there to be
 * asked.
 */
export type Confirm = (lines: readonly string[]) => Promise<boolean>;

/** A yes to a request. */
export interface Approval {
  readonly id: string;
  /** The first letters of the digest that was shown. */
  readonly digest: string;
  /** Narrower terms than were asked for. Empty: as asked. */
  readonly terms: GrantTerms;
  /** Now, in ms since 1970. */
  readonly wall: number;
}

/**
 * The grant that a yes on the terms `said` makes, in words. Undefined if that is wider than was asked, or no grant at
 * all: a call is approved as it is.
 */
export function approvalText({ kind, terms: asked = {} }: Request, said: GrantTerms, wall: number): string | undefined {
  if (kind === 'call') return undefined;
  try {
    return termLine(stricter(asked, completed(asked, said), wall), wall);
  } catch (error) {
    if (error instanceof CapError && error.code === 'invalid') return undefined;
    throw error;
  }
}

/** Approves a request, after a person at a terminal agreed. Returns the exit code. */
export async function approve(
  granter: Far<Granter>,
  { id, digest: prefix, terms: said, wall }: Approval,
  agree: Confirm,
  out: Out,
): Promise<number> {
  if (!/^[a-z2-7]{12,52}$/.test(prefix))
    throw new CapError('invalid', `the digest is what hob inbox ${id.slice(0, 64)} shows: at least its first ${shortDigest} letters`); // biome-ignore format: one line
  const { digest, kind, terms: asked = {}, effect } = await findRequest(granter, id);
  if (!digest.startsWith(prefix)) throw new CapError('denied', 'the request has another digest now: look at it again');
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

/** Refuses a request. Returns the exit code. */
export async function refuse(
  granter: Far<Granter>,
  id: string,
  why: string,
  lasting: boolean,
  out: Out,
): Promise<number> {
  const { digest } = await findRequest(granter, id);
  await E(granter).answer(id, { refuse: why, digest, ...(lasting ? { lasting } : {}) });
  out(`refused ${id}${lasting ? ', for as long as its session lasts' : ''}`);
  return 0;
}
