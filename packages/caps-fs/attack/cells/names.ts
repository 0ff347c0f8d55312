/** The attack on operations that make, move and remove names. */
import fs from 'node:fs';
import path from 'node:path';
import { type Doors, pairsOf } from '../arena.ts';
import { aim, type Cell, count, dir, nothing, text, unlink } from '../cell.ts';

/** Few, because a copy is refused when it meets a link that leads out. */
const copied: Doors = { in: 'doors', links: 'held', directories: 2, files: 1 };

export const names: readonly Cell[] = [
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
    name: 'rename over something, directory swapped',
    swap: dir,
    things: ['own', 'victim'],
    mend(arena, lane) {
      fs.renameSync(arena.inDir(`victim${lane}`), path.join(arena.root, `own${lane}`));
      fs.writeFileSync(arena.inDir(`victim${lane}`), 'inside');
    },
    cap: (cap, lane) => nothing(cap.rename(`own${lane}`, `dir/victim${lane}`, { replace: true })),
    control: (naive, lane) => nothing(naive.rename(`own${lane}`, `dir/victim${lane}`)),
  },
  {
    name: 'symlink, directory swapped',
    swap: dir,
    mend: unlink('dir', 'linked'),
    cap: (cap, lane) => nothing(cap.symlink('secret', `dir/linked${lane}`)),
    control: (naive, lane) => nothing(naive.symlink('secret', `dir/linked${lane}`)),
  },
  {
    name: 'copy recursive, directory swapped',
    swap: dir,
    mend: (arena, lane) => fs.rmSync(path.join(arena.root, `stolen${lane}`), { recursive: true }),
    async cap(cap, lane) {
      await cap.copy('dir', `stolen${lane}`, { recursive: true });
      return text(await cap.read(`stolen${lane}/secret`));
    },
    async control(naive, lane) {
      await naive.copyTree('dir', `stolen${lane}`);
      return text(await naive.read(`stolen${lane}/secret`));
    },
  },
  {
    name: 'copy recursive into it, directory swapped',
    swap: dir,
    mend: (arena, lane) => fs.rmSync(arena.inDir(`copied${lane}`), { recursive: true }),
    cap: (cap, lane) => nothing(cap.copy('a/b/c/d', `dir/copied${lane}`, { recursive: true })),
    control: (naive, lane) => nothing(naive.copyTree('a/b/c/d', `dir/copied${lane}`)),
  },
  {
    name: 'rename out of it over something, directory swapped',
    swap: dir,
    things: ['own', 'victim'],
    mend(arena, lane) {
      fs.renameSync(path.join(arena.root, `own${lane}`), arena.inDir(`victim${lane}`));
      fs.writeFileSync(path.join(arena.root, `own${lane}`), 'inside');
    },
    cap: (cap, lane) => nothing(cap.rename(`dir/victim${lane}`, `own${lane}`, { replace: true })),
    control: (naive, lane) => nothing(naive.rename(`dir/victim${lane}`, `own${lane}`)),
  },
  {
    name: 'symlink, link re-aimed',
    swap: aim,
    mend: unlink('dir', 'linked'),
    cap: (cap, lane) => nothing(cap.symlink('secret', `aim/linked${lane}`)),
    control: (naive, lane) => nothing(naive.symlink('secret', `aim/linked${lane}`)),
  },
  {
    name: 'copy recursive, directories and files in it swapped',
    swap: ['exchange', ...pairsOf(copied).flat()],
    doors: [copied],
    met: 3,
    through: (given) => count(given, '"line"'),
    mend: (arena, lane) => fs.rmSync(path.join(arena.root, `stolen${lane}`), { recursive: true }),
    async cap(cap, lane) {
      await cap.copy('doors', `stolen${lane}`, { recursive: true });
      return JSON.stringify(await cap.search('side', { path: `stolen${lane}` }));
    },
    async control(naive, lane) {
      await naive.copyTree('doors', `stolen${lane}`);
      return await naive.search(`stolen${lane}`);
    },
  },
];
