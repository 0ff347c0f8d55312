/** The attack on operations that change files: content, mode, times, size. */

import fs from 'node:fs';
import { aim, type Cell, deep, dir, file, nothing, unlink } from '../cell.ts';

export const changing: readonly Cell[] = [
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
    name: 'write with parents, by an inner link',
    swap: dir,
    mend: (arena, lane) => fs.rmSync(arena.inDir(`made${lane}`), { recursive: true }),
    cap: (cap, lane) => nothing(cap.write(`via/made${lane}/f`, 'inside', { parents: true })),
    async control(naive, lane) {
      await naive.mkdir(`via/made${lane}`);
      return await nothing(naive.write(`via/made${lane}/f`, 'inside'));
    },
  },
  {
    name: 'chmod, directory swapped',
    swap: dir,
    cap: (cap, lane) => nothing(cap.chmod('dir/secret', 0o600 + lane)),
    control: (naive, lane) => nothing(naive.chmod('dir/secret', 0o600 + lane)),
  },
  {
    name: 'chmod, file swapped',
    swap: file,
    cap: (cap, lane) => nothing(cap.chmod('file', 0o600 + lane)),
    control: (naive, lane) => nothing(naive.chmod('file', 0o600 + lane)),
  },
  {
    name: 'setTimes, file swapped',
    swap: file,
    cap: (cap, lane) => nothing(cap.setTimes('file', { mtime: 1_000 * lane })),
    control: (naive, lane) => nothing(naive.setTimes('file', 1_000 * lane)),
  },
  {
    name: 'truncate, file swapped',
    swap: file,
    cap: (cap, lane) => nothing(cap.truncate('file', 8 + lane)),
    control: (naive, lane) => nothing(naive.truncate('file', 8 + lane)),
  },
  {
    name: 'writeAt, directory swapped',
    swap: dir,
    cap: (cap) => nothing(cap.writeAt('dir/secret', 2, 'side')),
    control: (naive) => nothing(naive.writeAt('dir/secret', 'side')),
  },
  {
    name: 'chmod of a directory, five deep',
    swap: deep,
    cap: (cap, lane) => nothing(cap.chmod('a/b/c/d', 0o700 + lane)),
    control: (naive, lane) => nothing(naive.chmod('a/b/c/d', 0o700 + lane)),
  },
  {
    name: 'setTimes, five deep',
    swap: deep,
    cap: (cap, lane) => nothing(cap.setTimes('a/b/c/d/e/secret', { mtime: 1_000 * lane })),
    control: (naive, lane) => nothing(naive.setTimes('a/b/c/d/e/secret', 1_000 * lane)),
  },
  {
    name: 'truncate, directory swapped',
    swap: dir,
    cap: (cap, lane) => nothing(cap.truncate('dir/secret', 8 + lane)),
    control: (naive, lane) => nothing(naive.truncate('dir/secret', 8 + lane)),
  },
  {
    name: 'truncate, by a link that is re-aimed',
    swap: aim,
    cap: (cap, lane) => nothing(cap.truncate('aim/secret', 8 + lane)),
    control: (naive, lane) => nothing(naive.truncate('aim/secret', 8 + lane)),
  },
  {
    name: 'writeAt, file swapped',
    swap: file,
    cap: (cap) => nothing(cap.writeAt('file', 2, 'side')),
    control: (naive) => nothing(naive.writeAt('file', 'side')),
  },
];
