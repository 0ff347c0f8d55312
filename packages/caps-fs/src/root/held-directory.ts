/**
 * A directory that is held open, with its terms. Every operation works in one.
 */
import type { Handle } from '../base/handle.ts';
import type { Kernel, Status } from '../base/kernel.ts';
import type { Admission } from './admission.ts';
import type { Holder } from './holder.ts';
import type { FsLimits, Slots } from './limits.ts';
import type { Listings } from './listings.ts';
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
  readonly limits: FsLimits;
  readonly subdirs: Slots;
  readonly streams: Slots;
  readonly admission: Admission;
  readonly order: WriteOrder;
  /** Makes the text of a version. */
  readonly seal: (text: string) => string;
  /** Names of directories that a holder is paging through. */
  readonly listings: Listings;
}

export interface HeldDirectory {
  readonly root: Root;
  readonly directory: Handle;
  readonly terms: Terms;
  /** Its operations use the share of this holder. */
  readonly holder: Holder;
  /** The grants that the cap was made under, as one text. `''`: the program that opened the root made it. */
  readonly maker: string;
}

/**
 * An opaque text that changes whenever the object or its content changes. It is the same in every process
 * with the same key. The device is left out, because its number may change when the machine starts again.
 */
export function versionOf({ seal }: Root, { stamp }: Status): string {
  return seal(stamp.slice(stamp.indexOf(':') + 1));
}

/**
 * Identifies the object, whatever its content. Compare it only while a descriptor holds the object: the file
 * system reuses the inode numbers of removed objects.
 */
export function inodeOf({ stamp }: Status): string {
  return stamp.split(':', 2).join();
}
