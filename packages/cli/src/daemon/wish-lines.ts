/** A wish list as lines for a person, and as JSON. */
import type { WishRow } from './daemon.ts';

/** The shape of a wish list with `--json`, for help. */
export const WISH_JSON =
  '{ name: string, hash?: string, state: "waits" | "accepted" | "mistaken",\n  asks: { cap: string, does: string, when: string, weakest: string }[], mistakes: string[] }';

const STATES: Readonly<Record<WishRow['state'], string>> = {
  waits: 'not accepted: it adds nothing',
  accepted: 'accepted: sessions that start now may ask for',
  mistaken: 'not used, because it has mistakes',
};

/** All that a granter reads before they accept it. */
export const wishLines = ({ name, hash, state, asks, mistakes }: WishRow): readonly string[] => [
  `${name}   ${STATES[state]}`,
  ...(hash === undefined ? [] : [`  sha256 ${hash}`]),
  ...asks.flatMap(({ cap, does, when, weakest }) => [
    `  ${cap} ${does}`,
    `    when: ${when}`,
    `    only as strong as: ${weakest}`,
  ]),
  ...mistakes.map((mistake) => `  ${mistake}`),
];
