/**
 * The directory cap beside raw `node:fs` and `fs.promises` by absolute path (no confinement),
 * realpath-then-open (a confinement that does not hold), and the MCP file server over its stdio.
 *
 * Promise: rounds alternate in one run. Files are cached, and in memory if the machine has such a place. A
 * row `sync` is the resolver by itself; all others go through the cap, with its admission queue and its
 * lifetime. Goals: docs/measurements/fs.md.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { neighbourCases } from './fs-neighbours.ts';
import { openMcp, serveOurs } from './fs-peers.ts';
import type { Case, Goal, Suite } from './measure.ts';

type Backend = 'proc' | 'native';
interface Walk {
  read(path: string): Uint8Array;
  stat(path: string): unknown;
  subdir(path: string): Walk;
  close(): void;
}
// Not part of the package's face: the cap has no synchronous one.
const inside = new URL('../packages/caps-fs/test/walk.ts', import.meta.url).href;
const { openWalk } = (await import(inside)) as { openWalk(backend: Backend, root: string): Walk };

const place = fs.existsSync('/dev/shm') ? '/dev/shm' : os.tmpdir();
const top = fs.mkdtempSync(path.join(place, 'caps-fs-bench-'));
const root = path.join(top, 'root');
const at = (name: string): string => path.join(root, name);
const small = 'x'.repeat(4096);
const smallBytes = new TextEncoder().encode(small);
const mib = 1 << 20;
const large = 64 * mib;

fs.mkdirSync(at('a/b/c/d'), { recursive: true });
fs.writeFileSync(at('a/b/c/d/file'), small);
fs.writeFileSync(at('large'), Buffer.alloc(large, 'x'));
fs.mkdirSync(at('wide'));
for (let i = 0; i < 10_000; i += 1) fs.writeFileSync(at(`wide/file-${i}`), '');
// 100 directories of 1,000 each: the walk; 40 of 100 with text in them: the search.
for (let d = 0; d < 100; d += 1) {
  fs.mkdirSync(at(`tree/${d}`), { recursive: true });
  for (let i = 0; i < 1_000; i += 1) fs.writeFileSync(at(`tree/${d}/${i}`), '');
}
const line = 'the quick brown fox jumps over the lazy dog 0123456789\n';
for (let d = 0; d < 40; d += 1) {
  fs.mkdirSync(at(`texts/${d}`), { recursive: true });
  for (let i = 0; i < 100; i += 1) fs.writeFileSync(at(`texts/${d}/${i}.txt`), line.repeat(200));
}
fs.writeFileSync(at('texts/7/needle.txt'), `${line.repeat(100)}a needle\n`);

const deep = 'a/b/c/d/file';
const whole = at(deep);

const times = (bound: number, of = ''): Goal => ({ text: `<= ${bound} x${of}`, met: ({ ratio }) => ratio <= bound });

/** Why a goal is missed, as profiles have it. */
const why = {
  sync: 'a file is looked at by O_PATH before it is opened, so that no FIFO or device ever is: in C the system calls take 1.84 times as long as those of raw; proc opens each name by itself and asks fdinfo for the mount, too',
  stat: 'proc opens each name by itself and asks fdinfo for the mount: six openings and six closings are nine tenths of it',
  write:
    'the target is looked at and the free space is asked for; proc finds each name by itself. With a disk the content is synced and the target found twice',
  stream: 'each part is a buffer of its own and a call through the life and the idle clock of the stream',
  list: 'proc takes an entry at a time, so that a directory of millions costs no more than the limit',
  search: 'each file is looked at by O_PATH and then opened; proc does that in one thread, a system call at a time',
  wire: 'each call wakes two processes and crosses a socket twice, as with the peer: a call of nothing takes 30 to 37 us of CPU a side, bare ws with JSON 18 to 25',
} as const;

const everyTime = async (n: number, body: () => Promise<unknown>): Promise<void> => {
  for (let i = 0; i < n; i += 1) await body();
};
/** 32 at once, which is more than the cap lets in. */
const inBatches = async (n: number, body: () => Promise<unknown>): Promise<void> => {
  for (let done = 0; done < n; done += 32) await Promise.all(Array.from({ length: 32 }, body));
};
const sync = (n: number, body: () => unknown): void => {
  for (let i = 0; i < n; i += 1) body();
};

/** The confinement that an attacker walks around: resolve, compare, use. */
async function checked(name: string): Promise<string> {
  const real = await fs.promises.realpath(at(name));
  if (!real.startsWith(`${root}/`)) throw new Error('outside');
  return real;
}

let written = 0;
async function replaceRaw(name: string, data: Uint8Array): Promise<void> {
  written += 1;
  const temporary = at(`${path.dirname(name)}/.t${written}`);
  await fs.promises.writeFile(temporary, data, { flag: 'wx' });
  await fs.promises.rename(temporary, at(name));
}

async function streamRaw(): Promise<void> {
  let got = 0;
  for await (const part of fs.createReadStream(at('large'), { highWaterMark: 256 * 1024 })) got += part.length;
  if (got !== large) throw new Error('bytes are missing');
}

async function streamOurs(cap: FsCap): Promise<void> {
  const source = await cap.openRead('large');
  let got = 0;
  for (let part = await source.next(); part !== undefined; part = await source.next()) got += part.length;
  if (got !== large) throw new Error('bytes are missing');
}

async function walkRaw(dir: string): Promise<number> {
  let count = 0;
  for (const entry of await fs.promises.readdir(dir, { withFileTypes: true })) {
    count += 1;
    if (entry.isDirectory()) count += await walkRaw(path.join(dir, entry.name));
  }
  return count;
}

async function searchRaw(dir: string, needle: string): Promise<number> {
  let hits = 0;
  for (const entry of await fs.promises.readdir(dir, { withFileTypes: true })) {
    const full = path.join(dir, entry.name);
    if (entry.isDirectory()) hits += await searchRaw(full, needle);
    else if ((await fs.promises.readFile(full)).includes(needle)) hits += 1;
  }
  return hits;
}

async function expectHits(answer: Promise<readonly unknown[]>, hits: number): Promise<void> {
  const found = (await answer).length;
  if (found !== hits) throw new Error(`${found} hits instead of ${hits}`);
}

/**
 * Unconfined, by path, in native code on both cores. It comes with the packages. If there is none for the
 * platform, the goal cannot be judged.
 */
const { rgPath = '' } = (await import('@vscode/ripgrep').catch(() => ({}))) as { readonly rgPath?: string };
const hasRipgrep = rgPath !== '';
const ripgrep = (): void => {
  const found = execFileSync(rgPath, ['-j2', '--fixed-strings', 'needle', at('texts')], { encoding: 'utf8' });
  if (found.trim().split('\n').length !== 1) throw new Error('no needle');
};

const ours = await serveOurs(root);
const backends = ours.backends as readonly Backend[];
const mcp = await openMcp(root);
const closing: (() => unknown)[] = [];

async function casesOf(backend: Backend): Promise<Case[]> {
  const native = backend === 'native';
  const cap = await openFsCap(root, { backend, limits: { maxReadBytes: large } });
  const held = await cap.subdir('a/b/c/d');
  const walk = openWalk(backend, root);
  const walkHeld = walk.subdir('a/b/c/d');
  const wire = await ours.open(backend);
  closing.push(
    () => wire.close(),
    () => walkHeld.close(),
    () => walk.close(),
    () => cap.close(),
  );
  const pick = (proc: number, other: number): Goal => times(native ? other : proc);
  const one = (name: string, spec: Omit<Case, 'name'>): Case => ({ name: `${backend}: ${name}`, rounds: 9, ...spec });
  const us = { unit: 'ns' } as const;
  return [
    one('read 4 KiB, depth 4, sync vs node:fs', {
      ...us,
      n: 2_000,
      ours: (n) => sync(n, () => walk.read(deep)),
      peer: (n) => sync(n, () => fs.readFileSync(whole)),
      whenMissed: why.sync,
      goal: pick(5, 1.3),
    }),
    one('read 4 KiB, depth 4 vs fs.promises', {
      ...us,
      n: 500,
      ours: (n) => everyTime(n, () => cap.read(deep)),
      peer: (n) => everyTime(n, () => fs.promises.readFile(whole)),
      goal: pick(1, 0.4),
    }),
    one('read 4 KiB, depth 4 vs realpath-then-open', {
      ...us,
      n: 500,
      ours: (n) => everyTime(n, () => cap.read(deep)),
      peer: (n) => everyTime(n, async () => fs.promises.readFile(await checked(deep))),
    }),
    one('read 4 KiB, depth 4, 32 at once vs fs.promises', {
      ...us,
      n: 1_600,
      ours: (n) => inBatches(n, () => cap.read(deep)),
      peer: (n) => inBatches(n, () => fs.promises.readFile(whole)),
    }),
    one('read 4 KiB, held subdir, sync vs node:fs', {
      ...us,
      n: 2_000,
      ours: (n) => sync(n, () => walkHeld.read('file')),
      peer: (n) => sync(n, () => fs.readFileSync(whole)),
      whenMissed: why.sync,
      goal: pick(5, 1.3),
    }),
    one('read 4 KiB, held subdir vs fs.promises', {
      ...us,
      n: 500,
      ours: (n) => everyTime(n, () => held.read('file')),
      peer: (n) => everyTime(n, () => fs.promises.readFile(whole)),
    }),
    one('stat, depth 4, sync vs node:fs', {
      ...us,
      n: 3_000,
      ours: (n) => sync(n, () => walk.stat(deep)),
      peer: (n) => sync(n, () => fs.statSync(whole)),
      whenMissed: why.stat,
      goal: pick(10, 2.7),
    }),
    one('stat, depth 4 vs fs.promises', {
      ...us,
      n: 1_500,
      ours: (n) => everyTime(n, () => cap.stat(deep)),
      peer: (n) => everyTime(n, () => fs.promises.stat(whole)),
      whenMissed: why.stat,
      goal: pick(1.5, 1.3),
    }),
    one('stat, depth 4 vs realpath-then-open', {
      ...us,
      n: 1_500,
      ours: (n) => everyTime(n, () => cap.stat(deep)),
      peer: (n) => everyTime(n, async () => fs.promises.stat(await checked(deep))),
    }),
    one('write 4 KiB atomic vs fs.promises', {
      ...us,
      n: 300,
      ours: (n) => everyTime(n, () => cap.write('a/b/c/d/w', smallBytes)),
      peer: (n) => everyTime(n, () => replaceRaw('a/b/c/d/v', smallBytes)),
      whenMissed: why.write,
      goal: pick(1.7, 0.45),
    }),
    one('read 64 MiB vs fs.promises', {
      ...us,
      n: 1,
      ours: () => everyTime(1, () => cap.read('large')),
      peer: () => everyTime(1, () => fs.promises.readFile(at('large'))),
      goal: times(1.2),
    }),
    one('stream 64 MiB, 256 KiB each vs createReadStream', {
      ...us,
      n: 1,
      ours: () => streamOurs(cap),
      peer: () => streamRaw(),
      whenMissed: why.stream,
      goal: times(1.2),
    }),
    one('list 10,000 vs fs.promises', {
      ...us,
      n: 4,
      ours: (n) => everyTime(n, () => cap.list('wide')),
      peer: (n) => everyTime(n, () => fs.promises.readdir(at('wide'))),
      whenMissed: why.list,
      goal: pick(1.2, 0.9),
    }),
    one('walk 100,100 entries vs readdir of fs.promises', {
      ...us,
      n: 1,
      rounds: 5,
      ours: () => expectHits(cap.glob('tree/**/none'), 0),
      peer: async () => {
        if ((await walkRaw(at('tree'))) !== 100_100) throw new Error('entries are missing');
      },
      goal: pick(1.5, 1.1),
      slow: true,
    }),
    one(`search 4,001 files, 44 MB vs ${hasRipgrep ? 'rg -j2' : 'readFile and includes'}`, {
      ...us,
      n: 1,
      rounds: 5,
      ours: () => expectHits(cap.search('needle', { path: 'texts' }), 1),
      peer: hasRipgrep
        ? ripgrep
        : async () => {
            if ((await searchRaw(at('texts'), 'needle')) !== 1) throw new Error('no needle');
          },
      ...(hasRipgrep ? { goal: times(2), whenMissed: why.search } : {}),
      slow: true,
    }),
    // Servers are asked for hours: what counts is what a call takes when both are warm, after some 2,000.
    one('over CapTP: read 4 KB vs the MCP server', {
      ...us,
      n: 2_000,
      rounds: 7,
      ours: (n) => everyTime(n, () => expectLength(wire.read(deep), 4096)),
      peer: (n) => everyTime(n, () => expectLength(mcp.read(deep), 4096)),
      whenMissed: why.wire,
      goal: { text: '>= 2 x its ops/s', met: ({ ratio }) => ratio <= 0.5 },
    }),
    one('over CapTP: read 4 KB, 32 at once vs the MCP server', {
      ...us,
      n: 3_200,
      rounds: 7,
      ours: (n) => inBatches(n, () => expectLength(wire.read(deep), 4096)),
      peer: (n) => inBatches(n, () => expectLength(mcp.read(deep), 4096)),
    }),
    one('over CapTP: write 4 KB vs the MCP server', {
      ...us,
      n: 2_000,
      rounds: 7,
      ours: (n) => everyTime(n, () => wire.write('a/b/c/d/w', small)),
      peer: (n) => everyTime(n, () => mcp.write('a/b/c/d/v', small)),
      whenMissed: why.wire,
      goal: { text: '>= 2 x its ops/s', met: ({ ratio }) => ratio <= 0.5 },
    }),
    one('over CapTP: a file of 64 MB vs the MCP server', {
      ...us,
      n: 1,
      rounds: 5,
      ours: () => expectLength(wire.readLarge('large'), large),
      peer: () => expectLength(mcp.readLarge('large'), large),
      goal: { text: '>= 5 x its throughput', met: ({ ratio }) => ratio <= 0.2 },
    }),
  ];
}

async function expectLength(answer: Promise<number>, length: number): Promise<void> {
  const got = await answer;
  if (got !== length) throw new Error(`${got} bytes instead of ${length}`);
}

const cases: Case[] = [];
for (const backend of backends) {
  const [more, close] = await neighbourCases(backend, root);
  cases.push(...(await casesOf(backend)), ...more);
  closing.push(close);
}

export const suite: Suite = {
  name: 'fs',
  cases,
  async close() {
    for (const close of closing) await close();
    await mcp.close();
    ours.close();
    fs.rmSync(top, { recursive: true, force: true });
  },
};
