/**
 * How far a store is known to have come, in a folder that the operator names: by this a store that was put back to an earlier state
 * is known.
 *
 * The file is named by the id that lies in the store, not by the store's path. So a store that was moved, or that is opened through a
 * link, finds its sentinel, and many stores share one folder.
 *
 * Promise: what it says was on the disk before it said it, so a store is never behind its sentinel by chance, also after a power
 * cut. It is no secret and stops nobody who can write both; for that there are checkpoints kept elsewhere (docs/ledger.md).
 *
 * Two places are written by turns, each with a check sum: one that was torn by a power cut leaves the other.
 */
import { closeSync, fsyncSync, openSync, readSync, realpathSync, rmSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { CapError } from '../../core/errors.ts';
import { crc } from '../../drivers/hash.ts';
import { makeFolder, syncFolder } from './sqlite.ts';

export interface Reached {
  /** The id of the store: made once, copied with it. */
  readonly store: string;
  /** How many commits it had, over all its openings. */
  readonly commits: number;
  /** The last line of its ledger then; undefined where an earlier version wrote it. */
  readonly head?: { readonly seq: number; readonly hash: string } | undefined;
}

export interface Sentinel {
  /** What it says of this store; undefined where there is nothing that can be trusted. */
  read(store: string): Reached | undefined;
  /** Durable on return. Throws `unavailable` where it cannot be kept. */
  begin(reached: Reached): void;
  /** Not waited for, and not forced to the disk: at worst a roll-back of the last moments passes. */
  note(reached: Reached): void;
  close(): void;
}

const PLACE = 256;
/** The hash of a ledger without a line: an empty word would be lost with the blanks at the end. */
const NONE = '-';
/** As earlier versions wrote it beside the store's folder. */
const OLD_PLACE = 128;

/** The sentinel of the store in `folder`, kept in `directory`. Errors: `invalid` where that lies inside the store's folder. */
export function sentinelIn(directory: string, folder: string): Sentinel {
  let descriptor: number | undefined;
  let turn = 0;
  let closed = false;

  const file = (store: string): string => join(directory, `${store}.sentinel`);
  const write = ({ store, commits, head }: Reached): void => {
    if (descriptor === undefined) return;
    const text = `${store} ${commits}${head === undefined ? '' : ` ${head.seq} ${head.hash || NONE}`}`;
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
    begin(reached) {
      try {
        makeFolder(resolve(directory));
        checkApart(directory, folder);
        closeSync(openSync(file(reached.store), 'a', 0o600));
        descriptor ??= openSync(file(reached.store), 'r+');
        write(reached);
        write(reached);
        fsyncSync(descriptor);
        syncFolder(directory);
      } catch (error) {
        if (error instanceof CapError) throw error;
        throw new CapError(
          'unavailable',
          'the sentinel of this state cannot be kept in the folder for it: let that be written, or name another with --sentinel DIR',
        );
      }
    },
    note(reached) {
      if (closed) return;
      try {
        write(reached);
      } catch {
        // It may be behind.
      }
    },
    close() {
      closed = true;
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

/** The file that earlier versions kept beside the store's folder: read once, then removed. */
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
          // It is not read any more.
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
      'the folder for the sentinel lies inside the state, and would be put back with it: name another with --sentinel DIR',
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

function reachedFrom(place: Buffer): Reached | undefined {
  const [sum = '', ...said] = place.toString('latin1').trimEnd().split(' ');
  const [store, commits = '', seq, hash = ''] = said;
  if (store === undefined || ![commits, seq ?? '0'].every((text) => /^\d{1,15}$/.test(text))) return undefined;
  if (crc(said.join(' ')) !== sum) return undefined;
  return {
    store,
    commits: Number(commits),
    ...(seq === undefined ? {} : { head: { seq: Number(seq), hash: hash === NONE ? '' : hash } }),
  };
}
