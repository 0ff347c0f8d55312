/**
 * The resolver by itself, synchronous and without the cap around it: for `bench/fs`, beside synchronous
 * `node:fs`.
 */
import fs from 'node:fs';
import { Handle } from '../src/base/handle.ts';
import { chooseBackend } from '../src/drivers/backend.ts';
import { stat } from '../src/files/listing.ts';
import { Admission } from '../src/root/admission.ts';
import type { HeldDirectory } from '../src/root/held-directory.ts';
import { Holder } from '../src/root/holder.ts';
import { Slots, takeLimits } from '../src/root/limits.ts';
import { Listings } from '../src/root/listings.ts';
import { WriteOrder } from '../src/root/order.ts';
import { type Path, parsePath } from '../src/root/path.ts';
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
  const holder = Holder.root();
  const shared = {
    kernel,
    mount: kernel.mountOf(fd),
    inMemory: kernel.inMemory(fd),
    limits,
    subdirs: new Slots('open subdirectories', limits.maxSubdirs),
    streams: new Slots('open streams', limits.maxStreams),
    admission: new Admission(holder, { places: 8, maxWaiting: 8, maxBytes: 0, pause: () => undefined }),
    order: new WriteOrder(),
    seal: kernel.sealer(''),
    listings: new Listings(limits.maxEntries),
  };
  return walkOf({ root: shared, directory: new Handle(kernel, fd), terms: unbounded, holder, maker: '' });
}

function walked(held: HeldDirectory, path: Path): Uint8Array {
  using file = openFile(held, path);
  const bytes = new Uint8Array(file.status.size);
  const got = fs.readSync(file.fd, bytes, 0, bytes.length, 0);
  return got === bytes.length ? bytes : bytes.subarray(0, got);
}

function walkOf(held: HeldDirectory): Walk {
  return {
    read(path) {
      const parsed = parsePath(path);
      // In one call, where the backend can.
      const direct = readDirectly(held, parsed, 64 * 1024);
      if (direct instanceof Promise) throw new Error('this would wait for the disk');
      return direct ?? walked(held, parsed);
    },
    stat: (path) => stat(path, undefined)(held, never, () => {}),
    subdir(path) {
      const { kernel } = held.root;
      using found = openDirectory(held, parsePath(path));
      return walkOf({ ...held, directory: new Handle(kernel, kernel.openDirectory(found.fd, '.')) });
    },
    close: () => held.directory.drop(),
  };
}
