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
import type { Limits } from '../root/limits.ts';
import { type Path, parsePath } from '../root/path.ts';
import { inodeOf, type Place, type Root, versionOf } from '../root/place.ts';
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
import { refuseIfFull } from '../root/room.ts';
import { charge } from '../root/terms.ts';
import { Draft, type DraftOptions } from './draft.ts';

/** An operation on a directory. `ended` fires when the cap is closed, and long operations stop then. */
export type Job<R> = (place: Place, ended: AbortSignal) => R | Promise<R>;

const chunk = 256 * 1024;
const maxAtOnce = 64 * 1024;
// Small enough for one write call, so that two appenders do not interleave.
const maxAppend = 1024 * 1024;
const maxCreateTries = 8;
// Attempts before `BUSY`, when somebody keeps replacing the source.
const maxCopyTries = 8;

export function read(path: unknown, range: unknown): Job<Uint8Array> {
  const parsed = parsePath(path);
  const { offset, length } = takeRange(range);
  return async (place) => {
    if (offset === 0 && length === undefined) {
      const direct = await readDirectly(place, parsed, Math.min(chunk, place.root.limits.maxReadBytes));
      if (direct) return direct;
    }
    using file = openFile(place, parsed);
    // The await is needed: `using` closes the descriptor when this function returns.
    return await readRange(place, file, offset, length);
  };
}

export function readText(path: unknown, window: unknown): Job<string> {
  const parsed = parsePath(path);
  const given = takeRecord(window, 'a window');
  const line = takeCount(given['line'], 'line', 1) ?? 1;
  const lines = takeCount(given['lines'], 'lines');
  return async (place) => linesOf((await readWhole(place, parsed)).text, line, lines);
}

export function write(
  limits: Limits,
  path: unknown,
  data: unknown,
  options: unknown,
): Job<{ readonly version: string }> {
  const parsed = parsePath(path);
  const bytes = takeBytes(data, limits.maxWriteBytes, 'maxWriteBytes');
  const taken = takeDraftOptions(options);
  return async (place) => ({ version: await replace(place, parsed, bytes, taken) });
}

export function append(path: unknown, data: unknown): Job<void> {
  const parsed = parsePath(path);
  const bytes = takeBytes(data, maxAppend, 'bytes of one append');
  return (place) =>
    place.root.order.shared(async () => {
      using file = openForAppend(place, parsed, bytes.length);
      await writeEnd(place, file.fd, bytes);
    });
}

/**
 * Copies a file and never replaces one: that would destroy a file without being asked to. The copy has the
 * content that the source had at the moment when the copy got its name.
 */
export function copy(from: unknown, to: unknown): Job<void> {
  const source = parsePath(from);
  const target = parsePath(to);
  return async (place) => {
    if (place.root.inMemory && (await inOneTurn(place.root, () => copyWhole(place, source, target)))) return;
    for (let tries = 0; tries < maxCopyTries; tries++) {
      using file = openFile(place, source);
      await using draft = Draft.open(place, target, { create: 'new', mode: file.status.mode & 0o777 });
      await copyRest(place, file, draft);
      let isSource = true;
      const asItIs = async (): Promise<void> => {
        using now = find(place, source);
        isSource = inodeOf(now.status) === inodeOf(file.status);
        if (!isSource) throw refusal('BUSY');
        // Copy what was appended since.
        if (now.status.size !== draft.size) await copyRest(place, file, draft);
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

/** Copies a small file. Returns `false` if the file is not small, or shrank just now. */
function copyWhole(place: Place, source: Path, target: Path): boolean {
  const { kernel, limits } = place.root;
  using file = openFile(place, source);
  const { size, mode } = file.status;
  if (!isSmall(place.root, size) || size > limits.maxStreamBytes) return false;
  const bytes = kernel.memory(size);
  if (kernel.readNow(file.fd, bytes, 0) < size) return false;
  Draft.whole(place, target, { create: 'new', mode: mode & 0o777 }, bytes);
  return true;
}

async function copyRest({ root: { kernel, limits } }: Place, file: OpenEntry, draft: Draft): Promise<void> {
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
  place: Place,
  path: Path,
): Promise<{ readonly text: string; readonly version: string }> {
  const direct = await seeDirectly(place, path, Math.min(chunk, place.root.limits.maxReadBytes));
  if (direct) return { text: takeText(direct.bytes), version: versionOf(place.root.kernel, direct.status) };
  using file = openFile(place, path);
  const version = versionOf(place.root.kernel, file.status);
  return { text: takeText(await readRange(place, file, 0, undefined)), version };
}

export async function replace(place: Place, path: Path, bytes: Uint8Array, options: DraftOptions): Promise<string> {
  const { root } = place;
  if (isSmall(root, bytes.length) && !options.durable) {
    return await inOneTurn(root, () => Draft.whole(place, path, options, bytes));
  }
  await using draft = await Draft.of(place, path, options, bytes);
  return await draft.commit();
}

async function readRange(
  place: Place,
  file: OpenEntry,
  offset: number,
  length: number | undefined,
): Promise<Uint8Array> {
  const { kernel, limits } = place.root;
  const max = limits.maxReadBytes;
  const size = Math.max(0, file.status.size - offset);
  const wanted = length ?? size;
  // Checked before the buffer is allocated.
  if (Math.min(wanted, size) > max) throw tooLarge('maxReadBytes', max, file.status.size);
  if (file.status.size > 0) return await fill(place, file.fd, Math.min(wanted, size), offset);
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
async function fill(place: Place, fd: number, length: number, offset: number): Promise<Uint8Array> {
  const bytes = place.root.kernel.memory(length);
  let done = isSmall(place.root, length) ? place.root.kernel.readNow(fd, bytes, offset) : 0;
  while (done < length) {
    const got = await place.root.kernel.read(fd, done === 0 ? bytes : bytes.subarray(done), offset + done);
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

/** Line ends stay as they are, so that a passage can go into `edit` as it was read. */
function linesOf(text: string, line: number, lines: number | undefined): string {
  const from = startOfLine(text, 0, line - 1);
  return text.slice(from, lines === undefined ? text.length : startOfLine(text, from, lines));
}

function startOfLine(text: string, from: number, skip: number): number {
  let at = from;
  for (let skipped = 0; skipped < skip; skipped++) {
    const end = text.indexOf('\n', at);
    if (end < 0) return text.length;
    at = end + 1;
  }
  return at;
}

/**
 * Opens or creates the file, if space and quota allow `bytes` more. It is opened with O_PATH first, so that a
 * FIFO is refused before it is opened for writing. A file with two names is refused: appending would also
 * change it under the other name, which may lie outside.
 */
function openForAppend(place: Place, path: Path, bytes: number): OpenEntry {
  if (path.directory) throw refusal('IS_A_DIRECTORY');
  const { kernel } = place.root;
  using target = locate(place, path);
  for (let tries = 0; tries < maxCreateTries; tries++) {
    if (kernel.lstat(target.dir, target.name) === undefined) {
      refuseIfFull(place, target.dir, bytes);
      charge(place.terms, { bytes, files: 1 });
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
      refuseOtherMount(place, present.fd);
      if (status.kind === 'file' && status.links > 1) throw refusal('NOT_A_FILE');
      refuseIfFull(place, present.fd, bytes);
      charge(place.terms, { bytes });
      return openData(place, { ...present, status }, 'append');
    } catch (error) {
      if (!failedWith(error, 'ENOENT')) throw error;
    }
  }
  throw refusal('BUSY');
}

async function writeEnd(place: Place, fd: number, bytes: Uint8Array): Promise<void> {
  if (bytes.length === 0) return;
  const done = await place.root.kernel.write(fd, bytes, null);
  if (done < bytes.length) await writeEnd(place, fd, bytes.subarray(done));
}

function takeRange(given: unknown): { readonly offset: number; readonly length: number | undefined } {
  const range = takeRecord(given, 'a range');
  return { offset: takeCount(range['offset'], 'offset') ?? 0, length: takeCount(range['length'], 'length') };
}

function takeDraftOptions(given: unknown): DraftOptions {
  const options = takeRecord(given, 'options');
  const { create = 'any', version, durable } = options;
  if (create !== 'any' && create !== 'new' && create !== 'never') {
    throw refusal('invalid', 'create is any, new or never');
  }
  return {
    create,
    durable: takeFlag(durable, 'durable'),
    version: version === undefined ? undefined : takeString(version, 'version'),
  };
}

function tooLarge(limit: string, max: number, size?: number) {
  return refusal('FS_LIMIT', size === undefined ? `${limit} ${max}` : `${limit} ${max}, it has ${size} bytes`);
}
