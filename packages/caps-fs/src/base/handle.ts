/**
 * Descriptors with an owner.
 *
 * Promise: a descriptor is closed exactly once, after the last operation that uses it. The kernel reuses
 * numbers at once: closing one under a running operation made it read the wrong directory in 4,841 of 50,000
 * tries (docs/measurements/fs.md).
 */
import type { Kernel } from './kernel.ts';

/** A descriptor for the duration of a `using` block. */
export interface Descriptor extends Disposable {
  readonly fd: number;
}

/**
 * A descriptor with several holders. It closes when the last holder drops it. The opener is the first holder.
 */
export class Handle {
  readonly #kernel: Kernel;
  #fd: number;
  #holders = 1;

  constructor(kernel: Kernel, fd: number) {
    this.#kernel = kernel;
    this.#fd = fd;
  }

  get fd(): number {
    if (this.#fd < 0) throw new Error('a descriptor used after its last holder let go');
    return this.#fd;
  }

  hold(): Descriptor {
    const { fd } = this.share();
    let held = true;
    return {
      fd,
      [Symbol.dispose]: () => {
        if (held) this.drop();
        held = false;
      },
    };
  }

  /** Adds a holder, which must call `drop` exactly once. */
  share(): Handle {
    this.#holders += 1;
    return this;
  }

  drop(): void {
    this.#holders -= 1;
    if (this.#holders > 0) return;
    if (this.#fd < 0) return;
    const fd = this.fd;
    this.#fd = -1;
    this.#kernel.close(fd);
  }
}

/** A descriptor with one owner. */
export function own(kernel: Kernel, fd: number): Descriptor {
  let open = true;
  return {
    fd,
    [Symbol.dispose]: () => {
      if (open) kernel.close(fd);
      open = false;
    },
  };
}
