/**
 * The change of a manifest that `hob suggest` prints, and that the page of the console shows.
 *
 * Promise: nothing is written. The ledger is about the manifest that the host serves. If the file was changed since the
 * host read it, there is no suggestion.
 */
import { unifiedDiff } from '@hob/caps-fs';
import type { Granter, SuggestedChange } from '@hob/host';
import { linesOf } from '@hob/host/client';
import { check, lineOf } from '@hob/manifest';
import type { Far } from '@hob/vat';
import { readLayers, surroundings, textOfFile } from '../../drivers/layers.ts';
import { Mistake } from '../../line/mistake.ts';
import type { Served } from '../daemon.ts';
import type { LedgerLine } from '../ledger-line.ts';
import { type Suggestions, suggestions } from '../suggestions.ts';

interface From {
  readonly lines: readonly LedgerLine[];
  /** What the host serves. Undefined if no host serves it. */
  readonly served: Served | undefined;
  readonly manifest: string;
  /** How often a cap was granted. */
  readonly from: number;
}

/** Errors: `Mistake`. */
export function suggestedFor({ lines, served, manifest, from }: From): {
  readonly file: string;
  readonly found: Suggestions;
  readonly diff: string;
} {
  const changed = served?.files.find((one) => textOfFile(one.file) !== one.text);
  if (changed !== undefined)
    throw new Mistake(`${changed.file} is not what the host serves: the ledger is about what it said then. End the host, serve it anew, and ask again later`); // biome-ignore format: one line
  const { given, lost } = readLayers(manifest, []);
  const { plan, mistakes } = lost.length > 0 ? { plan: undefined, mistakes: lost } : check(given, surroundings());
  const [{ file, text } = { file: '', text: '' }] = given;
  if (plan === undefined) throw new Mistake(`the manifest has mistakes:\n${mistakes.map(lineOf).join('\n')}`);
  if (served !== undefined && !served.files.some((one) => one.text === text))
    throw new Mistake(`${file} is not what the host serves: leave --manifest out`);
  const found = suggestions({ around: surroundings(), file, text, plan }, { lines, offers: served?.offers, from });
  return { file, found, diff: unifiedDiff(text, found.text, file) };
}

/** The default of `--from` of `hob suggest`. */
const OFTEN = 5;
/** A longer change would not fit into a frame. In characters. */
const LONGEST = 100_000;

interface Serving {
  /** The granter `owner`. The manifest is theirs, so no other granter gets a suggestion. */
  readonly owner: Far<Granter> | undefined;
  readonly manifest: string;
  readonly served: () => Promise<Served>;
}

/** Returns what a served host proposes to one of its granters. Undefined for every other granter than `owner`. */
export async function suggestedTo(
  granter: string,
  { owner, manifest, served }: Serving,
): Promise<SuggestedChange | undefined> {
  if (granter !== 'owner' || owner === undefined) return undefined;
  const lines: LedgerLine[] = [];
  for await (const text of linesOf(owner)) lines.push(JSON.parse(text) as LedgerLine);
  try {
    const { found, diff } = suggestedFor({ lines, served: await served(), manifest, from: OFTEN });
    const notes = found.left.map(({ cap, why }) => `${cap}: ${why}`);
    if (diff.length > LONGEST) return { diff: '', notes: [...notes, 'the change is too long for a page: hob suggest prints it'] }; // biome-ignore format: one line
    return { diff, notes };
  } catch (error) {
    if (error instanceof Mistake) return { diff: '', notes: [error.message] };
    throw error;
  }
}
