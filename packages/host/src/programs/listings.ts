/** Grants, ledger lines and verdicts as lines for a person, page by page. */
import { E, type Far, type LedgerVerdict } from '@hob/vat';
import type { Granter } from '../granters/granter.ts';
import type { Grant } from '../granters/own-rows.ts';

/** One page of grants, after the id of one. */
export type Page = (after: { readonly after?: string }) => Promise<readonly Grant[]>;

/** All of them, page by page. */
export async function* allOf(page: Page): AsyncGenerator<Grant> {
  for (let after: string | undefined; ; ) {
    const grants = await page(after === undefined ? {} : { after });
    yield* grants;
    after = grants.at(-1)?.id;
    if (after === undefined) return;
  }
}

/** A grant as one line. */
export function grantLine(grant: Grant): string {
  const { id, session, petname, state, usesLeft, until, what, where } = grant;
  const uses = usesLeft === undefined ? 'any number of uses' : `${usesLeft} ${usesLeft === 1 ? 'use' : 'uses'} left`;
  const left = state === 'live' ? `${[uses, ...conditionsText(grant)].join('; ')}  ${timeLeft(until)} left` : state;
  // Others chose these names: the host's own words stand outside the quotes.
  return `${id}  “${session}”  “${petname}”  ${left}  ${[what, ...(where === undefined ? [] : [where])].join(', ')}`;
}

/** The conditions of calls under a grant, in words for a person. */
export const conditionsText = ({
  asks,
  waits,
  drafts,
}: Pick<Grant, 'asks' | 'waits' | 'drafts'>): readonly string[] => [
  ...(asks === true ? ['asks first'] : []),
  ...(waits === 'every' ? ['every call waits'] : waits === 'some' ? ['some calls wait'] : []),
  ...(drafts === true ? ['keeps drafts'] : []),
];

/** How long until then, for a person. */
export function timeLeft(until: number): string {
  const minutes = Math.max(0, Math.ceil((until - Date.now()) / 60_000));
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.ceil(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.ceil(hours / 24)} days`;
}

/** The ledger lines that a granter may read, from number `from` on, as JSON text. */
export async function* linesOf(granter: Far<Granter>, start = 1): AsyncGenerator<string> {
  const ledger = await E(granter).ledger();
  for (let from = start; ; ) {
    const page = (await E(ledger).lines(from)) as readonly string[];
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    // Between them may be lines of sessions of other granters, which are not shown.
    from = (JSON.parse(last) as { readonly seq: number }).seq + 1;
  }
}

/** The findings of the check of a ledger, one line each. */
export function verdictLines(verdict: LedgerVerdict): readonly string[] {
  const { checkpoints: count, signed, dropped, unended } = verdict;
  return [
    verdict.ok
      ? `the ledger is whole: ${verdict.lines} lines`
      : `the ledger is NOT whole: line ${verdict.badLine ?? '?'}: ${verdict.why ?? 'unknown'}`,
    ...(dropped === undefined
      ? []
      : [`lines 2 to ${dropped.to} were dropped by "${dropped.by}" on ${new Date(dropped.t).toISOString()}`]),
    ...(unended === undefined
      ? []
      : [
          `${unended} ${unended === 1 ? 'call' : 'calls'} of audited grants: end not recorded, since the host ended first`,
        ]),
    `${count} signed ${count === 1 ? 'checkpoint' : 'checkpoints'}: the host vouches for the first ${signed} lines`,
  ];
}
