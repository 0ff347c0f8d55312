/**
 * A directory that is held open, with the terms it came with: what every operation works in.
 */
import type { Handle } from '../base/handle.ts';
import type { Kernel, Status } from '../base/kernel.ts';
import type { AdmissionQueue, Limits, Slots } from './limits.ts';
import type { WriteOrder } from './order.ts';
import type { Terms } from './terms.ts';

/** What all caps made from one `openFsCap` share. No path of the host is in it. */
export interface Root {
  readonly kernel: Kernel;
  /** Beneath the root nothing of another mount is visible. */
  readonly mount: number;
  /** There is no disk beneath it. Beneath the root everything is on its file system, else on another mount. */
  readonly inMemory: boolean;
  readonly limits: Limits;
  readonly subdirs: Slots;
  readonly streams: Slots;
  readonly turnstile: AdmissionQueue;
  readonly order: WriteOrder;
}

export interface Place {
  readonly root: Root;
  readonly directory: Handle;
  readonly terms: Terms;
}

/** Opaque, and another one when the object or its content changed. */
export function versionOf(kernel: Kernel, status: Status): string {
  return kernel.seal(status.stamp);
}

/** Which object it is, whatever became of it. Only while it is held, or for a moment: numbers are given out again. */
export function inodeOf({ stamp }: Status): string {
  return stamp.split(':', 2).join();
}
