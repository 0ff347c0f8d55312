/**
 * The sentinel: how far a store is known to have come, in a folder that the operator gives. It shows that a
 * store was put back to an earlier state.
 *
 * The file is named after the id in the store, not after the store's path. So a store that was moved, or that
 * is opened through a link, finds its sentinel, and many stores share one folder.
 *
 * Promise: the state that it records was on the disk before. So a store is never behind its sentinel by
 * chance, also after a power cut. It is no secret, and it does not stop somebody who can write both.
 * Checkpoints that are kept elsewhere do that (docs/ledger.md).
 *
 * It also records the place of the store, as a hash of its whole path. So an empty folder where a store was before is
 * known, although neither a key nor an id is left in it.
 *
 * It has two slots that are written in turn, each with a check sum. If a power cut tears one, the other is
 * left.
 */
import { closeSync, fsyncSync, openSync, readdirSync, readSync, realpathSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { CapError } from '../../core/errors.ts';
import { crc, sha256 } from '../../drivers/hash.ts';
import { makeFolder, syncFolder } from './sqlite.ts';

/** How far a store has come. */
export interface Reached {
  /** The id of the store. It is made once and copied with the store. */
  readonly store: string;
  /** Count of its commits over all openings. */
  readonly commits: number;
  /** The last line of its ledger at that time; undefined if an earlier version wrote the sentinel. */
  readonly head?: { readonly seq: number; readonly hash: string } | undefined;
  /** A hash of the path where the store was opened last; undefined if an earlier version wrote the sentinel. */
  readonly place?: string | undefined;
}

/** The record of one store, kept apart from it. */
export interface Sentinel {
  /** Returns the record of this store; undefined if there is none that can be trusted. */
  read(store: string): Reached | undefined;
  /** Returns a store that was opened in this folder last; undefined if there is none. For a folder without a store. */
  storeHere(): Reached | undefined;
  /** Writes the record, durable on return. Throws `unavailable` if it cannot be written. */
  begin(reached: Reached): void;
  /**
   * Writes the record without forcing it to the disk. At worst, a roll-back of the last moments goes
   * unnoticed.
   */
  note(reached: Reached): void;
  close(): void;
}

const PLACE = 256;
/** The hash of a ledger without lines. An empty word would be lost with the blanks at the end. */
const NONE = '-';
/** The size in earlier versions, which wrote it beside the store's folder. */
const OLD_PLACE = 128;

/** Where a store lies, for its sentinel. */
export interface StorePlace {
  /** The same text at each opening of a store that was not moved. It is kept as a hash. */
  name(): string;
  /** Throws `invalid` if a sentinel in `directory` would be put back together with the store. */
  checkApart(directory: string): void;
}

/**
 * The sentinel of the store in `folder`, kept in `directory`. Errors: `invalid` if `directory` lies inside
 * `folder`.
 */
export const sentinelIn = (directory: string, folder: string): Sentinel =>
  sentinelOf(directory, {
    name: () => realpathSync(folder),
    checkApart: (given) => checkApart(given, folder),
  });

/** The sentinel, kept in `directory`, of the store that lies at `at`. */
export function sentinelOf(directory: string, at: StorePlace): Sentinel {
  let descriptor: number | undefined;
  let turn = 0;
  let closed = false;
  let openedAt = NONE;

  const file = (store: string): string => join(directory, `${store}.sentinel`);
  const place = (): string => sha256(at.name());
  const write = ({ store, commits, head }: Reached): void => {
    if (descriptor === undefined) return;
    const text = `${store} ${commits}${head === undefined ? '' : ` ${head.seq} ${head.hash || NONE} ${openedAt}`}`;
    turn = 1 - turn;
    writeSync(descriptor, `${crc(text)} ${text}`.padEnd(PLACE - 1).concat('\n'), turn * PLACE);
  };
  return {
    read(store) {
      const places = placesOf(file(store), PLACE);
      const found = latest(places, store);
      turn = found === undefined ? 0 : places.indexOf(found);
      return found;
    },
    storeHere() {
      const here = place();
      for (const store of storesIn(directory)) {
        const found = latest(placesOf(file(store), PLACE), store);
        // A store whose first commit never was has nothing that could be forgotten.
        if (found?.place === here && found.commits > 0) return found;
      }
      return undefined;
    },
    begin(reached) {
      try {
        makeFolder(resolve(directory));
        at.checkApart(directory);
        openedAt = place();
        closeSync(openSync(file(reached.store), 'a', 0o600));
        descriptor ??= openSync(file(reached.store), 'r+');
        write(reached);
        write(reached);
        fsyncSync(descriptor);
        syncFolder(directory);
      } catch (error) {
        if (error instanceof CapError) throw error;
        throw unwritable(error as NodeJS.ErrnoException);
      }
    },
    note(reached) {
      if (closed) return;
      try {
        write(reached);
      } catch {
        // It may stay behind.
      }
    },
    close() {
      closed = true;
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

/** The stores that have a sentinel in this folder. */
function storesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).flatMap((name) => /^([0-9a-f]+)\.sentinel$/.exec(name)?.[1] ?? []);
  } catch {
    return [];
  }
}

const unwritable = ({ code }: NodeJS.ErrnoException): CapError =>
  new CapError(
    'unavailable',
    /^(?:ENOSPC|EDQUOT|EIO)$/.test(String(code))
      ? 'the sentinel of this state could not be written: make room on its disk, or name another folder with --sentinel DIR'
      : 'the folder for the sentinel of this state cannot be written: make it writable, or name another with --sentinel DIR',
  );

/** The file that earlier versions kept beside the store's folder. It is read once and then removed. */
export interface OldSentinel {
  read(store: string): Reached | undefined;
  remove(store: string): void;
}

export function oldSentinel(folder: string): OldSentinel {
  // An earlier version may have been started through a link, or not.
  const files = [...new Set([resolve(folder), realpathSync(folder)])].map((whole) =>
    join(dirname(whole), `${basename(whole)}.sentinel`),
  );
  const read = (file: string, store: string): Reached | undefined => latest(placesOf(file, OLD_PLACE), store);
  return {
    read: (store) =>
      files
        .map((file) => read(file, store))
        .reduce((one, other) => ((other?.commits ?? -1) > (one?.commits ?? -1) ? other : one), undefined),
    remove(store) {
      for (const file of files) {
        if (read(file, store) === undefined) continue;
        try {
          rmSync(file, { force: true });
        } catch {
          // It is not read again.
        }
      }
    },
  };
}

/** A sentinel inside the store's folder would be put back with it. */
function checkApart(directory: string, folder: string): void {
  if (`${realpathSync(directory)}${sep}`.startsWith(`${realpathSync(folder)}${sep}`))
    throw new CapError(
      'invalid',
      'the folder for the sentinel lies inside the state, so restoring a backup would replace it too: name another with --sentinel DIR',
    );
}

function placesOf(file: string, size: number): readonly (Reached | undefined)[] {
  const both = Buffer.alloc(2 * size);
  let descriptor: number | undefined;
  try {
    descriptor = openSync(file, 'r');
    readSync(descriptor, both, 0, both.length, 0);
  } catch {
    return [];
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
  return [both.subarray(0, size), both.subarray(size)].map(reachedFrom);
}

function latest(places: readonly (Reached | undefined)[], store: string): Reached | undefined {
  const most = Math.max(...places.map((one) => (one?.store === store ? one.commits : -1)));
  return places.find((one) => one?.store === store && one.commits === most);
}

function reachedFrom(slot: Buffer): Reached | undefined {
  const [sum = '', ...said] = slot.toString('latin1').trimEnd().split(' ');
  const [store, commits = '', seq, hash = '', place = NONE] = said;
  if (store === undefined || ![commits, seq ?? '0'].every((text) => /^\d{1,15}$/.test(text))) return undefined;
  if (crc(said.join(' ')) !== sum) return undefined;
  return {
    store,
    commits: Number(commits),
    ...(seq === undefined ? {} : { head: { seq: Number(seq), hash: hash === NONE ? '' : hash } }),
    ...(place === NONE ? {} : { place }),
  };
}
