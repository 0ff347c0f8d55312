/**
 * The directories of a session as a program in a box sees them.
 *
 * Promise: they are directories that the session holds, under grants that only end, and the box ends with any of these
 * grants. A directory whose calls are counted or wait for a person is left out, because a mount could do neither.
 */
import type { FsCap } from '@hob/caps-fs';
import type { Session } from '@hob/host';
import type { Plan } from '@hob/manifest';
import { reveal } from '@hob/revocable';
import { Mistake } from '../line/mistake.ts';
import { type Directories, isWritable } from './directories.ts';
import { mountPoint } from './mount-point.ts';
import { petnameOf } from './names.ts';

/** The directories of a box, until `done` is called. */
export interface HeldDirectories {
  readonly mounts: Readonly<Record<string, FsCap>>;
  /** By the place in the box: whether it can be written there. */
  readonly rights: Readonly<Record<string, 'ro' | 'rw'>>;
  /** The directories of the session that are not in the box, each with the reason. */
  readonly left: readonly string[];
  /** One of them aborts when a grant ends. Whoever ended it waits for `done`. */
  readonly ends: readonly AbortSignal[];
  done(): void;
}

/** Errors: those of a host. */
export async function heldDirectories(
  plan: Plan,
  session: Session,
  directories: Directories,
): Promise<HeldDirectories> {
  const mounts: Record<string, FsCap> = {};
  const rights: Record<string, 'ro' | 'rw'> = {};
  const left: string[] = [];
  const ends: AbortSignal[] = [];
  const dones: (() => void)[] = [];
  const caps = Object.values(plan.caps)
    .filter((cap) => cap.kind === 'fs')
    .filter(({ how }) => how === 'mint');
  // A directory that two caps name is mounted once, writable if one of them is.
  for (const cap of caps.sort((a, b) => Number(isWritable(a.can)) - Number(isWritable(b.can))))
    try {
      const mounted = await directories.mounted(cap, 'the box');
      const { ended, done } = await reveal(await session.cap(petnameOf(cap.name)));
      ends.push(ended);
      dones.push(done);
      const at = mountPoint(cap.directory);
      mounts[at] = mounted;
      rights[at] = isWritable(cap.can) ? 'rw' : 'ro';
    } catch (error) {
      left.push(`${cap.name} is not in the box: ${whyNot(error)}`);
    }
  const done = (): void => {
    for (const each of dones) each();
  };
  return { mounts, rights, left, ends, done };
}

function whyNot(error: unknown): string {
  if (error instanceof Mistake) return error.message;
  const { code } = error as { readonly code?: unknown };
  if (code === 'denied') return 'its calls are counted, or wait for a person, and a mount can do neither';
  if (code === 'no-such-object' || code === 'revoked') return 'the session does not hold it';
  throw error;
}
