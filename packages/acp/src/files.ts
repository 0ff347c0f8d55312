/**
 * `fs/*` of an editor, served by the directories that the session holds.
 *
 * A path only names a file: it leads to a cap and a path in it, and the cap decides. What no cap has is not found,
 * and so is what a cap does not reach.
 */
import { CapError, E, type Far } from '@hob/vat/peer';
import type { Directory, Held, Reach } from './held.ts';
import { countIn, type Fields, notFound, Refusal, textIn, wrongParams } from './peer.ts';

/** Where a path of an agent leads. */
export interface Place {
  readonly cap: string;
  readonly path: string;
}

/** The most lines of one read. */
const MOST_LINES = 1_000_000;

/** These say that there is nothing here for this session, whatever lies there. */
const ABSENT: ReadonlySet<string> = new Set([
  ...['NOT_FOUND', 'no-such-object', 'NOT_PERMITTED', 'PATH_ESCAPES', 'PATH_ABSOLUTE', 'PATH_INVALID'],
  ...['RESOLVED_OUTSIDE', 'NOT_A_DIRECTORY'],
]);

/** The names of directories, as an agent may write them. */
export interface Names {
  /** The absolute path of the directory that the agent was told to work in. */
  readonly root: string;
  /** The absolute paths of directories on this machine, by petname. */
  readonly places: Readonly<Record<string, string>>;
}

/** The files of one session. */
export class Files {
  readonly #reach: Reach;
  readonly #names: Names;

  constructor(reach: Reach, names: Names) {
    this.#reach = reach;
    this.#names = names;
  }

  /** `fs/read_text_file` */
  async read(params: Fields): Promise<object> {
    const [line, lines] = [countIn(params, 'line'), countIn(params, 'limit')];
    const { cap, path } = await this.#at(textIn(params, 'path'), 'readText');
    if (lines === 0) return { content: '' };
    const window = { ...(line ? { line } : {}), lines: Math.min(lines ?? MOST_LINES, MOST_LINES) };
    return { content: await told(E(cap).readText(path, line || lines ? window : {})) };
  }

  /** `fs/write_text_file` */
  async write(params: Fields): Promise<object> {
    const text = textIn(params, 'content');
    const { cap, path } = await this.#at(textIn(params, 'path'), 'write');
    await told(E(cap).write(path, text));
    return {};
  }

  async #at(path: string, method: string): Promise<{ readonly cap: Far<Directory>; readonly path: string }> {
    const session = await told(this.#reach());
    const held = (await told(E(session).holdings())) as readonly Held[];
    const place = placeOf(path, this.#names, withMethod(held, method));
    if (place === undefined) throw notFound('this session holds no directory with that path');
    return { cap: E(session).cap(place.cap) as unknown as Far<Directory>, path: place.path };
  }
}

/** The petnames of the live caps with a method. */
export const withMethod = (held: readonly Held[], method: string): readonly string[] =>
  held
    .filter(({ state, methods }) => state === 'live' && methods?.includes(method) === true)
    .map(({ petname }) => petname);

/**
 * The cap and the path in it that an absolute path names: below the place of a held directory, a path in that
 * one. Else, below `root`, the first name is a petname, or the path is in the only directory that is held.
 * `/PETNAME/…` is the same.
 */
export function placeOf(path: string, { root, places }: Names, directories: readonly string[]): Place | undefined {
  if (!path.startsWith('/')) throw wrongParams('path is absolute');
  const [place] = directories
    .filter((name) => Object.hasOwn(places, name) && isWithin(path, places[name] as string))
    .sort((a, b) => (places[b] as string).length - (places[a] as string).length);
  if (place !== undefined) return { cap: place, path: path.slice((places[place] as string).length + 1) || '.' };
  const below = root === '/' ? '' : root;
  const inRoot = path === root || path.startsWith(`${below}/`);
  const [first = '', ...rest] = (inRoot ? path.slice(below.length) : path).split('/').filter((name) => name !== '');
  if (directories.includes(first)) return { cap: first, path: rest.join('/') || '.' };
  const [only, ...others] = directories;
  if (!inRoot || only === undefined || others.length > 0) return undefined;
  return { cap: only, path: [first, ...rest].join('/') || '.' };
}

const isWithin = (path: string, place: string): boolean => path === place || path.startsWith(`${place}/`);

/** Errors: `Refusal`. */
export async function told<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof CapError)) throw new Refusal(-32603, 'Internal error');
    if (ABSENT.has(error.code)) throw notFound(error.code);
    throw new Refusal(-32000, `${error.code}: ${error.message}`, { code: error.code });
  }
}
