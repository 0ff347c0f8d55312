/** Times, counts and ids in words. */
import type { Grant } from '@hob/host';

/** `40 s`, `3 min`, `2 h`, `5 days`. */
export function timeText(ms: number): string {
  const s = Math.round(ms / 1000);
  if (s < 1) return 'less than a second';
  if (s < 100) return `${s} s`;
  const min = Math.round(s / 60);
  if (min < 100) return `${min} min`;
  const h = Math.round(min / 60);
  return h < 48 ? `${h} h` : `${Math.round(h / 24)} days`;
}

/** `1 use`, `5 uses`, `any number of uses`. */
export const usesText = (uses: number | undefined): string =>
  uses === undefined ? 'any number of uses' : uses === 1 ? '1 use' : `${uses} uses`;

/** The uses that are left and the conditions of calls: `5 uses; asks first`. */
export const leftText = ({
  usesLeft,
  asks,
  waits,
  drafts,
}: Pick<Grant, 'usesLeft' | 'asks' | 'waits' | 'drafts'>): string =>
  [
    usesText(usesLeft),
    ...(asks === true ? ['asks first'] : []),
    ...(waits === 'every' ? ['every call waits'] : waits === 'some' ? ['some calls wait'] : []),
    ...(drafts === true ? ['keeps drafts'] : []),
  ].join('; ');

/** The short id that the command `hob` takes: R12, G3 or S1. */
export function shortId(id: string): string {
  const [, kind = '', number] = /^([gq])(\d{3,15})-/.exec(id) ?? [];
  if (number !== undefined) return `${kind === 'q' ? 'R' : 'G'}${Number(number)}`;
  const session = /-[a-z2-7]{4}(\d{1,15})$/.exec(id)?.[1];
  return session === undefined ? id : `S${session}`;
}

/** A time of the wall clock, as the person's language writes it. */
export const dateText = (ms: number): string =>
  new Intl.DateTimeFormat(undefined, { dateStyle: 'short', timeStyle: 'medium' }).format(ms);
