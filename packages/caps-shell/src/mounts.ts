/**
 * The directories of a world: which ones, where, and until when.
 *
 * A mount is exactly the directory of its cap, taken from the cap's descriptor when a job starts. A cap that
 * is more restricted than "read-only or not" is refused, never widened. When one of the caps ends, or a grant
 * that it was seen through, the jobs that have it mounted end; whoever ends it waits for them.
 */
import { type FsCap, mountable } from '@hob/caps-fs';
import { reveal } from '@hob/revocable';
import { CapError, type Far, isReference } from '@hob/vat';
import { type Effects, effectsOf, objectOf, type Place, placeOf } from '@hob/vat/forwarder';
import { takeMap } from './arguments.ts';
import { directoryAt } from './drivers/directory-at.ts';
import { setIdIn } from './drivers/set-id.ts';
import type { Identity, Mount } from './sandbox-spec.ts';

export interface MountPoint {
  readonly at: string;
  readonly cap: FsCap | Far<FsCap>;
  readonly rights: 'ro' | 'rw';
  /**
   * The directory of an outer mount that this one covers, as it was first seen. A job that would cover
   * another one does not start: the covered directory may be hidden on purpose, or may be the one that is
   * mounted here with fewer rights. All caps attenuated from one shell share this record.
   */
  readonly covered: { is?: Identity | undefined };
}

/** The mounts of a job while it runs. */
export interface MountLease {
  readonly mounts: readonly Mount[];
  /** For the ledger: the rights and the grants of each mount. */
  readonly told: Readonly<Record<string, string>>;
  /** One of them aborts when a mount ends. */
  readonly ended: readonly AbortSignal[];
  release(): void;
}

/** Paths that every world uses itself. */
export const RESERVED: readonly string[] = ['/bin', '/dev', '/etc', '/lib', '/lib32', '/lib64', '/libx32', '/opt/hob', '/proc', '/sbin', '/sys', '/tmp', '/usr']; // biome-ignore format: one line
const MOST = 32;

/**
 * Checks the mounts of a new shell. Outside turns. Errors: `E_MOUNT_CONFLICT`, and those of `leaseMounts`.
 */
export async function takeMounts(given: unknown): Promise<readonly MountPoint[]> {
  const wanted = await Promise.all(
    Object.entries(takeMap(given, 'mounts')).map(async ([at, cap]) => ({
      at: takeAt(at),
      // A session returns a promise for a petname.
      cap: (await cap) as FsCap | Far<FsCap>,
      rights: 'rw' as const,
      covered: {},
    })),
  );
  if (wanted.length > MOST) throw new CapError('invalid', `a shell has at most ${MOST} mounts`);
  const seen = new Set<string>();
  for (const { at } of wanted) {
    const ours = RESERVED.find((one) => isWithin(at, one) || isWithin(one, at));
    if (ours !== undefined)
      throw new CapError('E_MOUNT_CONFLICT', `${at}: the sandbox uses ${ours} itself: mount it elsewhere`);
    if (seen.has(at))
      throw new CapError('E_MOUNT_CONFLICT', `${at}: two mounts at one path: mount one of them elsewhere`);
    seen.add(at);
  }
  // Lease them once now, so that a cap that cannot be mounted is refused here and not by a later job.
  const held = await leaseMounts(wanted);
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

/** For the granter: the directories behind the mounts. One that another grant leads to has no name here. */
export const placesIn = (places: readonly MountPoint[]): Readonly<Record<string, Place>> =>
  Object.fromEntries(
    places.map(({ at, cap, rights }) => {
      const place = placeOf(isReference(cap) ? (objectOf(cap) ?? cap) : cap) ?? { kind: 'directory' as const };
      return [at, rights === 'ro' ? { ...place, readOnly: true as const } : place];
    }),
  );

/** The effects that directories mounted for writing declare for their methods. */
export const writtenEffects = (places: readonly MountPoint[]): readonly (Effects | undefined)[] =>
  places
    .filter(({ rights }) => rights === 'rw')
    .map(({ cap }) => effectsOf(isReference(cap) ? (objectOf(cap) ?? cap) : cap));

/** Whether `path` is `folder` or in it. */
export const isWithin = (path: string, folder: string): boolean =>
  folder === '/' || path === folder || path.startsWith(`${folder}/`);

/** Checks an absolute path inside. Refuses `.`, `..` and doubled slashes. */
export function takeAt(given: unknown): string {
  const ok =
    typeof given === 'string' &&
    given.length <= 1024 &&
    /^(?:\/[^/\0]{1,255})+\/?$/.test(given) &&
    !given.split('/').some((part) => part === '.' || part === '..');
  if (!ok) throw new CapError('invalid', 'a mount point is an absolute path like /work, without . and ..');
  return given.replace(/\/$/, '');
}

/**
 * Returns mounts in the order of `places`. Outside turns. Errors: `E_NOT_MOUNTABLE`, `E_MOUNT_STALE`,
 * `revoked`, `expired`.
 */
export async function leaseMounts(places: readonly MountPoint[]): Promise<MountLease> {
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
      covered.is ??= directoryAt(outer.fd, at.slice(outer.at.length + 1).split('/'));
      mounts[n] = { ...(mounts[n] as Mount), covers: covered.is };
    }
    return { mounts, told, ended: signals, release };
  } catch (error) {
    release();
    throw refused(error);
  }
}

/** Returns the innermost mount that contains `at`. */
function outerOf(at: string, mounts: readonly Mount[]): Mount | undefined {
  const outer = mounts.filter((mount) => mount.at !== at && isWithin(at, mount.at));
  return outer.sort((a, b) => b.at.length - a.at.length)[0];
}

/** Turns an error of the packages below into one of a mount. */
function refused(error: unknown): unknown {
  if (!(error instanceof CapError)) return error;
  switch (error.code) {
    case 'denied':
    case 'NOT_PERMITTED':
    case 'invalid':
      return new CapError(
        'E_NOT_MOUNTABLE',
        'only a directory of this host can be mounted, read-only or not: without except, quota or a choice of operations, and under grants that only end',
      );
    case 'NOT_FOUND':
      return new CapError('E_MOUNT_STALE', 'the granted directory is no longer there: grant it again');
    default:
      return asRevoked(error);
  }
}

/** A closed directory throws `CLOSED`. For the holder of a shell that is the end of a grant. */
export const asRevoked = (error: unknown): unknown =>
  error instanceof CapError && error.code === 'CLOSED'
    ? new CapError('revoked', 'a directory of this shell was closed: ask for a new shell')
    : error;
