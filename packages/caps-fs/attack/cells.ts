/** What is attacked how: each cell is one kind of swap against one operation, of the cap and of the control. */
import fs from 'node:fs';
import path from 'node:path';
import type { FsCap } from '../src/index.ts';
import { type Arena, type Doors, LANES, OUTSIDE_NAME, pairsOf, SECRET, type Swap, type Thing } from './arena.ts';
import type { Naive } from './naive.ts';

export interface Cell {
  readonly name: string;
  readonly swap: Swap;
  /** Answers what was given out; what was done to the outside the arena sees itself. */
  cap(cap: FsCap, lane: number, arena: Arena): Promise<string>;
  control(naive: Naive, lane: number): Promise<string>;
  /** Where one call looks at many swapped names: how many, and how many of them its answer shows to have been the inside's. */
  readonly met?: number;
  through?(given: string): number;
  readonly doors?: readonly Doors[];
  /** What each lane works on. */
  readonly things?: readonly Thing[];
  /** Takes back what an attempt that came through did inside, so that the next one has the same to do. */
  mend?(arena: Arena, lane: number): void;
}

const text = (bytes: Uint8Array | undefined): string => new TextDecoder().decode(bytes);
const nothing = async (done: Promise<unknown>): Promise<string> => {
  await done;
  return '';
};

const dir: Swap = ['exchange', 'dir', 'dirlink'];
const file: Swap = ['exchange', 'file', 'filelink'];
const deep: Swap = ['exchange', 'a/b/c', 'clink'];
const doorsOf = (directories: number, files: number): Required<Pick<Cell, 'doors' | 'met'>> & { swap: Swap } => {
  const doors = { in: 'doors', directories, files };
  return { doors: [doors], met: directories + files, swap: ['exchange', ...pairsOf(doors).flat()] };
};
const treeDoors = 16;
const trees: readonly Doors[] = Array.from({ length: LANES }, (_, lane) => ({
  in: `tree${lane}`,
  links: `held${lane}`,
  directories: treeDoors,
  files: 0,
}));
const count = (text: string, part: string): number => text.split(part).length - 1;
const aim: Swap = ['relink', 'aim', 'dir', 'OUTSIDE'];
const five = 'a/b/c/d/e/secret';
/** In place of a size: what has another one is not the file that is inside. */
const sized = (size: number): string => (size === SECRET.length ? SECRET : '');

const unlink =
  (where: 'dir' | 'root', name: string) =>
  (arena: Arena, lane: number): void =>
    fs.unlinkSync(where === 'dir' ? arena.inDir(`${name}${lane}`) : path.join(arena.root, `${name}${lane}`));

const reading = (name: string, swap: Swap, path: string): Cell => ({
  name: `read, ${name}`,
  swap,
  cap: async (cap) => text(await cap.read(path)),
  control: async (naive) => text(await naive.read(path)),
});

export const cells: readonly Cell[] = [
  reading('directory swapped', dir, 'dir/secret'),
  reading('file swapped', file, 'file'),
  reading('five deep', deep, five),
  reading('by an inner link', dir, 'via/secret'),
  reading('link re-aimed', aim, 'aim/secret'),
  {
    name: 'readText, directory swapped',
    swap: dir,
    cap: (cap) => cap.readText('dir/secret'),
    control: async (naive) => text(await naive.read('dir/secret')),
  },
  {
    name: 'openRead, file swapped',
    swap: file,
    async cap(cap) {
      const source = await cap.openRead('file');
      const first = text(await source.next());
      await source.return();
      return first;
    },
    control: async (naive) => text(await naive.read('file')),
  },
  {
    name: 'list, directory swapped',
    swap: dir,
    cap: async (cap) => (await cap.list('dir')).join(),
    control: async (naive) => (await naive.list('dir')).join(),
  },
  {
    name: 'list, link re-aimed',
    swap: aim,
    cap: async (cap) => (await cap.list('aim')).join(),
    control: async (naive) => (await naive.list('aim')).join(),
  },
  {
    name: 'entries, directory swapped',
    swap: dir,
    cap: async (cap) => (await cap.entries('dir')).map(({ name, size }) => `${name}${sized(size)}`).join(),
    control: async (naive) => (await naive.list('dir')).join(),
  },
  {
    name: 'stat, directory swapped',
    swap: dir,
    cap: async (cap) => sized((await cap.stat('dir/secret')).size),
    control: async (naive) => sized((await naive.stat('dir/secret')).size),
  },
  {
    name: 'subdir and read, directory swapped',
    swap: dir,
    async cap(cap) {
      const sub = await cap.subdir('dir');
      try {
        return text(await sub.read('secret'));
      } finally {
        await sub.close();
      }
    },
    control: async (naive) => text(await (await naive.subdir('dir')).read('secret')),
  },
  {
    name: 'write a new name, directory swapped',
    swap: dir,
    mend: unlink('dir', 'made'),
    cap: (cap, lane) => nothing(cap.write(`dir/made${lane}`, 'inside', { create: 'new' })),
    control: (naive, lane) => nothing(naive.write(`dir/made${lane}`, 'inside')),
  },
  {
    name: 'write, five deep',
    swap: deep,
    cap: (cap) => nothing(cap.write('a/b/c/d/e/secret', 'inside')),
    control: (naive) => nothing(naive.replace('a/b/c/d/e/secret', 'inside')),
  },
  {
    name: 'write, file swapped',
    swap: file,
    mend: (arena) => arena.mendPair(),
    cap: (cap) => nothing(cap.write('file', 'inside')),
    control: (naive) => nothing(naive.replace('file', 'inside')),
  },
  {
    name: 'openWrite, link re-aimed',
    swap: aim,
    mend: unlink('dir', 'made'),
    async cap(cap, lane) {
      const sink = await cap.openWrite(`aim/made${lane}`);
      await sink.write(new TextEncoder().encode('inside'));
      return await nothing(sink.close());
    },
    control: (naive, lane) => nothing(naive.write(`aim/made${lane}`, 'inside')),
  },
  {
    name: 'append, directory swapped',
    swap: dir,
    things: ['log'],
    cap: (cap, lane) => nothing(cap.append(`dir/log${lane}`, 'x')),
    control: (naive, lane) => nothing(naive.append(`dir/log${lane}`, 'x')),
  },
  {
    name: 'append, file swapped',
    swap: file,
    cap: (cap) => nothing(cap.append('file', 'x')),
    control: (naive) => nothing(naive.append('file', 'x')),
  },
  {
    name: 'edit, directory swapped',
    swap: dir,
    things: ['edit'],
    mend: (arena, lane) => fs.writeFileSync(arena.inDir(`edit${lane}`), 'inside'),
    cap: (cap, lane) => nothing(cap.edit(`dir/edit${lane}`, [{ oldText: 'side', newText: 'changed' }])),
    control: (naive, lane) => nothing(naive.edit(`dir/edit${lane}`, 'side', 'changed')),
  },
  {
    name: 'mkdir, directory swapped',
    swap: dir,
    mend: (arena, lane) => fs.rmdirSync(arena.inDir(`made${lane}`)),
    cap: (cap, lane) => nothing(cap.mkdir(`dir/made${lane}`)),
    control: (naive, lane) => nothing(naive.mkdir(`dir/made${lane}`)),
  },
  {
    // By the link: `dir` itself could be made anew in the gap, in the attacker's way.
    name: 'mkdir recursive, by an inner link',
    swap: dir,
    mend(arena, lane) {
      for (const made of ['/x/y', '/x', '']) fs.rmdirSync(arena.inDir(`made${lane}${made}`));
    },
    cap: (cap, lane) => nothing(cap.mkdir(`via/made${lane}/x/y`, { recursive: true })),
    control: async (naive, lane) => {
      await naive.mkdir(`via/made${lane}`);
      return await nothing(naive.mkdir(`via/made${lane}/x`));
    },
  },
  {
    name: 'remove, directory swapped',
    swap: dir,
    things: ['victim'],
    mend: (arena, lane) => fs.writeFileSync(arena.inDir(`victim${lane}`), 'inside'),
    cap: (cap, lane) => nothing(cap.remove(`dir/victim${lane}`)),
    control: (naive, lane) => nothing(naive.remove(`dir/victim${lane}`)),
  },
  {
    name: 'remove recursive, directory swapped',
    swap: dir,
    things: ['tree'],
    mend(arena, lane) {
      fs.mkdirSync(arena.inDir(`tree${lane}`));
      fs.writeFileSync(arena.inDir(`tree${lane}/x`), 'inside');
    },
    cap: (cap, lane) => nothing(cap.remove(`dir/tree${lane}`, { recursive: true })),
    control: (naive, lane) => nothing(naive.remove(`dir/tree${lane}`, true)),
  },
  {
    name: 'rename out of it, directory swapped',
    swap: dir,
    things: ['victim'],
    mend: (arena, lane) => fs.renameSync(path.join(arena.root, `moved${lane}`), arena.inDir(`victim${lane}`)),
    cap: (cap, lane) => nothing(cap.rename(`dir/victim${lane}`, `moved${lane}`)),
    control: (naive, lane) => nothing(naive.rename(`dir/victim${lane}`, `moved${lane}`)),
  },
  {
    name: 'rename into it, directory swapped',
    swap: dir,
    things: ['own'],
    mend: (arena, lane) => fs.renameSync(arena.inDir(`renamed${lane}`), path.join(arena.root, `own${lane}`)),
    cap: (cap, lane) => nothing(cap.rename(`own${lane}`, `dir/renamed${lane}`)),
    control: (naive, lane) => nothing(naive.rename(`own${lane}`, `dir/renamed${lane}`)),
  },
  {
    name: 'copy out of it, directory swapped',
    swap: dir,
    mend: unlink('root', 'stolen'),
    async cap(cap, lane) {
      await cap.copy('dir/secret', `stolen${lane}`);
      return text(await cap.read(`stolen${lane}`));
    },
    async control(naive, lane) {
      await naive.copy('dir/secret', `stolen${lane}`);
      return text(await naive.read(`stolen${lane}`));
    },
  },
  {
    name: 'copy into it, directory swapped',
    swap: dir,
    mend: unlink('dir', 'copied'),
    cap: (cap, lane) => nothing(cap.copy('other', `dir/copied${lane}`)),
    control: (naive, lane) => nothing(naive.copy('other', `dir/copied${lane}`)),
  },
  {
    name: 'entries, many files swapped',
    ...doorsOf(0, 64),
    // Twice as many names: each pair is two of them, and each is looked at.
    met: 128,
    through: (given) => count(given, 'file'),
    cap: async (cap) =>
      (await cap.entries('doors')).map(({ kind, size }) => (kind === 'file' ? `file${sized(size)}` : '')).join(),
    control: async (naive) => (await naive.entries('doors')).map(sized).join(),
  },
  {
    name: 'remove recursive, directories in it swapped',
    swap: ['exchange', ...trees.flatMap(pairsOf).flat()],
    doors: trees,
    met: treeDoors,
    mend: (arena, lane) => trees.slice(lane, lane + 1).forEach(arena.plant),
    cap: (cap, lane) => nothing(cap.remove(`tree${lane}`, { recursive: true })),
    control: (naive, lane) => nothing(naive.removeTree(`tree${lane}`)),
  },
  {
    name: 'search, directories and files swapped',
    ...doorsOf(16, 48),
    through: (given) => count(given, 'inside'),
    cap: async (cap) => JSON.stringify(await cap.search('side', { path: 'doors' })),
    control: (naive) => naive.search('doors'),
  },
  {
    // A pattern is looked for in a thread of its own.
    name: 'search for a pattern, directories and files swapped',
    ...doorsOf(16, 48),
    through: (given) => count(given, 'inside'),
    cap: async (cap) => JSON.stringify(await cap.search({ pattern: 'si.e' }, { path: 'doors' })),
    control: (naive) => naive.search('doors'),
  },
  {
    name: 'glob, directories swapped',
    ...doorsOf(64, 0),
    through: (given) => count(given, '/secret'),
    cap: async (cap) => (await cap.glob('doors/**')).join(),
    control: async (naive) => (await naive.glob('doors')).join(),
  },
];

export function isOutside(given: string): boolean {
  return given.includes(SECRET) || given.includes(OUTSIDE_NAME);
}
