/**
 * A file that is being written: a temporary beside its name, moved there in one step when it is whole.
 *
 * Promise: a reader sees the old content or the new, never a part, through kill -9 as well; an unfinished draft leaves
 * nothing under the name. (60 kills in mid-write with a concurrent reader: 0 partial files, against 53 of 60 when written
 * in place. A kill leaves the temporary itself: not listed, not nameable. reference/fs.md §9)
 * Owner, ACLs and birth time of a replaced file are not kept, its mode is; set-id bits never are.
 */
import { failedWith, refusal } from './errors.ts';
import { own } from './handle.ts';
import type { Kernel, Status } from './kernel.ts';
import { type Path, temporaryName } from './path.ts';
import { type Place, versionOf } from './place.ts';
import { locate, type Spot } from './resolve.ts';
import { charge } from './terms.ts';

export interface DraftOptions {
  readonly create?: 'any' | 'new' | 'never';
  /** What is replaced must still be this. */
  readonly version?: string | undefined;
  /** Wait until the name is on the disk too, not only the content. */
  readonly durable?: boolean;
  /** For a file that is not there yet; the system takes its umask off. */
  readonly mode?: number;
}

export class Draft implements AsyncDisposable {
  readonly #place: Place;
  readonly #spot: Spot;
  readonly #options: DraftOptions;
  readonly #temporary: string;
  readonly #fd: number;
  readonly #keepMode: number | undefined;
  #size = 0;
  #open = true;

  /** Everything that can be refused is refused here, before a byte is written. */
  constructor(place: Place, path: Path, options: DraftOptions) {
    if (path.directory) throw refusal('IS_A_DIRECTORY');
    const { kernel } = place.root;
    this.#place = place;
    this.#options = options;
    const spot = locate(place, path);
    try {
      const present = replaceable(kernel, spot, options);
      this.#keepMode = present && present.mode & 0o777;
      charge(place.terms, { files: present ? 0 : 1 });
      // Not derived from the name: that may be 255 bytes long already.
      this.#temporary = temporaryName(kernel.random);
      // Until it has the mode of what it replaces, nobody else may read it.
      this.#fd = kernel.create(spot.dir, this.#temporary, present ? 0o600 : (options.mode ?? 0o666), 'write');
    } catch (error) {
      spot[Symbol.dispose]();
      throw error;
    }
    this.#spot = spot;
  }

  get size(): number {
    return this.#size;
  }

  /** One at a time. The quota is charged before the disk is. */
  async write(bytes: Uint8Array): Promise<void> {
    charge(this.#place.terms, { bytes: bytes.length });
    this.#size += await writeAll(this.#place.root.kernel, this.#fd, bytes, this.#size);
  }

  /** Gives the file its name; answers its version. */
  async commit(): Promise<string> {
    const { kernel } = this.#place.root;
    const { dir, name } = this.#spot;
    if (this.#keepMode !== undefined) kernel.chmod(this.#fd, this.#keepMode);
    // Before the name points here: after a power cut the file must be whole or not there, never empty under its name.
    await kernel.sync(this.#fd);
    replaceable(kernel, this.#spot, this.#options);
    if (this.#options.create === 'new') kernel.link(dir, this.#temporary, dir, name);
    else {
      kernel.rename(dir, this.#temporary, dir, name);
      this.#open = false;
    }
    this.#unlink();
    const version = versionOf(kernel, kernel.fstat(this.#fd));
    if (this.#options.durable) {
      using readable = own(kernel, kernel.reopen(dir, 'read'));
      await kernel.sync(readable.fd);
    }
    return version;
  }

  /** Ends the draft; without `commit` before, nothing of it remains. Once, and with no write under way. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
  }

  end(): void {
    try {
      this.#unlink();
    } finally {
      this.#place.root.kernel.close(this.#fd);
      this.#spot[Symbol.dispose]();
    }
  }

  #unlink(): void {
    if (!this.#open) return;
    this.#open = false;
    try {
      this.#place.root.kernel.unlink(this.#spot.dir, this.#temporary);
    } catch (error) {
      // Somebody tidied up, or took the directory away: it is gone, which is what was wanted.
      if (!failedWith(error, 'ENOENT')) throw error;
    }
  }
}

async function writeAll(kernel: Kernel, fd: number, bytes: Uint8Array, position: number): Promise<number> {
  for (let done = 0; done < bytes.length; ) {
    done += await kernel.write(fd, bytes.subarray(done), position + done);
  }
  return bytes.length;
}

/** What the draft would replace, if that is allowed. A link is never written through, nor replaced. */
function replaceable(
  kernel: Kernel,
  { dir, name }: Spot,
  { create = 'any', version }: DraftOptions,
): Status | undefined {
  const present = kernel.lstat(dir, name);
  if (present === undefined) {
    if (version !== undefined) throw refusal('STALE', 'it is gone');
    if (create === 'never') throw refusal('NOT_FOUND');
    return undefined;
  }
  if (create === 'new') throw refusal('EXISTS');
  if (present.kind === 'dir') throw refusal('IS_A_DIRECTORY');
  if (present.kind !== 'file') throw refusal('NOT_A_FILE');
  if (version !== undefined) {
    const now = versionOf(kernel, present);
    if (now !== version) throw refusal('STALE', `it is ${now} now`);
  }
  return present;
}
