/**
 * A file that is being written: a temporary beside its name, moved there in one step when it is whole.
 *
 * Promise: a reader sees the old content or the new, never a part, through kill -9 as well; an unfinished draft leaves
 * nothing under the name. (60 kills in mid-write with a concurrent reader: 0 partial files, against 53 of 60 when written
 * in place. Where files without a name can be had a kill leaves nothing; else the temporary itself: not listed, not
 * nameable, swept later. reference/fs.md §9)
 * Owner, ACLs and birth time of a replaced file are not kept, its mode is; set-id bits never are.
 */
import { failedWith, refusal } from '../base/errors.ts';
import { own } from '../base/handle.ts';
import type { Kernel, Status } from '../base/kernel.ts';
import { temporaryName } from '../base/names.ts';
import type { Path } from '../root/path.ts';
import { type Place, versionOf } from '../root/place.ts';
import { locate, type ParentAndName } from '../root/resolve.ts';
import { refuseIfFull } from '../root/room.ts';
import { charge } from '../root/terms.ts';

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
  readonly #beginning: Beginning;
  readonly #fd: number;
  /** Its name, beside where it was begun, until it is whole; a backend that can make files without a name has none. */
  #temporary: string | undefined;
  #size = 0;
  #synced = false;

  private constructor(place: Place, beginning: Beginning, fd: number, temporary: string | undefined) {
    this.#place = place;
    this.#beginning = beginning;
    this.#fd = fd;
    this.#temporary = temporary;
  }

  /** Everything that can be refused is refused here, before a byte is written. */
  static open(place: Place, path: Path, options: DraftOptions): Draft {
    return Draft.#begun(place, begin(place, path, options, 0));
  }

  /** With its whole content: one trip to the thread pool where the backend can. */
  static async of(place: Place, path: Path, options: DraftOptions, bytes: Uint8Array): Promise<Draft> {
    const beginning = begin(place, path, options, bytes.length);
    const { spot, mode, keepMode } = beginning;
    try {
      const fd = await place.root.kernel.unnamed?.write(spot.dir, mode, keepMode, bytes);
      if (fd !== undefined) {
        const draft = new Draft(place, beginning, fd, undefined);
        draft.#synced = true;
        return draft;
      }
    } catch (error) {
      spot[Symbol.dispose]();
      throw error;
    }
    const draft = Draft.#begun(place, beginning);
    try {
      await draft.#put(bytes);
      return draft;
    } catch (error) {
      draft.end();
      throw error;
    }
  }

  static #begun(place: Place, beginning: Beginning): Draft {
    const { kernel } = place.root;
    const { spot, mode } = beginning;
    try {
      const unnamed = kernel.unnamed?.create(spot.dir, mode);
      if (unnamed !== undefined) return new Draft(place, beginning, unnamed, undefined);
      // Not derived from the name: that may be 255 bytes long already.
      const temporary = temporaryName(kernel.random);
      return new Draft(place, beginning, kernel.create(spot.dir, temporary, mode, 'write'), temporary);
    } catch (error) {
      spot[Symbol.dispose]();
      throw error;
    }
  }

  /** All of it in one turn: for a small file where there is no disk. Nothing of ours comes between, so what was found stays found. */
  static whole(place: Place, path: Path, options: DraftOptions, bytes: Uint8Array): string {
    const { kernel } = place.root;
    const beginning = begin(place, path, options, bytes.length);
    const { spot, keepMode } = beginning;
    try {
      const done = writeNamed(kernel, beginning, bytes);
      if (done) {
        spot[Symbol.dispose]();
        return versionOf(kernel, done);
      }
    } catch (error) {
      spot[Symbol.dispose]();
      throw error;
    }
    const draft = Draft.#begun(place, beginning);
    try {
      kernel.writeNow(draft.#fd, bytes);
      if (keepMode !== undefined) kernel.chmod(draft.#fd, keepMode);
      draft.#giveName(spot, keepMode === undefined);
      return versionOf(kernel, kernel.fstat(draft.#fd));
    } finally {
      draft.end();
    }
  }

  get size(): number {
    return this.#size;
  }

  /** One at a time. The quota is charged before the disk is. */
  async write(bytes: Uint8Array): Promise<void> {
    refuseIfFull(this.#place, this.#fd, bytes.length);
    charge(this.#place.terms, { bytes: bytes.length });
    await this.#put(bytes);
  }

  /**
   * Gives the file its name; answers its version. What is `last` to do is done when no name changes any more and no append is
   * under way: it may still write, and what it throws ends all.
   */
  async commit(last?: () => Promise<void>): Promise<string> {
    const { kernel, order } = this.#place.root;
    await this.#sync();
    const { version, readable } = await order.alone(async () => {
      if (last) {
        await last();
        await this.#sync();
      }
      const { path, options } = this.#beginning;
      // Found anew: a directory on the way may have been renamed or removed meanwhile. From here on nothing of ours comes
      // between, so all that goes through this process happens in some order.
      using spot = locate(this.#place, path);
      const present = replaceable(kernel, spot, options);
      this.#giveName(spot, present === undefined);
      this.#unlink();
      return {
        version: versionOf(kernel, kernel.fstat(this.#fd)),
        readable: options.durable ? own(kernel, kernel.reopen(spot.dir, 'read')) : undefined,
      };
    });
    using directory = readable;
    if (directory) await kernel.sync(directory.fd);
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
      this.#beginning.spot[Symbol.dispose]();
    }
  }

  /** Before the name points here: after a power cut the file must be whole or not there, never empty under its name. */
  async #sync(): Promise<void> {
    if (this.#synced) return;
    const { kernel } = this.#place.root;
    const { keepMode } = this.#beginning;
    if (keepMode !== undefined) kernel.chmod(this.#fd, keepMode);
    await kernel.sync(this.#fd);
    this.#synced = true;
  }

  async #put(bytes: Uint8Array): Promise<void> {
    this.#synced = false;
    this.#size += await writeAll(this.#place.root.kernel, this.#fd, bytes, this.#size);
  }

  #giveName({ dir, name }: ParentAndName, nothingThere: boolean): void {
    const { kernel } = this.#place.root;
    const isNew = this.#beginning.options.create === 'new';
    if (this.#temporary !== undefined) {
      const { dir: from } = this.#beginning.spot;
      if (isNew) return kernel.link(from, this.#temporary, dir, name);
      kernel.rename(from, this.#temporary, dir, name);
      this.#temporary = undefined;
      return;
    }
    // A first name, if it can be had: that is one step and can replace nothing.
    if (nothingThere || isNew) {
      try {
        return kernel.unnamed?.name(this.#fd, dir, name);
      } catch (error) {
        if (isNew || !failedWith(error, 'EEXIST')) throw error;
      }
    }
    const temporary = temporaryName(kernel.random);
    kernel.unnamed?.name(this.#fd, dir, temporary);
    try {
      kernel.rename(dir, temporary, dir, name);
    } catch (error) {
      kernel.unlink(dir, temporary);
      throw error;
    }
  }

  #unlink(): void {
    const temporary = this.#temporary;
    if (temporary === undefined) return;
    this.#temporary = undefined;
    try {
      this.#place.root.kernel.unlink(this.#beginning.spot.dir, temporary);
    } catch (error) {
      // Somebody tidied up, or took the directory away: it is gone, which is what was wanted.
      if (!failedWith(error, 'ENOENT')) throw error;
    }
  }
}

/** What is known of a draft before there is a file. */
interface Beginning {
  readonly path: Path;
  /** Where it was begun. */
  readonly spot: ParentAndName;
  readonly options: DraftOptions;
  /** Of the file while it is made: until it has the mode of what it replaces, nobody else may read it. */
  readonly mode: number;
  /** Of what it replaces. */
  readonly keepMode: number | undefined;
}

function begin(place: Place, path: Path, options: DraftOptions, bytes: number): Beginning {
  if (path.directory) throw refusal('IS_A_DIRECTORY');
  const { kernel } = place.root;
  const spot = locate(place, path);
  try {
    const present = replaceable(kernel, spot, options);
    refuseIfFull(place, spot.dir, bytes);
    charge(place.terms, { bytes, files: present ? 0 : 1 });
    const mode = present ? 0o600 : (options.mode ?? 0o666);
    return { path, spot, options, mode, keepMode: present && present.mode & 0o777 };
  } catch (error) {
    spot[Symbol.dispose]();
    throw error;
  }
}

/** With one call, where the backend can; `undefined`: nothing has happened. */
function writeNamed(
  kernel: Kernel,
  { spot, mode, keepMode, options }: Beginning,
  bytes: Uint8Array,
): Status | undefined {
  const put = (temporary?: string): Status | undefined =>
    kernel.unnamed?.writeNamed(spot.dir, spot.name, temporary, mode, keepMode, bytes);
  const isNew = options.create === 'new';
  if (isNew || keepMode === undefined) {
    try {
      return put();
    } catch (error) {
      if (isNew || !failedWith(error, 'EEXIST')) throw error;
    }
  }
  return kernel.unnamed && put(temporaryName(kernel.random));
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
  { dir, name }: ParentAndName,
  { create = 'any', version }: DraftOptions,
): Status | undefined {
  const present = kernel.lstat(dir, name);
  if (present === undefined) {
    if (version !== undefined) throw refusal('STALE', 'it is gone');
    if (create === 'never') throw refusal('NOT_FOUND');
    return undefined;
  }
  if (present.kind === 'link') throw refusal('NOT_A_FILE');
  if (create === 'new') throw refusal('EXISTS');
  if (present.kind === 'dir') throw refusal('IS_A_DIRECTORY');
  if (present.kind !== 'file') throw refusal('NOT_A_FILE');
  if (version !== undefined) {
    const now = versionOf(kernel, present);
    if (now !== version) throw refusal('STALE', `it is ${now} now`);
  }
  return present;
}
