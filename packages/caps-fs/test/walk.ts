/**
 * The resolver by itself, synchronous and without the cap around it: for `bench/fs`, beside synchronous `node:fs`.
 */
import fs from 'node:fs';
import { Handle } from '../src/base/handle.ts';
import { chooseBackend } from '../src/drivers/backend.ts';
import { stat } from '../src/files/listing.ts';
import { AdmissionQueue, Slots, takeLimits } from '../src/root/limits.ts';
import { WriteOrder } from '../src/root/order.ts';
import { parsePath } from '../src/root/path.ts';
import type { Place } from '../src/root/place.ts';
import { openDirectory, openFile, readDirectly } from '../src/root/resolve.ts';
import { unbounded } from '../src/root/terms.ts';
import type { Backend } from './backends.ts';

export interface Walk {
  read(path: string): Uint8Array;
  stat(path: string): unknown;
  /** The same beneath a directory that is held open. */
  subdir(path: string): Walk;
  close(): void;
}

const never = new AbortController().signal;

export function openWalk(backend: Backend, root: string): Walk {
  const kernel = chooseBackend(backend);
  const fd = kernel.openRoot(root);
  const limits = takeLimits({});
  const shared = {
    kernel,
    mount: kernel.mountOf(fd),
    inMemory: kernel.inMemory(fd),
    limits,
    subdirs: new Slots('open subdirectories', limits.maxSubdirs),
    streams: new Slots('open streams', limits.maxStreams),
    admission: new AdmissionQueue(limits),
    order: new WriteOrder(),
  };
  return walkOf({ root: shared, directory: new Handle(kernel, fd), terms: unbounded });
}

function walkOf(place: Place): Walk {
  return {
    read(path) {
      const parsed = parsePath(path);
      // In one call, where the backend can.
      const direct = readDirectly(place, parsed, 64 * 1024);
      if (direct instanceof Promise) throw new Error('this would wait for the disk');
      if (direct) return direct;
      using file = openFile(place, parsed);
      const bytes = new Uint8Array(file.status.size);
      const got = fs.readSync(file.fd, bytes, 0, bytes.length, 0);
      return got === bytes.length ? bytes : bytes.subarray(0, got);
    },
    stat: (path) => stat(path)(place, never),
    subdir(path) {
      const { kernel } = place.root;
      using found = openDirectory(place, parsePath(path));
      return walkOf({ ...place, directory: new Handle(kernel, kernel.openDirectory(found.fd, '.')) });
    },
    close: () => place.directory.drop(),
  };
}
