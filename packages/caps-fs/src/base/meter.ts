/**
 * A quota that is spent, not measured. It counts the bytes written and the files created since it was made,
 * through the cap that carries it and everything made from that cap. Deleting gives nothing back: limiting
 * what is on the disk is a job for the file system.
 */
import { refusal } from './errors.ts';

interface Cost {
  readonly bytes?: number;
  readonly files?: number;
}

export class Meter {
  #bytes: number;
  #files: number;

  constructor(bytes: number = Number.POSITIVE_INFINITY, files: number = Number.POSITIVE_INFINITY) {
    this.#bytes = bytes;
    this.#files = files;
  }

  check({ bytes = 0, files = 0 }: Cost): void {
    if (bytes > this.#bytes)
      throw refusal('FS_LIMIT', `the quota has ${this.#bytes} bytes left, remove something or ask for more`);
    if (files > this.#files)
      throw refusal('FS_LIMIT', `the quota has ${this.#files} files left, remove something or ask for more`);
  }

  // Call this before the write. A failed write then costs the holder; charging later would allow free writes.
  charge({ bytes = 0, files = 0 }: Cost): void {
    this.#bytes -= bytes;
    this.#files -= files;
  }
}
