/** The attack on operations that read: files, directories, links. */

import type { Swap } from '../arena.ts';
import { SECRET } from '../arena.ts';
import { aim, aimed, type Cell, deep, dir, file, sized, text } from '../cell.ts';

const five = 'a/b/c/d/e/secret';

/** A link text that names the outside counts as its secret. */
const aimOf = (given: string): string => (given === 'dir' ? '' : SECRET);

const reading = (name: string, swap: Swap, path: string): Cell => ({
  name: `read, ${name}`,
  swap,
  cap: async (cap) => text(await cap.read(path)),
  control: async (naive) => text(await naive.read(path)),
});

export const looking: readonly Cell[] = [
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
    name: 'readlink, link re-aimed',
    swap: aim,
    cap: (cap) => cap.readlink('aim').then(aimOf),
    control: (naive) => naive.readlink('aim').then(aimOf),
  },
  {
    name: 'stat of what a link leads to, file swapped',
    swap: file,
    cap: async (cap) => sized((await cap.stat('file', { follow: true })).size),
    control: async (naive) => sized((await naive.stat('file')).size),
  },
  {
    name: 'tail and many files, directory swapped',
    swap: dir,
    cap: async (cap) =>
      `${await cap.readText('dir/secret', { tail: 1 })}${JSON.stringify(await cap.readMany(['dir/secret']))}`,
    control: async (naive) => text(await naive.read('dir/secret')),
  },
  {
    name: 'stat of what a link leads to, link re-aimed',
    swap: aimed,
    cap: async (cap) => sized((await cap.stat('aimed', { follow: true })).size),
    control: async (naive) => sized((await naive.stat('aimed')).size),
  },
  {
    name: 'readlink, directory swapped',
    swap: dir,
    cap: (cap) => cap.readlink('dir/pointer'),
    control: (naive) => naive.readlink('dir/pointer'),
  },
  {
    name: 'tail and many files, link re-aimed',
    swap: aimed,
    cap: async (cap) => `${await cap.readText('aimed', { tail: 1 })}${JSON.stringify(await cap.readMany(['aimed']))}`,
    control: async (naive) => text(await naive.read('aimed')),
  },
];
