/**
 * A file that is being written. It is a temporary next to its final name, and gets that name in one step when
 * it is whole.
 *
 * Promise: a reader sees the old content or the new, never a part, also after a kill -9. An unfinished draft
 * leaves nothing under the name. Where the file system has unnamed files, a kill leaves nothing at all.
 * Elsewhere it leaves the temporary, which is not listed, cannot be named, and is swept later. (840 kills
 * during writes with a concurrent reader gave 0 partial files, see attack/RESULTS.md. Writing in place gave
 * 53 in 60 kills, see docs/measurements/fs.md.) A replaced file keeps its mode without set-id bits. It does
 * not keep its owner, ACLs or birth time.
 */
import { failedWith, refusal } from '../base/errors.ts';
import { own } from '../base/handle.ts';
import type { Kernel, Status } from '../base/kernel.ts';
import { temporaryName } from '../base/names.ts';
import { refuseIfFull } from '../root/free-space.ts';
import { type HeldDirectory, type Root, versionOf } from '../root/held-directory.ts';
import type { Path } from '../root/path.ts';
import { locate, type ParentAndName } from '../root/resolve.ts';
import { charge } from '../root/terms.ts';

export interface DraftOptions {
  readonly create?: 'any' | 'new' | 'never';
  /** The file to replace must still have this version. */
  readonly version?: string | undefined;
  /** Also wait until the name is on the disk, not only the content. */
  readonly durable?: boolean;
  /** The mode of a new file. The system applies its umask. */
  readonly mode?: number;
}

export class Draft implements AsyncDisposable {
  readonly #held: HeldDirectory;
  readonly #beginning: Beginning;
  readonly #fd: number;
  /** The name of the temporary, in the directory where the draft began. Unnamed files have none. */
  #temporary: string | undefined;
  #size = 0;
  #synced = false;

  private constructor(held: HeldDirectory, beginning: Beginning, fd: number, temporary: string | undefined) {
    this.#held = held;
    this.#beginning = beginning;
    this.#fd = fd;
    this.#temporary = temporary;
  }

  /** Begins a draft. Every refusal that is possible now is made here, before a byte is written. */
  static open(held: HeldDirectory, path: Path, options: DraftOptions): Draft {
    return Draft.#begun(held, begin(held, path, options, 0));
  }

  /** Begins a draft and writes its whole content, in one trip to the thread pool if the backend can. */
  static async of(held: HeldDirectory, path: Path, options: DraftOptions, bytes: Uint8Array): Promise<Draft> {
    const beginning = begin(held, path, options, bytes.length);
    const { target, mode, keepMode } = beginning;
    try {
      const fd = await held.root.kernel.unnamed?.write(target.dir, mode, keepMode, bytes);
      if (fd !== undefined) {
        const draft = new Draft(held, beginning, fd, undefined);
        draft.#synced = true;
        return draft;
      }
    } catch (error) {
      target[Symbol.dispose]();
      throw error;
    }
    const draft = Draft.#begun(held, beginning);
    try {
      await draft.#put(bytes);
      return draft;
    } catch (error) {
      draft.end();
      throw error;
    }
  }

  static #begun(held: HeldDirectory, beginning: Beginning): Draft {
    const { kernel } = held.root;
    const { target, mode } = beginning;
    try {
      const unnamed = kernel.unnamed?.create(target.dir, mode);
      if (unnamed !== undefined) return new Draft(held, beginning, unnamed, undefined);
      // Not derived from the name, which may already be 255 bytes long.
      const temporary = temporaryName(kernel.random);
      return new Draft(held, beginning, kernel.create(target.dir, temporary, mode, 'write'), temporary);
    } catch (error) {
      target[Symbol.dispose]();
      throw error;
    }
  }

  /**
   * Writes and names a small file within one turn, on a file system without a disk. No other operation of
   * this process runs in between, so the parent that was found stays right.
   */
  static whole(held: HeldDirectory, path: Path, options: DraftOptions, bytes: Uint8Array): string {
    const { kernel } = held.root;
    const beginning = begin(held, path, options, bytes.length);
    const { target, keepMode } = beginning;
    try {
      const done = writeNamed(kernel, beginning, bytes);
      if (done) {
        target[Symbol.dispose]();
        return versionOf(held.root, done);
      }
    } catch (error) {
      target[Symbol.dispose]();
      throw error;
    }
    const draft = Draft.#begun(held, beginning);
    try {
      kernel.writeNow(draft.#fd, bytes);
      if (keepMode !== undefined) kernel.chmod(draft.#fd, keepMode);
      draft.#giveName(target, keepMode === undefined);
      return versionOf(held.root, kernel.fstat(draft.#fd));
    } finally {
      draft.end();
    }
  }

  get size(): number {
    return this.#size;
  }

  /** Call it again only when the last call has finished. The quota is charged before anything is written. */
  async write(bytes: Uint8Array): Promise<void> {
    refuseIfFull(this.#held, this.#fd, bytes.length);
    charge(this.#held.terms, { bytes: bytes.length });
    await this.#put(bytes);
  }

  /**
   * Gives the file its name and returns its version. `last` runs while renames and appends are locked out. It
   * may still write. If it throws, the commit fails.
   */
  async commit(last?: () => Promise<void>): Promise<string> {
    const { kernel, order } = this.#held.root;
    await this.#sync();
    const { version, readable } = await order.exclusive(async () => {
      if (last) {
        await last();
        await this.#sync();
      }
      const { path, options } = this.#beginning;
      // Look the parent up again: a directory on the path may have been renamed or removed meanwhile. No
      // await from here on, so operations of this process cannot interleave.
      using target = locate(this.#held, path);
      const present = replaceable(this.#held.root, target, options);
      this.#giveName(target, present === undefined);
      this.#unlink();
      return {
        version: versionOf(this.#held.root, kernel.fstat(this.#fd)),
        readable: options.durable ? own(kernel, kernel.reopen(target.dir, 'read')) : undefined,
      };
    });
    using directory = readable;
    if (directory) await kernel.sync(directory.fd);
    return version;
  }

  /**
   * Ends the draft. Without an earlier `commit` nothing of it remains. Call it once, when no write is
   * running.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.end();
  }

  end(): void {
    try {
      this.#unlink();
    } finally {
      this.#held.root.kernel.close(this.#fd);
      this.#beginning.target[Symbol.dispose]();
    }
  }

  /** Runs before the file gets its name: after a power cut the file must be whole or absent, never empty. */
  async #sync(): Promise<void> {
    if (this.#synced) return;
    const { kernel } = this.#held.root;
    const { keepMode } = this.#beginning;
    if (keepMode !== undefined) kernel.chmod(this.#fd, keepMode);
    await kernel.sync(this.#fd);
    this.#synced = true;
  }

  async #put(bytes: Uint8Array): Promise<void> {
    this.#synced = false;
    this.#size += await writeAll(this.#held.root.kernel, this.#fd, bytes, this.#size);
  }

  #giveName({ dir, name }: ParentAndName, nothingThere: boolean): void {
    const { kernel } = this.#held.root;
    const isNew = this.#beginning.options.create === 'new';
    if (this.#temporary !== undefined) {
      const { dir: from } = this.#beginning.target;
      if (isNew) return kernel.link(from, this.#temporary, dir, name);
      kernel.rename(from, this.#temporary, dir, name);
      this.#temporary = undefined;
      return;
    }
    // Naming an unnamed file is one step and replaces nothing, so it is tried first.
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
      this.#held.root.kernel.unlink(this.#beginning.target.dir, temporary);
    } catch (error) {
      // Somebody else removed it, or its directory. That is fine.
      if (!failedWith(error, 'ENOENT')) throw error;
    }
  }
}

/** The facts about a draft that are known before its file exists. */
interface Beginning {
  readonly path: Path;
  /** Parent and name at the time of the begin. */
  readonly target: ParentAndName;
  readonly options: DraftOptions;
  /** The mode of the new file. When it replaces a file, it is private until it gets the mode of that file. */
  readonly mode: number;
  /** The mode of the file that it replaces. */
  readonly keepMode: number | undefined;
}

function begin(held: HeldDirectory, path: Path, options: DraftOptions, bytes: number): Beginning {
  if (path.directory) throw refusal('IS_A_DIRECTORY');
  const target = locate(held, path);
  try {
    const present = replaceable(held.root, target, options);
    refuseIfFull(held, target.dir, bytes);
    charge(held.terms, { bytes, files: present ? 0 : 1 });
    const mode = present ? 0o600 : (options.mode ?? 0o666);
    return { path, target, options, mode, keepMode: present && present.mode & 0o777 };
  } catch (error) {
    target[Symbol.dispose]();
    throw error;
  }
}

/** Writes and names the file in one call, if the backend can. `undefined` means that nothing has happened. */
function writeNamed(
  kernel: Kernel,
  { target, mode, keepMode, options }: Beginning,
  bytes: Uint8Array,
): Status | undefined {
  const put = (temporary?: string): Status | undefined =>
    kernel.unnamed?.writeNamed(target.dir, target.name, temporary, mode, keepMode, bytes);
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

export async function writeAll(kernel: Kernel, fd: number, bytes: Uint8Array, position: number): Promise<number> {
  for (let done = 0; done < bytes.length; ) {
    done += await kernel.write(fd, bytes.subarray(done), position + done);
  }
  return bytes.length;
}

/**
 * Returns the file that the draft would replace, if it may. A link is neither written through nor replaced.
 */
function replaceable(
  root: Root,
  { dir, name }: ParentAndName,
  { create = 'any', version }: DraftOptions,
): Status | undefined {
  const present = root.kernel.lstat(dir, name);
  if (present === undefined) {
    if (version !== undefined) throw refusal('STALE', 'it was removed');
    if (create === 'never') throw refusal('NOT_FOUND');
    return undefined;
  }
  if (present.kind === 'link') throw refusal('NOT_A_FILE');
  if (create === 'new') throw refusal('EXISTS');
  if (present.kind === 'dir') throw refusal('IS_A_DIRECTORY');
  if (present.kind !== 'file') throw refusal('NOT_A_FILE');
  if (version !== undefined) {
    const now = versionOf(root, present);
    if (now !== version) throw refusal('STALE', `it is ${now} now`);
  }
  return present;
}
