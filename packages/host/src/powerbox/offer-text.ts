/**
 * How an offer is called where a person reads it: on a request, and in the list of grants.
 *
 * Promise: a person reads which directory, program or address an offer is. The label is the host program's. The
 * place is of the host itself, so only granters see it: never a session, and never a judge, whose words reach
 * the agent. Both stand between our quotes, with every odd character by its number.
 */
import { CapError } from '@hob/vat';
import type { Place } from '@hob/vat/forwarder';
import type { OfferInfo } from '../state/records.ts';
import { quoted } from '../text/safe-text.ts';
import type { Rows } from './display.ts';

const longestLabel = 100;
const longestPlaceName = 400;
const mostMounts = 8;

/** Errors: `invalid`. */
export function checkLabel(label: unknown): void {
  if (label !== undefined && (typeof label !== 'string' || label.trim() === '' || label.length > longestLabel))
    throw new CapError('invalid', `the label of an offer is a text of 1 to ${longestLabel} characters`);
}

/** The name of the offer for people: its label, or else its name. */
export const offerText = (offer: string, info: Pick<OfferInfo, 'label'> | undefined): string =>
  quoted(info?.label ?? offer, longestLabel);

/** The rows of a request that say what it is about. `offered as` is there for a label, which need not be unique. */
export function offerRows(offer: string, info: Pick<OfferInfo, 'label'> | undefined): Rows {
  const what = ['what', offerText(offer, info)] as const;
  return info?.label === undefined ? [what] : [what, ['offered as', `“${offer}”`]];
}

const aboutOffer: ReadonlySet<string> = new Set(['what', 'offered as', 'where']);

/** The rows of a request with a row for its place, after the first one. */
export const withWhere = ([what, ...rest]: Rows, place: string): Rows =>
  what === undefined ? [['where', place]] : [what, ['where', place], ...rest];

/** The rows of a request for a cap that are about its terms. */
export const termRowsOf = (rows: Rows): Rows => rows.filter(([name]) => !aboutOffer.has(name));

/** A place as one line, such as `the directory “/srv/notes”, to read only`. */
export function placeText({ kind, name, readOnly, mounts = {} }: Place): string {
  const what = name === undefined ? `a ${kind}` : `the ${kind} ${quoted(name, longestPlaceName)}`;
  const entries = Object.entries(mounts);
  const shown = entries.slice(0, mostMounts).map(([at, place]) => `${quoted(at, 100)} is ${placeText(place)}`);
  if (entries.length > mostMounts) shown.push(`${entries.length - mostMounts} more mounts`);
  const within = shown.length === 0 ? '' : `, in which ${shown.join('; ')}`;
  return `${what}${readOnly === true ? ', to read only' : ''}${within}`;
}
