/**
 * Measures the parts of a call of an agent, each alone, in us: a turn, a forwarder, a ledger line, its hash, a durable
 * turn, a commit and an fsync. The wire alone is measured as the peer in `as-shipped.ts`.
 *
 * Promise: a part contains another one only if its name says so. Nothing else runs in this process meanwhile.
 */
import { randomBytes } from 'node:crypto';
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { revocable } from '@hob/revocable';
import { type Definition, define, E, type Far, openStore, openVats, spawn } from '@hob/vat';
import { sha256 } from '@hob/vat/forwarder';
import { BareCommits } from './bare-commits.ts';
import { Counter, definitions } from './durable-actors.ts';
import type { Case } from './measure.ts';

const { commitment, makeLine } = (await import(
  new URL('../packages/vat/src/ledger/line.ts', import.meta.url).href
)) as {
  makeLine(parts: object): { readonly bytes: Uint8Array };
  commitment(args: { readonly salt: Uint8Array; readonly bytes: Uint8Array }): string;
};

export interface CallParts {
  readonly cases: readonly Case[];
  /** Writes 4 KiB into a file and waits for the disk, as SQLite does: the file does not grow. */
  fsync(): void;
  close(): Promise<void>;
}

interface Cell {
  ping(text: string): string;
}
const Cell: Definition<Cell, []> = define('Cell', () => ({ ping: (text) => text }));

const fields = { grant: 'g001-ab3d', session: 'work-ab3d1', method: 'ping' };
const args = { salt: randomBytes(32), bytes: new TextEncoder().encode('["hello"]') };
const aLine = (): { readonly bytes: Uint8Array } =>
  makeLine({ seq: 7, t: 1_764_000_000_000, vt: 3_600_000, kind: 'call', fields, prev: sha256('') });

const lineBytes = aLine().bytes;

/** Calls `body` `n` times, one after the other. Returns us for each. */
async function each(n: number, body: () => unknown): Promise<number> {
  const began = performance.now();
  for (let i = 0; i < n; i += 1) await body();
  return ((performance.now() - began) * 1000) / n;
}
function eachAtOnce(n: number, body: () => unknown): number {
  const began = performance.now();
  for (let i = 0; i < n; i += 1) body();
  return ((performance.now() - began) * 1000) / n;
}

/** `folder` is on the disk that is measured. */
export async function callParts(folder: string): Promise<CallParts> {
  const vats = await openVats();
  const vat = vats.vat('parts');
  const [cell, granted] = (await vat.turn(() => {
    const behind = spawn(Cell());
    return [behind, revocable(behind, {}).cap];
  })) as unknown as readonly [Far<Cell>, Far<Cell>];
  const store = await openStore({ path: join(folder, 'parts') });
  const durable = await openVats({ store, definitions });
  const counter = await durable.vat('parts').root('counter', () => Counter(0));
  const bare = new BareCommits(folder);
  const file = join(folder, 'page');
  const descriptor = openSync(file, 'w');
  const page = Buffer.alloc(4096);
  const fsync = (): void => {
    writeSync(descriptor, page, 0, page.length, 0);
    fdatasyncSync(descriptor);
  };
  const cases: readonly Case[] = [
    {
      name: 'part: a turn and its answer, in memory',
      n: 1000,
      unit: 'us',
      ours: (n) => each(n, () => E(cell).ping('x')),
    },
    {
      name: 'part: the same through a grant, in memory, vs without',
      n: 1000,
      unit: 'us',
      ours: (n) => each(n, () => E(granted).ping('x')),
      peer: (n) => each(n, () => E(cell).ping('x')),
    },
    {
      name: 'part: a ledger line with the commitment to its arguments',
      n: 5000,
      unit: 'us',
      ours: (n) => eachAtOnce(n, () => [aLine(), commitment(args)]),
    },
    {
      name: 'part: the hash of such a line',
      n: 20_000,
      unit: 'us',
      ours: (n) => eachAtOnce(n, () => sha256(lineBytes)),
    },
    {
      name: 'part: a commit of one row and one line in a thread, vs one fsync',
      n: 200,
      unit: 'us',
      ours: (n) => each(n, () => bare.commit('part', 'x')),
      peer: (n) => eachAtOnce(n, fsync),
    },
    {
      name: 'part: a durable turn with one line, vs such a commit',
      n: 200,
      unit: 'us',
      ours: (n) => each(n, () => E(counter).next()),
      peer: (n) => each(n, () => bare.commit('part', 'x')),
    },
  ];
  return {
    cases,
    fsync,
    async close() {
      await bare.close();
      await durable.close();
      await store.close();
      closeSync(descriptor);
      rmSync(file);
    },
  };
}
