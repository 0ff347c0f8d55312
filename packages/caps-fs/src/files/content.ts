/**
 * The content of files: read, write, append, copy.
 *
 * Each function takes and copies its arguments in the caller's turn and returns a job. The job resolves names
 * synchronously and moves data on the thread pool. That is faster than `fs.promises`, whose readFile takes
 * four or more trips through the pool (docs/measurements/fs.md).
 */
import { takeBytes, takeCount, takeFlag, takeRecord, takeString, takeText } from '../base/arguments.ts';
import { failedWith, refusal } from '../base/errors.ts';
import { own } from '../base/handle.ts';
import { refuseIfFull } from '../root/free-space.ts';
import { type HeldDirectory, inodeOf, type Root, versionOf } from '../root/held-directory.ts';
import type { FsLimits } from '../root/limits.ts';
import { type Path, parsePath } from '../root/path.ts';
import {
  find,
  locate,
  type OpenEntry,
  openData,
  openFile,
  readDirectly,
  refuseOtherMount,
  seeDirectly,
} from '../root/resolve.ts';
import { charge, permit, refuseExcepted } from '../root/terms.ts';
import { copyTree } from './copy-tree.ts';
import { Draft, type DraftOptions } from './draft.ts';
import { holding, type Operation } from './operation.ts';
import { makeDirectories } from './tree.ts';

const chunk = 256 * 1024;
const maxAtOnce = 64 * 1024;
// Small enough for one write call, so that two appenders do not interleave.
const maxAppend = 1024 * 1024;
const maxCreateTries = 8;
// Attempts before `BUSY`, when somebody keeps replacing the source.
const maxCopyTries = 8;

export function read(path: unknown, range: unknown): Operation<Uint8Array> {
  const parsed = parsePath(path);
  const { offset, length } = takeRange(range);
  return async (held) => {
    if (offset === 0 && length === undefined) {
      const direct = await readDirectly(held, parsed, Math.min(chunk, held.root.limits.maxReadBytes));
      if (direct) return direct;
    }
    using file = openFile(held, parsed);
    // The await is needed: `using` closes the descriptor when this function returns.
    return await readRange(held, file, offset, length);
  };
}

export function write(
  limits: FsLimits,
  path: unknown,
  data: unknown,
  options: unknown,
): Operation<{ readonly version: string }> {
  const parsed = parsePath(path);
  const bytes = takeBytes(data, limits.maxWriteBytes, 'maxWriteBytes');
  const { parents, ...taken } = takeDraftOptions(options);
  return holding(bytes.length, async (held) => {
    if (parents) makeParents(held, parsed);
    return { version: await replace(held, parsed, bytes, taken) };
  });
}

export function append(path: unknown, data: unknown): Operation<void> {
  const parsed = parsePath(path);
  const bytes = takeBytes(data, maxAppend, 'bytes of one append');
  return holding(bytes.length, (held) =>
    held.root.order.shared(async () => {
      using file = openForAppend(held, parsed, bytes.length);
      await writeEnd(held, file.fd, bytes);
    }),
  );
}

/**
 * Copies a file and never replaces one: that would destroy a file without being asked to. The copy has the
 * content that the source had at the moment when the copy got its name.
 */
export function copy(from: unknown, to: unknown, options: unknown): Operation<void> {
  const source = parsePath(from);
  const target = parsePath(to);
  const recursive = takeFlag(takeRecord(options, 'options', ['recursive']).recursive, 'recursive');
  return async (held, ended) => {
    if (recursive && isDirectory(held, source)) return await copyTree(held, source, target, ended);
    if (held.root.inMemory && (await inOneTurn(held.root, () => copyWhole(held, source, target)))) return;
    for (let tries = 0; tries < maxCopyTries; tries++) {
      using file = openFile(held, source);
      await using draft = Draft.open(held, target, { create: 'new', mode: file.status.mode & 0o777 });
      await copyRest(held, file, draft);
      let isSource = true;
      const asItIs = async (): Promise<void> => {
        using now = find(held, source);
        isSource = inodeOf(now.status) === inodeOf(file.status);
        if (!isSource) throw refusal('BUSY');
        // Copy what was appended since.
        if (now.status.size !== draft.size) await copyRest(held, file, draft);
      };
      try {
        await draft.commit(asItIs);
        return;
      } catch (error) {
        // Otherwise the name means another file now, and that one is to be copied.
        if (isSource) throw error;
      }
    }
    throw refusal('BUSY');
  };
}

function isDirectory(held: HeldDirectory, path: Path): boolean {
  using found = find(held, path);
  return found.status.kind === 'dir';
}

/** Copies a small file. Returns `false` if the file is not small, or shrank just now. */
function copyWhole(held: HeldDirectory, source: Path, target: Path): boolean {
  const { kernel, limits } = held.root;
  using file = openFile(held, source);
  const { size, mode } = file.status;
  if (!isSmall(held.root, size) || size > limits.maxStreamBytes) return false;
  const bytes = kernel.memory(size);
  if (kernel.readNow(file.fd, bytes, 0) < size) return false;
  Draft.whole(held, target, { create: 'new', mode: mode & 0o777 }, bytes);
  return true;
}

async function copyRest({ root: { kernel, limits } }: HeldDirectory, file: OpenEntry, draft: Draft): Promise<void> {
  const max = limits.maxStreamBytes;
  if (file.status.size > max) throw tooLarge('maxStreamBytes', max, file.status.size);
  const buffer = new Uint8Array(chunk);
  for (let got = -1; got !== 0; ) {
    got = await kernel.read(file.fd, buffer, draft.size);
    if (draft.size + got > max) throw tooLarge('maxStreamBytes', max);
    if (got > 0) await draft.write(buffer.subarray(0, got));
  }
}

/** Returns the whole text of a file and its version, read through one descriptor. */
export async function readWhole(
  held: HeldDirectory,
  path: Path,
): Promise<{ readonly text: string; readonly size: number; readonly version: string }> {
  const direct = await seeDirectly(held, path, Math.min(chunk, held.root.limits.maxReadBytes));
  if (direct) return textOf(direct.bytes, versionOf(held.root, direct.status));
  using file = openFile(held, path);
  const version = versionOf(held.root, file.status);
  return textOf(await readRange(held, file, 0, undefined), version);
}

/** `size` in bytes. */
const textOf = (bytes: Uint8Array, version: string) => ({ text: takeText(bytes), size: bytes.length, version });

export async function replace(
  held: HeldDirectory,
  path: Path,
  bytes: Uint8Array,
  options: DraftOptions,
): Promise<string> {
  const { root } = held;
  if (isSmall(root, bytes.length) && !options.durable) {
    return await inOneTurn(root, () => Draft.whole(held, path, options, bytes));
  }
  await using draft = await Draft.of(held, path, options, bytes);
  return await draft.commit();
}

async function readRange(
  held: HeldDirectory,
  file: OpenEntry,
  offset: number,
  length: number | undefined,
): Promise<Uint8Array> {
  const { kernel, limits } = held.root;
  const max = limits.maxReadBytes;
  const size = Math.max(0, file.status.size - offset);
  const wanted = length ?? size;
  // Checked before the buffer is allocated.
  if (Math.min(wanted, size) > max) throw tooLarge('maxReadBytes', max, file.status.size);
  if (file.status.size > 0) return await fill(held, file.fd, Math.min(wanted, size), offset);
  // Some file systems report size 0 for files with content (/proc does). Read until the end instead.
  const pieces: Uint8Array[] = [];
  let total = 0;
  for (;;) {
    const buffer = new Uint8Array(Math.min(chunk, (length ?? max + 1) - total));
    const got = buffer.length === 0 ? 0 : await kernel.read(file.fd, buffer, offset + total);
    if (got === 0) return joined(pieces, total);
    pieces.push(buffer.subarray(0, got));
    total += got;
    if (total > max) throw tooLarge('maxReadBytes', max);
  }
}

/**
 * Reads `length` bytes, or fewer if the file has shrunk meanwhile. The buffer belongs to the caller alone.
 */
async function fill(held: HeldDirectory, fd: number, length: number, offset: number): Promise<Uint8Array> {
  const bytes = held.root.kernel.memory(length);
  let done = isSmall(held.root, length) ? held.root.kernel.readNow(fd, bytes, offset) : 0;
  while (done < length) {
    const got = await held.root.kernel.read(fd, done === 0 ? bytes : bytes.subarray(done), offset + done);
    if (got === 0) return bytes.slice(0, done);
    done += got;
  }
  return bytes;
}

/**
 * Runs `body` with the lock held exclusively. The body has no await, so it is not interleaved with other
 * operations.
 */
function inOneTurn<R>({ order }: Root, body: () => R): R | Promise<R> {
  return order.exclusive(body);
}

/**
 * Whether to work on it in this turn: there is no disk to wait for, and copying is cheaper than the thread
 * pool.
 */
function isSmall({ inMemory }: Root, bytes: number): boolean {
  return inMemory && bytes <= maxAtOnce;
}

function joined(pieces: readonly Uint8Array[], total: number): Uint8Array {
  const whole = new Uint8Array(total);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}

/**
 * Opens or creates the file, if space and quota allow `bytes` more. It is opened with O_PATH first, so that a
 * FIFO is refused before it is opened for writing. A file with two names is refused: appending would also
 * change it under the other name, which may lie outside.
 */
function openForAppend(held: HeldDirectory, path: Path, bytes: number): OpenEntry {
  if (path.directory) throw refusal('IS_A_DIRECTORY');
  const { kernel } = held.root;
  using target = locate(held, path);
  for (let tries = 0; tries < maxCreateTries; tries++) {
    if (kernel.lstat(target.dir, target.name) === undefined) {
      refuseIfFull(held, target.dir, bytes);
      charge(held.terms, { bytes, files: 1 });
      try {
        const made = own(kernel, kernel.create(target.dir, target.name, 0o666, 'append'));
        return { ...made, status: kernel.fstat(made.fd) };
      } catch (error) {
        if (!failedWith(error, 'EEXIST')) throw error;
      }
    }
    try {
      using present = own(kernel, kernel.openAny(target.dir, target.name));
      const status = kernel.fstat(present.fd);
      refuseOtherMount(held, present.fd);
      if (status.kind === 'file' && status.links > 1) throw refusal('NOT_A_FILE');
      refuseIfFull(held, present.fd, bytes);
      charge(held.terms, { bytes });
      return openData(held, { ...present, status }, 'append');
    } catch (error) {
      if (!failedWith(error, 'ENOENT')) throw error;
    }
  }
  throw refusal('BUSY');
}

async function writeEnd(held: HeldDirectory, fd: number, bytes: Uint8Array): Promise<void> {
  if (bytes.length === 0) return;
  const done = await held.root.kernel.write(fd, bytes, null);
  if (done < bytes.length) await writeEnd(held, fd, bytes.subarray(done));
}

function takeRange(given: unknown): { readonly offset: number; readonly length: number | undefined } {
  const range = takeRecord(given, 'a range', ['offset', 'length']);
  return { offset: takeCount(range.offset, 'offset') ?? 0, length: takeCount(range.length, 'length') };
}

/** For a holder who may also make directories. */
function makeParents(held: HeldDirectory, path: Path): void {
  if (path.directory) throw refusal('IS_A_DIRECTORY');
  permit(held.terms, 'mkdir');
  const last = path.names.at(-1);
  if (last !== undefined) refuseExcepted(held.terms, last);
  makeDirectories(held, path.names.slice(0, -1));
}

function takeDraftOptions(given: unknown): DraftOptions & { readonly parents: boolean } {
  const known = ['create', 'version', 'durable', 'parents'] as const;
  const { create = 'any', version, durable, parents } = takeRecord(given, 'options', known);
  if (create !== 'any' && create !== 'new' && create !== 'never') {
    throw refusal('invalid', 'create is any, new or never');
  }
  return {
    create,
    durable: takeFlag(durable, 'durable'),
    parents: takeFlag(parents, 'parents'),
    version: version === undefined ? undefined : takeString(version, 'version'),
  };
}

function tooLarge(limit: string, max: number, size?: number) {
  return refusal('FS_LIMIT', size === undefined ? `${limit} ${max}` : `${limit} ${max}, it has ${size} bytes`);
}
