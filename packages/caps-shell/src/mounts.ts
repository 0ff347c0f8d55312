/**
 * Directories in a world: which, where, and until when.
 *
 * Promise: what is mounted is exactly what a held cap is, taken from its descriptor when a job starts; a cap that is more than "this
 * directory, read-only or not" is refused, never widened. When one of the caps ends, or a grant that it was seen through, the jobs
 * that have it mounted are told; whoever ends it waits until they have let go.
 */
import { type FsCap, mountable } from '@hob/caps-fs';
import { reveal } from '@hob/revocable';
import { CapError, type Far, isReference } from '@hob/vat';
import { lyingAt } from './drivers/lying.ts';
import { setIdIn } from './drivers/set-id.ts';
import { takeRecord } from './taking.ts';
import type { Identity, Mount } from './world.ts';

export interface Place {
  readonly at: string;
  readonly cap: FsCap | Far<FsCap>;
  readonly rights: 'ro' | 'rw';
  /**
   * The directory of an outer mount that this one covers, from when it was first seen. A job that would cover another one does not
   * start: the covered directory may hide something, or be the very one that is mounted here with fewer rights. One record for all
   * caps that are made of one shell.
   */
  readonly covered: { is?: Identity | undefined };
}

/** What a job has of its places while it runs. */
export interface MountLease {
  readonly mounts: readonly Mount[];
  /** For people: how each is mounted, and by which grants. */
  readonly told: Readonly<Record<string, string>>;
  /** One of them fires when a place ends. */
  readonly ended: readonly AbortSignal[];
  release(): void;
}

/** Where the world has things of its own. */
const OURS = ['/bin', '/dev', '/etc', '/lib', '/lib32', '/lib64', '/libx32', '/opt/hob', '/proc', '/sbin', '/sys', '/tmp', '/usr']; // biome-ignore format: one line
const MOST = 32;

/** Outside turns. Errors: `E_MOUNT_CONFLICT`, and those of `hold`. */
export async function takePlaces(given: unknown): Promise<readonly Place[]> {
  const wanted = await Promise.all(
    Object.entries(takeRecord(given, 'mounts')).map(async ([at, cap]) => ({
      at: takeAt(at),
      // What a session answers for a petname is a promise.
      cap: (await cap) as FsCap | Far<FsCap>,
      rights: 'rw' as const,
      covered: {},
    })),
  );
  if (wanted.length > MOST) throw new CapError('invalid', `a world has at most ${MOST} mounts`);
  const seen = new Set<string>();
  for (const { at } of wanted) {
    const ours = OURS.find((one) => within(at, one) || within(one, at));
    if (ours !== undefined)
      throw new CapError('E_MOUNT_CONFLICT', `${at}: ${ours} is the world's own: mount it elsewhere`);
    if (seen.has(at)) throw new CapError('E_MOUNT_CONFLICT', `${at}: two mounts at one place`);
    seen.add(at);
  }
  // Now, so that a cap that cannot be mounted is refused here and not in the middle of some work.
  const held = await hold(wanted);
  try {
    for (const { fd, at, writable } of held.mounts) {
      const found = writable ? await setIdIn(fd) : undefined;
      if (found !== undefined)
        throw new CapError(
          'E_NOT_MOUNTABLE',
          `${at}${found} runs as its owner or group (set-id), and a job could rewrite it: chmod a-s it, or grant the directory for reading`,
        );
    }
  } finally {
    held.release();
  }
  return Object.freeze(
    wanted.map((place, n) =>
      Object.freeze({ ...place, rights: held.mounts[n]?.writable === true ? ('rw' as const) : ('ro' as const) }),
    ),
  );
}

/** Whether `path` is `folder` or in it. */
export const within = (path: string, folder: string): boolean =>
  folder === '/' || path === folder || path.startsWith(`${folder}/`);

/** An absolute path inside, without `.`, `..`, and doubled slashes. */
export function takeAt(given: unknown): string {
  const ok =
    typeof given === 'string' &&
    given.length <= 1024 &&
    /^(?:\/[^/\0]{1,255})+\/?$/.test(given) &&
    !given.split('/').some((part) => part === '.' || part === '..');
  if (!ok) throw new CapError('invalid', 'a place in a world is an absolute path like /work, without . and ..');
  return given.replace(/\/$/, '');
}

/** Outside turns. In the order of `places`. Errors: `E_NOT_MOUNTABLE`, `E_MOUNT_STALE`, `revoked`, `expired`. */
export async function hold(places: readonly Place[]): Promise<MountLease> {
  const ends: (() => void)[] = [];
  const release = (): void => {
    for (const end of ends.splice(0).reverse()) end();
  };
  try {
    const mounts: Mount[] = [];
    const signals: AbortSignal[] = [];
    const told: Record<string, string> = {};
    for (const { at, cap, rights } of places) {
      let inner: FsCap | Far<FsCap> = cap;
      let grants: readonly string[] = [];
      if (isReference(cap)) {
        const seen = await reveal(cap as Far<FsCap>);
        ends.push(() => seen.done());
        signals.push(seen.ended);
        ({ inner, grants } = seen);
      }
      const { fd, dev, ino, rights: most, ended, release: letGo } = mountable(inner);
      ends.push(letGo);
      signals.push(ended);
      const writable = most === 'rw' && rights === 'rw';
      mounts.push({ fd, dev, ino, at, writable, system: false });
      told[at] = [writable ? 'rw' : 'ro', ...grants].join(' ');
    }
    for (const [n, { at, covered }] of places.entries()) {
      const outer = outerOf(at, mounts);
      if (outer === undefined) continue;
      covered.is ??= lyingAt(outer.fd, at.slice(outer.at.length + 1).split('/'));
      mounts[n] = { ...(mounts[n] as Mount), covers: covered.is };
    }
    return { mounts, told, ended: signals, release };
  } catch (error) {
    release();
    throw refused(error);
  }
}

/** The innermost mount in which the place `at` lies. */
function outerOf(at: string, mounts: readonly Mount[]): Mount | undefined {
  const outer = mounts.filter((mount) => mount.at !== at && within(at, mount.at));
  return outer.sort((a, b) => b.at.length - a.at.length)[0];
}

/** What the packages below say, as a mount's. */
function refused(error: unknown): unknown {
  if (!(error instanceof CapError)) return error;
  switch (error.code) {
    case 'denied':
    case 'NOT_PERMITTED':
    case 'invalid':
      return new CapError(
        'E_NOT_MOUNTABLE',
        'only a directory of this host that is read-only or not can be mounted: no except, quota or choice of operations, and granted by what only ends',
      );
    case 'NOT_FOUND':
      return new CapError('E_MOUNT_STALE', 'what was granted is no longer there: grant it again');
    default:
      return asEnd(error);
  }
}

/** A directory that was closed says `CLOSED`. For who holds the shell that is the end of a grant like any other. */
export const asEnd = (error: unknown): unknown =>
  error instanceof CapError && error.code === 'CLOSED'
    ? new CapError('revoked', 'a directory of this world was closed: ask for the shell again')
    : error;
