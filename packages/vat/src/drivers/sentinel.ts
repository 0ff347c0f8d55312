/**
 * What a store is known to have reached, kept beside its folder: by this a store that was put back to an earlier state is known.
 *
 * Promise: what it says was on the disk before it said it, so a store is never behind its sentinel by chance, also after a power
 * cut. It is no secret and stops nobody who can write both; for that there are anchors of the ledger.
 *
 * Two places are written by turns, each with a check sum: one that was torn by a power cut leaves the other.
 */
import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { crc } from './hash.ts';

export interface Reached {
  /** Which store: made once, copied with it. */
  readonly store: string;
  /** How many commits it had, over all its openings. */
  readonly commits: number;
}

export interface Sentinel {
  /** What it says; undefined where it says nothing that can be trusted. */
  read(): Reached | undefined;
  /** Durable on return; answers whether it can be kept there at all. */
  begin(reached: Reached): boolean;
  /** Not waited for, and not forced to the disk: at worst a roll-back of the last moments passes. */
  note(reached: Reached): void;
  close(): void;
}

const PLACE = 128;

export function sentinelOf(folder: string): Sentinel {
  const whole = resolve(folder);
  const file = join(dirname(whole), `${basename(whole)}.sentinel`);
  let descriptor: number | undefined;
  let turn = 0;
  let closed = false;

  const open = (): number => {
    descriptor ??= openSync(file, 'r+');
    return descriptor;
  };
  const write = (reached: Reached): void => {
    const text = `${reached.store} ${reached.commits}`;
    turn = 1 - turn;
    writeSync(open(), `${crc(text)} ${text}`.padEnd(PLACE - 1).concat('\n'), turn * PLACE);
  };
  return {
    read() {
      const both = Buffer.alloc(2 * PLACE);
      try {
        readSync(open(), both, 0, both.length, 0);
      } catch {
        return undefined;
      }
      const said = [both.subarray(0, PLACE), both.subarray(PLACE)].map(reachedFrom);
      const latest = Math.max(...said.map((one) => one?.commits ?? -1));
      const found = said.findIndex((one) => one?.commits === latest);
      turn = Math.max(found, 0);
      return said[found];
    },
    begin(reached) {
      try {
        descriptor ??= openSync(file, 'a+', 0o600);
        closeSync(descriptor);
        descriptor = undefined;
        write(reached);
        write(reached);
        fsyncSync(open());
        syncName(dirname(file));
        return true;
      } catch {
        return false;
      }
    },
    note(reached) {
      if (closed) return;
      try {
        write(reached);
      } catch {
        // Behind is what it may be.
      }
    },
    close() {
      closed = true;
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

function reachedFrom(place: Buffer): Reached | undefined {
  const text = place.toString('latin1').trimEnd();
  const [sum, store, commits] = text.split(' ');
  if (store === undefined || !/^\d{1,15}$/.test(commits ?? '') || crc(`${store} ${commits}`) !== sum) return undefined;
  return { store, commits: Number(commits) };
}

function syncName(folder: string): void {
  if (process.platform === 'win32') return;
  const descriptor = openSync(folder, 'r');
  try {
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
}
