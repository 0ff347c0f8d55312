/**
 * The one place where a path of the host comes in: the granter's, once.
 *
 * Promise: where the walk cannot be had, there is no capability. It never falls back to comparing path strings: that lost
 * 112,766 reads in a million to an attacker (reference/fs.md §2).
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
  // What an earlier process left at the top is swept now, elsewhere when it is listed.
  await cap.list().catch(() => {});
  return cap;
}

/** For the program that runs the host: which backend a cap gets that is opened now without saying which. */
export function backendInfo(): { readonly backend: Backend } {
  return Object.freeze({ backend: chooseBackend().backend });
}

/** Over these system calls: for tests. */
export function openWith(kernel: Kernel, root: unknown, given?: unknown): FsCap {
  if (!kernel.supported) throw refusal('UNSUPPORTED', 'this needs Linux with /proc mounted');
  const limits = takeLimits(given);
  // The root is trusted: it may be a link or relative. It is opened now, so a later chdir changes nothing.
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
        turnstile: new AdmissionQueue(limits),
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
