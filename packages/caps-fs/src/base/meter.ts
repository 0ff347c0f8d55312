/**
 * A quota that is spent, not measured: bytes written and files created since it was made, by everything that was made
 * from the cap that carries it. Deleting gives nothing back; a quota of what lies on the disk belongs to the file system.
 */
import { refusal } from './errors.ts';

export interface Cost {
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
    if (bytes > this.#bytes) throw refusal('FS_LIMIT', `quota of bytes, ${this.#bytes} left`);
    if (files > this.#files) throw refusal('FS_LIMIT', `quota of files, ${this.#files} left`);
  }

  // Charged before the effect: a failure in between costs the holder, the other order would let it write for nothing.
  charge({ bytes = 0, files = 0 }: Cost): void {
    this.#bytes -= bytes;
    this.#files -= files;
  }
}
