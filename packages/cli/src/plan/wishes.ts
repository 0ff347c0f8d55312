/**
 * Wish lists of the folders that a session holds: `hob.yaml` at the top of a root.
 *
 * The agent can write there. So the file only fills `ask`, and only while a granter accepts exactly its bytes. Promise:
 * the bytes that are hashed are those that are parsed; a file is read once, beneath its root, by the kernel's own
 * resolution. A list that is unreadable, mistaken or not accepted adds nothing and stops nobody.
 */
import type { FsCap } from '@hob/caps-fs';
import type { Acceptance } from '@hob/host';
import { lineOf, type Plan, type PlannedCap, wish } from '@hob/manifest';
import type { Directories } from './directories.ts';

/** The name of a wish list in its root. */
const WISH_FILE = 'hob.yaml';

/** More than a manifest may have, so that the reader of manifests says so. */
const MOST_BYTES = 256 * 1024 + 1;

/** The name and the SHA-256 of an accepted text. */
export type Text = Pick<Acceptance, 'name' | 'hash'>;

/** One wish list, as it is now. */
interface WishList {
  /** `ROOT/hob.yaml`. */
  readonly name: string;
  /** SHA-256 of its bytes. Undefined if it cannot be read. */
  readonly hash?: string;
  /** `waits`: a granter has not accepted this text. `mistaken`: it adds nothing, and `mistakes` says why. */
  readonly state: 'waits' | 'accepted' | 'mistaken';
  readonly asks: readonly PlannedCap[];
  /** The plan with its wishes, whether or not they are accepted. */
  readonly whole: Plan;
  readonly mistakes: readonly string[];
}

/** A plan with everything that accepted wish lists add, and for each added cap the text that it is from. */
export interface WishedPlan {
  readonly plan: Plan;
  readonly from: Readonly<Record<string, Text>>;
  readonly lists: readonly WishList[];
}

/** The powers that reading wish lists needs. */
export interface WishReader {
  readonly directories: Directories;
  /** SHA-256 as hexadecimal digits. */
  readonly hash: (bytes: Uint8Array) => string;
  /** In ms since 1970. */
  readonly now: () => number;
}

/** The name of the wish list of a root. */
export const wishName = (root: string): string => `${root}/${WISH_FILE}`;

/** The bytes of a wish list; undefined if there is none. Errors: those of a directory. */
export async function readWish(directories: Directories, root: string): Promise<Uint8Array | undefined> {
  const cap: FsCap = await directories.whole({ root, path: '' });
  try {
    return await cap.read(WISH_FILE, { offset: 0, length: MOST_BYTES });
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

/** Reads the wish lists of all roots over a plan. `accepted` are the texts that the granter accepts. */
export async function wishedPlan(
  plan: Plan,
  accepted: readonly Text[],
  { directories, hash, now }: WishReader,
): Promise<WishedPlan> {
  const lists: WishList[] = [];
  const from: Record<string, Text> = {};
  let whole = plan;
  for (const root of Object.keys(plan.roots).sort()) {
    // A folder that is made for one session has no file yet.
    if (plan.roots[root] === undefined) continue;
    const name = wishName(root);
    const bytes = await readWish(directories, root).catch((error: unknown) => codeOf(error));
    if (bytes === undefined) continue;
    const text = typeof bytes === 'string' ? undefined : textOf(bytes);
    if (typeof bytes === 'string' || text === undefined) {
      const why = typeof bytes === 'string' ? `it cannot be read (${bytes})` : 'it is no text in UTF-8';
      lists.push({ name, state: 'mistaken', asks: [], whole, mistakes: [`${name}: ${why}`] });
      continue;
    }
    const [at, digest] = [now(), hash(bytes)];
    const hashes = accepted.filter((one) => one.name === name).map((one) => one.hash);
    const seen = wish(whole, { file: name, text }, { now: at, accepted: hashes, sha256: () => digest });
    const isMistaken = seen.mistakes.some(({ severity }) => severity === 'error');
    const shown = seen.isAccepted || isMistaken ? seen : wish(whole, { file: name, text }, { now: at, accepted: [digest], sha256: () => digest }); // biome-ignore format: one line
    lists.push({
      name,
      hash: digest,
      state: isMistaken ? 'mistaken' : seen.isAccepted ? 'accepted' : 'waits',
      asks: seen.asks,
      whole: shown.plan,
      mistakes: seen.mistakes.map(lineOf),
    });
    if (!seen.isAccepted) continue;
    for (const ask of seen.asks) from[ask.name] = { name, hash: digest };
    whole = seen.plan;
  }
  return { plan: whole, from, lists };
}

function textOf(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const codeOf = (error: unknown): string => (error as { readonly code?: string }).code ?? 'unknown';
