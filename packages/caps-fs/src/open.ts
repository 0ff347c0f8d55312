/**
 * Opens the root of a cap. This is the only place where a path of the host comes in. The granter gives it,
 * once.
 *
 * Promise: where the safe walk is not available, there is no capability. It never falls back to comparing
 * path strings: that let an attacker read outside in 112,766 of a million calls (docs/measurements/fs.md).
 */
import { takeRecord, takeString } from './base/arguments.ts';
import { outward, refusal } from './base/errors.ts';
import type { FsCap } from './base/fs-cap.ts';
import { Handle } from './base/handle.ts';
import type { Kernel } from './base/kernel.ts';
import { directoryCap, subdirsOfProcess } from './directory.ts';
import { type Backend, chooseBackend } from './drivers/backend.ts';
import { pause } from './drivers/yield.ts';
import { Admission } from './root/admission.ts';
import { inodeOf } from './root/held-directory.ts';
import { Holder } from './root/holder.ts';
import { Slots, takeLimits } from './root/limits.ts';
import { Listings } from './root/listings.ts';
import { WriteOrder } from './root/order.ts';
import { unbounded } from './root/terms.ts';

interface OpenOptions {
  readonly backend?: 'proc' | 'native';
  readonly limits?: Readonly<Record<string, number>>;
  /**
   * A secret text of at least 32 characters, from which versions are made. Processes with the same key give a
   * file the same version. Without it the key is one of this machine.
   */
  readonly versionKey?: string;
}

/** `await using` closes the cap. */
export async function openFsCap(root: string, options?: OpenOptions): Promise<FsCap & AsyncDisposable> {
  const { backend, limits, versionKey } = takeRecord(options, 'options', ['backend', 'limits', 'versionKey']);
  const cap = openWith(chooseBackend(backend), root, limits, takeKey(versionKey));
  // Listing sweeps what a killed process left at the top. Other directories are swept when they are listed.
  await cap.list().catch(() => {});
  return cap as FsCap & AsyncDisposable;
}

/** For the program that runs the host: the backend that `openFsCap` would use now if none is named. */
export function backendInfo(): { readonly backend: Backend } {
  return Object.freeze({ backend: chooseBackend().backend });
}

// Limits the bytes held by queued writes: 4,096 of the largest writes would be 64 GiB.
const maxWaitingBytes = 64 * 1024 * 1024;

function takeKey(given: unknown): string {
  if (given === undefined) return '';
  const key = takeString(given, 'versionKey');
  if (key.length < 32) throw refusal('invalid', 'versionKey has at least 32 characters');
  return key;
}

/** Opens a cap over the given system calls. Tests pass their own. */
export function openWith(kernel: Kernel, root: unknown, given?: unknown, versionKey = ''): FsCap {
  if (!kernel.supported) throw refusal('UNSUPPORTED', 'this needs Linux with /proc mounted');
  const limits = takeLimits(given);
  // The granter is trusted, so the root may be a link or a relative path. It is opened now: a later chdir
  // changes nothing.
  if (typeof root !== 'string') throw refusal('PATH_INVALID', 'the root is not text');
  if (root === '') throw refusal('PATH_INVALID', 'the root is empty');
  if (root.includes('\0')) throw refusal('PATH_INVALID', 'the root has a NUL');
  try {
    const fd = kernel.openRoot(root);
    const directory = new Handle(kernel, fd);
    try {
      // Only device and inode are compared: the directory may change between the two looks.
      const seen = kernel.lstat(fd, '.');
      if (seen === undefined || inodeOf(seen) !== inodeOf(kernel.fstat(fd))) {
        throw refusal('UNSUPPORTED', '/proc/self/fd does not lead to open directories');
      }
      const holder = Holder.root();
      const root = {
        kernel,
        mount: kernel.mountOf(fd),
        inMemory: kernel.inMemory(fd),
        limits,
        subdirs: new Slots('open subdirectories', limits.maxSubdirs, subdirsOfProcess),
        streams: new Slots('open streams', limits.maxStreams),
        admission: new Admission(holder, {
          places: limits.maxConcurrent,
          maxWaiting: limits.maxWaiting,
          maxBytes: maxWaitingBytes,
          pause,
        }),
        order: new WriteOrder(),
        seal: kernel.sealer(versionKey),
        listings: new Listings(limits.maxEntries),
      };
      return directoryCap({ root, directory, terms: unbounded, holder, maker: '' });
    } catch (error) {
      directory.drop();
      throw error;
    }
  } catch (error) {
    throw outward(error);
  }
}
