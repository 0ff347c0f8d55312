/**
 * Copies a directory with everything in it that the holder sees.
 *
 * Promise: the copy appears under its name in one step, when it is whole, and replaces nothing. If it fails nothing
 * of it stays. Each step works on a held directory and one name. It is no snapshot: what changes meanwhile is
 * copied as it is met. Modes are kept without set-id bits. A link that would lead out of the copy is refused.
 */
import { failedWith, refusal } from '../base/errors.ts';
import { type Descriptor, own } from '../base/handle.ts';
import type { Status } from '../base/kernel.ts';
import { isTemporary, temporaryName } from '../base/names.ts';
import { refuseIfFull } from '../root/free-space.ts';
import type { HeldDirectory } from '../root/held-directory.ts';
import type { Path } from '../root/path.ts';
import { find, locate, refuseOtherMount } from '../root/resolve.ts';
import { charge, isExcepted, permit } from '../root/terms.ts';
import { writeAll } from './draft.ts';
import { refuseOutside } from './links.ts';
import { Removal } from './removal.ts';

const chunk = 256 * 1024;
const entriesPerYield = 32;
// Attempts before `BUSY`, when somebody keeps replacing an entry.
const maxTries = 8;

export async function copyTree(held: HeldDirectory, from: Path, to: Path, ended: AbortSignal): Promise<void> {
  const { kernel, order } = held.root;
  permit(held.terms, 'mkdir');
  using source = find(held, { ...from, directory: true });
  using begun = locate(held, to);
  if (kernel.lstat(begun.dir, begun.name)) throw refusal('EXISTS');
  const temporary = temporaryName(kernel.random);
  kernel.mkdir(begun.dir, temporary);
  let named = false;
  try {
    using made = own(kernel, kernel.openDirectory(begun.dir, temporary));
    // Nobody else looks into it while it is made.
    kernel.chmodHeld(made.fd, 0o700);
    await new TreeCopy(held, ended).copy(source.fd, made.fd, 1);
    kernel.chmodHeld(made.fd, source.status.mode & 0o777);
    await order.exclusive(() => {
      // Look the parent up again: a directory on the path may have been renamed meanwhile.
      using target = locate(held, to);
      if (kernel.renameNew?.(begun.dir, temporary, target.dir, target.name)) return;
      if (kernel.lstat(target.dir, target.name)) throw refusal('EXISTS');
      kernel.rename(begun.dir, temporary, target.dir, target.name);
    });
    named = true;
  } finally {
    // If that fails, it is swept like any other leftover.
    if (!named) await new Removal(held).removeDirectory(begun.dir, temporary, 1).catch(() => {});
  }
}

class TreeCopy {
  readonly #held: HeldDirectory;
  readonly #ended: AbortSignal;
  #entries = 0;
  #bytes = 0;

  constructor(held: HeldDirectory, ended: AbortSignal) {
    this.#held = held;
    this.#ended = ended;
  }

  async copy(from: number, to: number, depth: number): Promise<void> {
    const { kernel, limits } = this.#held.root;
    refuseOtherMount(this.#held, from);
    for (const raw of await kernel.rawNames(from, limits.maxEntries + 1)) {
      const name = nameOf(raw);
      await this.#count();
      // The copy itself is one of these, where it is made inside of what is copied.
      if (isTemporary(name) || isExcepted(this.#held.terms, name)) continue;
      await this.#copyNamed({ from, to, name, depth });
    }
  }

  /** Tries again if the name means something else between two steps. */
  async #copyNamed(at: CopyPosition): Promise<void> {
    for (let tries = 0; tries < maxTries; tries++) {
      using entry = this.#open(at);
      // It was removed after it was listed.
      if (entry === undefined || (await this.#copyEntry(entry, at))) return;
    }
    throw refusal('BUSY');
  }

  #open({ from, name }: CopyPosition): Descriptor | undefined {
    const { kernel } = this.#held.root;
    try {
      return own(kernel, kernel.openAny(from, name));
    } catch (error) {
      if (failedWith(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  /** Returns `false` if the entry was a link and is none any more. */
  async #copyEntry({ fd }: Descriptor, at: CopyPosition): Promise<boolean> {
    const { kernel, limits } = this.#held.root;
    const { to, name, depth } = at;
    const status = kernel.fstat(fd);
    if (status.kind === 'other') throw refusal('NOT_A_FILE');
    const link = status.kind === 'link' ? this.#linkText(at) : new Uint8Array();
    if (link === undefined) return false;
    refuseIfFull(this.#held, to, status.kind === 'file' ? status.size : 0);
    charge(this.#held.terms, { files: 1 });
    if (status.kind === 'link') {
      kernel.symlink(new TextDecoder().decode(link), to, name);
      return true;
    }
    if (status.kind === 'file') {
      await this.#copyFile(status, fd, to, name);
      return true;
    }
    // Before it is made: a removal has the same limit, and the leftovers of a copy that fails must be removable.
    if (depth >= limits.maxDepth) throw refusal('FS_LIMIT', `maxDepth ${limits.maxDepth}`);
    kernel.mkdir(to, name);
    using made = own(kernel, kernel.openDirectory(to, name));
    kernel.chmodHeld(made.fd, 0o700);
    await this.copy(fd, made.fd, depth + 1);
    kernel.chmodHeld(made.fd, status.mode & 0o777);
    return true;
  }

  /**
   * The text of a link that stays in the copy. It is read by the name, which may mean another entry by now.
   * Returns `undefined` if that is no link.
   */
  #linkText({ from, name, depth }: CopyPosition): Uint8Array | undefined {
    try {
      const text = this.#held.root.kernel.readLink(from, name);
      refuseOutside(this.#held, text, depth - 1);
      return text;
    } catch (error) {
      if (failedWith(error, 'EINVAL', 'ENOENT')) return undefined;
      throw error;
    }
  }

  async #copyFile(status: Status, fd: number, to: number, name: string): Promise<void> {
    const { kernel, limits, inMemory } = this.#held.root;
    refuseOtherMount(this.#held, fd);
    using source = own(kernel, kernel.reopen(fd, 'read'));
    using made = own(kernel, kernel.create(to, name, 0o600, 'write'));
    const buffer = new Uint8Array(Math.max(1, Math.min(chunk, status.size + 1)));
    for (let done = 0; ; ) {
      if (this.#ended.aborted) throw refusal('CLOSED');
      const got = await kernel.read(source.fd, buffer, done);
      if (got === 0) break;
      this.#bytes += got;
      if (this.#bytes > limits.maxStreamBytes) throw refusal('FS_LIMIT', `maxStreamBytes ${limits.maxStreamBytes}`);
      charge(this.#held.terms, { bytes: got });
      await writeAll(kernel, made.fd, buffer.subarray(0, got), done);
      done += got;
    }
    kernel.chmod(made.fd, status.mode & 0o777);
    // After a power cut the copy must be whole or absent.
    if (!inMemory) await kernel.sync(made.fd);
  }

  async #count(): Promise<void> {
    const { kernel, limits } = this.#held.root;
    if (this.#ended.aborted) throw refusal('CLOSED');
    this.#entries += 1;
    if (this.#entries > limits.maxEntries) throw refusal('FS_LIMIT', `maxEntries ${limits.maxEntries}`);
    if (this.#entries % entriesPerYield === 0) await kernel.yieldToEventLoop();
  }
}

interface CopyPosition {
  readonly from: number;
  readonly to: number;
  readonly name: string;
  readonly depth: number;
}

function nameOf(raw: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(raw);
  } catch {
    throw refusal('UNSUPPORTED', 'a name in it is not text');
  }
}
