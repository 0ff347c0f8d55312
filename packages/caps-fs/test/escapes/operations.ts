/** Every operation of a cap on one path, each answering as text all that it gave out. */
import type { FsCap } from '../../src/index.ts';

type Operation = (cap: FsCap, path: string) => Promise<string>;

const text = (bytes: Uint8Array | undefined): string => new TextDecoder('latin1').decode(bytes);

// The columns of the table, in this order.
export const operationNames = [
  'read',
  'readText',
  'openRead',
  'copyFrom',
  'write',
  'edit',
  'openWrite',
  'append',
  'copyTo',
  'renameTo',
  'renameFrom',
  'mkdir',
  'mkdirs',
  'remove',
  'removeAll',
  'stat',
  'list',
  'entries',
  'subdir',
  'search',
  'glob',
] as const;
export type OperationName = (typeof operationNames)[number];

export const operations: Readonly<Record<OperationName, Operation>> = {
  read: async (cap, path) => text(await cap.read(path)),
  readText: (cap, path) => cap.readText(path),
  openRead: async (cap, path) => {
    const source = await cap.openRead(path);
    const first = await source.next();
    await source.return();
    return text(first);
  },
  copyFrom: async (cap, path) => {
    await cap.copy(path, 'copied');
    return text(await cap.read('copied'));
  },
  write: async (cap, path) => JSON.stringify(await cap.write(path, 'written')),
  edit: async (cap, path) => JSON.stringify(await cap.edit(path, [{ oldText: 'inside', newText: 'edited' }])),
  openWrite: async (cap, path) => {
    const sink = await cap.openWrite(path);
    await sink.write(new TextEncoder().encode('streamed'));
    await sink.close();
    return '';
  },
  append: async (cap, path) => `${await cap.append(path, 'appended')}`,
  copyTo: async (cap, path) => `${await cap.copy('file', path)}`,
  renameTo: async (cap, path) => `${await cap.rename('file', path)}`,
  renameFrom: async (cap, path) => `${await cap.rename(path, 'renamed')}`,
  mkdir: async (cap, path) => `${await cap.mkdir(path)}`,
  mkdirs: async (cap, path) => `${await cap.mkdir(path, { recursive: true })}`,
  remove: async (cap, path) => `${await cap.remove(path)}`,
  removeAll: async (cap, path) => `${await cap.remove(path, { recursive: true })}`,
  stat: async (cap, path) => JSON.stringify(await cap.stat(path)),
  list: async (cap, path) => (await cap.list(path)).join(),
  entries: async (cap, path) => JSON.stringify(await cap.entries(path)),
  subdir: async (cap, path) => {
    const sub = await cap.subdir(path);
    try {
      return (await sub.list()).join();
    } finally {
      await sub.close();
    }
  },
  search: async (cap, path) => JSON.stringify(await cap.search('side', { path })),
  glob: async (cap, path) => (await cap.glob(path)).concat(await cap.glob(`${path}/*`)).join(),
};
