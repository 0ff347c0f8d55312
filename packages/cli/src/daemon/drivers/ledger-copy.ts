/**
 * A copy of the ledger in a folder outside of the state.
 *
 * Promise: each line of the ledger is in it once, whole and in order, and on the disk when `catchUp` resolves. Half a
 * line that a kill left is cut off first. A copy that this ledger does not continue is put aside, and never changed.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';

/** The lines of a ledger from this number on. */
type ReadLines = (from: number) => AsyncIterable<string>;

/** A line has at most 8 KiB. */
const TAIL = 32 * 1024;
/** So much is written at a time. */
const PIECE = 256 * 1024;

/** A copy of one ledger. */
export class LedgerCopy {
  readonly #folder: string;
  readonly #read: ReadLines;
  #name: string | undefined;

  constructor(folder: string, read: ReadLines) {
    this.#folder = folder;
    this.#read = read;
  }

  /** Writes the lines that the copy lacks. Errors: those of the disk, and of the ledger. */
  async catchUp(): Promise<void> {
    const file = await this.#file();
    let descriptor = openCopy(file);
    try {
      let next = await this.#next(descriptor);
      if (next === undefined) {
        closeSync(descriptor);
        putAside(file);
        descriptor = openCopy(file);
        next = 1;
      }
      let [text, wrote] = ['', false];
      const flush = (): void => {
        writeAll(descriptor, text);
        wrote ||= text !== '';
        text = '';
      };
      for await (const line of this.#read(next)) {
        text += `${line}\n`;
        if (text.length > PIECE) flush();
      }
      flush();
      if (wrote) fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  /** Each ledger has a random name in its first line, so two states may share a folder. */
  async #file(): Promise<string> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    if (this.#name === undefined)
      for await (const first of this.#read(1)) {
        const { stream } = JSON.parse(first) as { readonly stream?: unknown };
        this.#name = `ledger-${String(stream).slice(0, 8)}.jsonl`;
        break;
      }
    return join(this.#folder, this.#name ?? 'ledger.jsonl');
  }

  /** The number of the first line that is missing. Undefined if the copy is not the beginning of this ledger. */
  async #next(descriptor: number): Promise<number | undefined> {
    const { size } = fstatSync(descriptor);
    const tail = Buffer.alloc(Math.min(size, TAIL));
    readSync(descriptor, tail, 0, tail.length, size - tail.length);
    if (size === 0) return 1;
    const whole = tail.lastIndexOf(10) + 1;
    if (whole === 0) return undefined;
    const last = tail.subarray(tail.lastIndexOf(10, whole - 2) + 1, whole - 1).toString();
    const seq = numberOf(last);
    if (seq === undefined) return undefined;
    // Each line has the hash of the one before, so equal last lines have equal lines before them.
    for await (const same of this.#read(seq)) {
      if (same !== last) return undefined;
      ftruncateSync(descriptor, size - tail.length + whole);
      return seq + 1;
    }
    return undefined;
  }
}

function openCopy(file: string): number {
  const { O_RDWR, O_APPEND, O_CREAT, O_NOFOLLOW } = constants;
  return openSync(file, O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
}

/** A disk that is nearly full takes a part only. */
function writeAll(descriptor: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
}

function numberOf(line: string): number | undefined {
  try {
    const { seq } = JSON.parse(line) as { readonly seq?: unknown };
    return Number.isSafeInteger(seq) && (seq as number) > 0 ? (seq as number) : undefined;
  } catch {
    return undefined;
  }
}

/** `ledger-1a2b3c4d.1.jsonl`, with the first number that is free. */
function putAside(file: string): void {
  for (let n = 1; ; n += 1) {
    const other = file.replace(/\.jsonl$/, `.${n}.jsonl`);
    if (existsSync(other)) continue;
    renameSync(file, other);
    return;
  }
}
