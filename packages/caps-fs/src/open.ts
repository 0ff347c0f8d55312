/**
 * Opens the root of a cap. This is the only place where a path of the host comes in. The granter gives it,
 * once.
 *
 * Promise: where the safe walk is not available, there is no capability. It never falls back to comparing
 * path strings: that let an attacker read outside in 112,766 of a million calls (docs/measurements/fs.md).
 */
import { takeRecord } from './base/arguments.ts';
import { outward, refusal } from './base/errors.ts';
import type { FsCap } from './base/fs-cap.ts';
import { Handle } from './base/handle.ts';
import type { Kernel } from './base/kernel.ts';
import { directoryCap, subdirsOfProcess } from './directory.ts';
import { type Backend, chooseBackend } from './drivers/backend.ts';
import { AdmissionQueue, Slots, takeLimits } from './root/limits.ts';
import { WriteOrder } from './root/order.ts';
import { unbounded } from './root/terms.ts';

export interface OpenOptions {
  readonly backend?: 'proc' | 'native';
  readonly limits?: Readonly<Record<string, number>>;
}

export async function openFsCap(root: string, options?: OpenOptions): Promise<FsCap> {
  const { backend, limits } = takeRecord(options, 'options');
  const cap = openWith(chooseBackend(backend), root, limits);
  // Listing sweeps what a killed process left at the top. Other directories are swept when they are listed.
  await cap.list().catch(() => {});
  return cap;
}

/** For the program that runs the host: the backend that `openFsCap` would use now if none is named. */
export function backendInfo(): { readonly backend: Backend } {
  return Object.freeze({ backend: chooseBackend().backend });
}

/** Opens a cap over the given system calls. Tests pass their own. */
export function openWith(kernel: Kernel, root: unknown, given?: unknown): FsCap {
  if (!kernel.supported) throw refusal('UNSUPPORTED', 'this needs Linux with /proc mounted');
  const limits = takeLimits(given);
  // The granter is trusted, so the root may be a link or a relative path. It is opened now: a later chdir
  // changes nothing.
  if (typeof root !== 'string' || root === '' || root.includes('\0')) throw refusal('PATH_INVALID');
  try {
    const fd = kernel.openRoot(root);
    const directory = new Handle(kernel, fd);
    try {
      if (kernel.lstat(fd, '.')?.stamp !== kernel.fstat(fd).stamp) {
        throw refusal('UNSUPPORTED', '/proc/self/fd does not lead to open directories');
      }
      const root = {
        kernel,
        mount: kernel.mountOf(fd),
        inMemory: kernel.inMemory(fd),
        limits,
        subdirs: new Slots('open subdirectories', limits.maxSubdirs, subdirsOfProcess),
        streams: new Slots('open streams', limits.maxStreams),
        admission: new AdmissionQueue(limits),
        order: new WriteOrder(),
      };
      return directoryCap({ root, directory, terms: unbounded });
    } catch (error) {
      directory.drop();
      throw error;
    }
  } catch (error) {
    throw outward(error);
  }
}
