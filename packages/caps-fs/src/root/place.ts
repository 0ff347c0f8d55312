/**
 * A directory that is held open, with its terms. Every operation works in one.
 */
import type { Handle } from '../base/handle.ts';
import type { Kernel, Status } from '../base/kernel.ts';
import type { AdmissionQueue, Limits, Slots } from './limits.ts';
import type { WriteOrder } from './order.ts';
import type { Terms } from './terms.ts';

/** The state that all caps made from one `openFsCap` share. It contains no path of the host. */
export interface Root {
  readonly kernel: Kernel;
  /** The mount of the root. Nothing of another mount is visible beneath the root. */
  readonly mount: number;
  /**
   * The file system lives in memory. That holds for everything beneath the root, because other mounts are
   * outside.
   */
  readonly inMemory: boolean;
  readonly limits: Limits;
  readonly subdirs: Slots;
  readonly streams: Slots;
  readonly admission: AdmissionQueue;
  readonly order: WriteOrder;
}

export interface Place {
  readonly root: Root;
  readonly directory: Handle;
  readonly terms: Terms;
}

/** An opaque text that changes whenever the object or its content changes. */
export function versionOf(kernel: Kernel, status: Status): string {
  return kernel.seal(status.stamp);
}

/**
 * Identifies the object, whatever its content. Compare it only while a descriptor holds the object: the file
 * system reuses the inode numbers of removed objects.
 */
export function inodeOf({ stamp }: Status): string {
  return stamp.split(':', 2).join();
}
