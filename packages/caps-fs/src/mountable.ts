/**
 * Handing a directory to a sandbox: for the program that runs the host, which mounts it there.
 *
 * Promise: only a cap that is exactly "this directory and all beneath it, read-only or not" is handed over: a mount could
 * keep neither `except` nor a quota nor a choice of operations. No message leads here, so no agent can ask; the descriptor
 * is the cap's own and is open until `release()`, for which whoever closes or revokes the cap waits.
 */
import { type Far, isReference, objectOf } from '@hob/vat';
import { outward, refusal } from './base/errors.ts';
import type { FsCap } from './base/fs-cap.ts';
import type { Life } from './root/life.ts';
import type { Place } from './root/place.ts';
import { rightsOf } from './root/terms.ts';

export interface Mountable {
  /** Opened with O_PATH; never to be closed by who mounts, nor inherited by a child as it is. */
  readonly fd: number;
  readonly rights: 'ro' | 'rw';
  readonly kind: 'dir';
  /** What a mount of it must turn out to be. */
  readonly dev: bigint;
  readonly ino: bigint;
  /** Fires when the cap is closed: unmount, then `release()`. */
  readonly ended: AbortSignal;
  release(): void;
}

interface Inside {
  readonly place: Place;
  readonly life: Life;
}

const insides = new WeakMap<object, Inside>();

/** Called once for each cap, when it is made. */
export function admit(cap: FsCap, place: Place, life: Life): void {
  insides.set(cap, { place, life });
}

/**
 * Outside turns. A cap of this process or a reference to one. What was granted is first seen through: `mountable((await
 * reveal(cap)).inner)`, which refuses for all but forwarders that do nothing but end; their end has a signal of its own.
 * Throws `NOT_PERMITTED` (its terms are more than read-only or not), `NOT_FOUND` (it was removed), `CLOSED`, `invalid` (no
 * directory of this process).
 */
export function mountable(cap: FsCap | Far<FsCap>): Mountable {
  const inside = insides.get(isReference(cap) ? (objectOf(cap) ?? cap) : cap);
  if (!inside) throw refusal('invalid', 'no directory of this process');
  const { place, life } = inside;
  const rights = rightsOf(place.terms);
  if (!rights) {
    throw refusal('NOT_PERMITTED', 'a directory with except, a quota or a choice of operations cannot be mounted');
  }
  life.enter();
  try {
    const held = place.directory.hold();
    try {
      const { kernel } = place.root;
      if (kernel.fstat(held.fd).links === 0) throw refusal('NOT_FOUND');
      let mine = true;
      return Object.freeze({
        fd: held.fd,
        rights,
        kind: 'dir',
        ...kernel.identityOf(held.fd),
        ended: life.closing,
        release: (): void => {
          if (!mine) return;
          mine = false;
          held[Symbol.dispose]();
          life.leave();
        },
      });
    } catch (error) {
      held[Symbol.dispose]();
      throw error;
    }
  } catch (error) {
    life.leave();
    throw outward(error);
  }
}
