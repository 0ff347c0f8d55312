/**
 * The directories of a plan, opened.
 *
 * Promise: a directory is looked up once, beneath its root, by the kernel. A root is opened only after `checkRoot` has
 * compared it with the host's own folders. A program sees a directory as it is, so one that hides names is refused.
 */
import { type FsCap, openFsCap } from '@hob/caps-fs';
import type { Directory, Plan, PlannedFs } from '@hob/manifest';
import { Mistake } from '../line/mistake.ts';
import { hiddenName, operationsOf } from './rights.ts';

/** The real path of each root. */
export type RealRoots = Readonly<Record<string, string>>;

/** Opens directories beneath these roots, each root once. */
export class Directories {
  readonly #roots: RealRoots;
  readonly #open = new Map<string, Promise<FsCap>>();

  readonly #made: { close(): Promise<void> }[] = [];

  constructor(roots: RealRoots) {
    this.#roots = roots;
  }

  /** The real path of a root, to tell caps apart. */
  realPath({ root }: Directory): string {
    const path = this.#roots[root];
    if (path === undefined) throw new Mistake(`roots.${root}: this root was not opened: declare it in the manifest`);
    return path;
  }

  /** The whole directory. Errors: `Mistake`. */
  async whole(directory: Directory): Promise<FsCap> {
    const path = this.realPath(directory);
    const root = this.#open.get(path) ?? openFsCap(path);
    this.#open.set(path, root);
    if (directory.path === '') return await root;
    try {
      return await (await root).subdir(directory.path);
    } catch (error) {
      const { code } = error as { readonly code?: string };
      throw new Mistake(`${textOf(directory)}: there is no such folder beneath the root (${code}): make it first`);
    }
  }

  /** Narrows it to the rights of a cap of the manifest. Errors: `Mistake`. */
  async attenuated({ name, directory, can, except }: PlannedFs): Promise<FsCap> {
    let cap = await this.whole(directory);
    const hidden = except.map((pattern) => {
      const found = hiddenName(pattern);
      if (found === undefined)
        throw new Mistake(`${name}.except: "${pattern}" names a path, and this host hides names at any depth: write the name alone, like ".env*"`); // biome-ignore format: one line
      return found;
    });
    if (hidden.length > 0) cap = await cap.except(hidden);
    return await cap.only(operationsOf(can));
  }

  /** The directory as a program of `by` sees it. Errors: `Mistake`. */
  async mounted({ name, directory, can, except }: PlannedFs, by: string): Promise<FsCap> {
    if (except.length > 0)
      throw new Mistake(`${by}: it mounts ${name}, which has except, and a program would see what that hides: mount a cap without except`); // biome-ignore format: one line
    if (!can.includes('read') || !can.includes('list'))
      throw new Mistake(`${by}: it mounts ${name}, which may not be read and listed, and a program could: add read and list to it`); // biome-ignore format: one line
    const whole = await this.whole(directory);
    return isWritable(can) ? whole : await whole.readOnly();
  }

  /** Closes these directories, with everything that was made of them. */
  keep<T extends { close(): Promise<void> }>(made: T): T {
    this.#made.push(made);
    return made;
  }

  /** Closes the server with these directories. */
  async keepServer<T extends { close(): Promise<void> }>(starting: Promise<T>): Promise<T> {
    return this.keep(await starting);
  }

  async close(): Promise<void> {
    await Promise.all(this.#made.splice(0).map((made) => made.close().catch(() => {})));
    await Promise.all([...this.#open.values()].map((root) => root.then((cap) => cap.close()).catch(() => {})));
  }
}

/** A program that may write in a directory may remove there, too: a mount knows no difference. */
export const isWritable = (can: PlannedFs['can']): boolean => can.includes('write');

const textOf = ({ root, path }: Directory): string => (path === '' ? root : `${root}/${path}`);

/** The names of the directory caps that the programs of a plan mount, as caps. */
export function mountsOf(plan: Plan, names: readonly string[]): readonly PlannedFs[] {
  return names.flatMap((name) => {
    const cap = plan.caps[name];
    return cap?.kind === 'fs' ? [cap] : [];
  });
}
