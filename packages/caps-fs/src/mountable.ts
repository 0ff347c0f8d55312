/**
 * Hands a directory to a sandbox, for the program that runs the host and mounts it there.
 *
 * Promise: only a cap for exactly "this directory and everything beneath it, read-only or not" is handed
 * over. A mount cannot enforce `except`, a quota or a choice of operations. No message reaches this function,
 * so no agent can ask for it. The descriptor belongs to the cap and stays open until `release()`. Closing or
 * revoking the cap waits for that.
 */
import { type Far, isReference } from '@hob/vat';
import { objectOf } from '@hob/vat/forwarder';
import { outward, refusal } from './base/errors.ts';
import type { FsCap } from './base/fs-cap.ts';
import type { HeldDirectory } from './root/held-directory.ts';
import type { Life } from './root/life.ts';
import { rightsOf } from './root/terms.ts';

/**
 * An open directory for the program that mounts it into a sandbox. Hold it no longer than the mount lasts,
 * then call `release()`.
 */
export interface Mountable {
  /** Opened with O_PATH. The caller must not close it, and must not pass it to a child process as it is. */
  readonly fd: number;
  readonly rights: 'ro' | 'rw';
  readonly kind: 'dir';
  /** After mounting, the caller checks that the mount has this device and inode. */
  readonly dev: bigint;
  readonly ino: bigint;
  /** Fires when the cap is closed. The caller then unmounts and calls `release()`. */
  readonly ended: AbortSignal;
  release(): void;
}

interface Inside {
  readonly held: HeldDirectory;
  readonly life: Life;
}

const insides = new WeakMap<object, Inside>();

/** Records what `mountable` needs to know of a cap. Called once for each cap, when it is made. */
export function admit(cap: FsCap, held: HeldDirectory, life: Life): void {
  insides.set(cap, { held, life });
}

/**
 * Call it outside turns, with a cap of this process or a reference to one. For a granted cap, call
 * `mountable((await reveal(cap)).inner)`. `reveal` refuses every forwarder that does more than end; its end
 * has a signal of its own.
 *
 * Throws `NOT_PERMITTED` (a mount cannot enforce its terms), `NOT_FOUND` (the directory was removed),
 * `CLOSED`, or `invalid` (not a directory of this process).
 */
export function mountable(cap: FsCap | Far<FsCap>): Mountable {
  const inside = insides.get(isReference(cap) ? (objectOf(cap) ?? cap) : cap);
  if (!inside) throw refusal('invalid', 'this is not a directory of this process');
  const { held, life } = inside;
  const rights = rightsOf(held.terms);
  if (!rights) {
    throw refusal('NOT_PERMITTED', 'a directory with except, a quota or a choice of operations cannot be mounted');
  }
  life.enter();
  try {
    const descriptor = held.directory.hold();
    try {
      const { kernel } = held.root;
      if (kernel.fstat(descriptor.fd).links === 0) throw refusal('NOT_FOUND');
      let mine = true;
      return Object.freeze({
        fd: descriptor.fd,
        rights,
        kind: 'dir',
        ...kernel.identityOf(descriptor.fd),
        ended: life.closing,
        release: (): void => {
          if (!mine) return;
          mine = false;
          descriptor[Symbol.dispose]();
          life.leave();
        },
      });
    } catch (error) {
      descriptor[Symbol.dispose]();
      throw error;
    }
  } catch (error) {
    life.leave();
    throw outward(error);
  }
}
