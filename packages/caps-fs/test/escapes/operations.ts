/** Every operation of a cap on one path. Each returns as text all that it gave out. */
import { CapError } from '@hob/vat';
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
  'readTail',
  'readMany',
  'statFollow',
  'readlink',
  'tree',
  'searchReport',
  'writeParents',
  'writeAt',
  'truncate',
  'chmod',
  'setTimes',
  'symlink',
  'copyTreeFrom',
  'copyTreeTo',
  'renameOver',
  'renameOverFrom',
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
  readTail: (cap, path) => cap.readText(path, { tail: 1 }),
  readMany: async (cap, path) => {
    const [first] = await cap.readMany([path]);
    if (first === undefined || 'code' in first) throw new CapError(first?.code ?? 'none', first?.message ?? 'none');
    return JSON.stringify(first);
  },
  statFollow: async (cap, path) => JSON.stringify(await cap.stat(path, { follow: true, mode: true })),
  readlink: (cap, path) => cap.readlink(path),
  tree: async (cap, path) => JSON.stringify(await cap.tree(path)),
  searchReport: async (cap, path) => JSON.stringify(await cap.searchReport('side', { path })),
  writeParents: async (cap, path) => JSON.stringify(await cap.write(path, 'written', { parents: true })),
  writeAt: async (cap, path) => `${await cap.writeAt(path, 2, 'SIDE')}`,
  truncate: async (cap, path) => `${await cap.truncate(path, 3)}`,
  chmod: async (cap, path) => `${await cap.chmod(path, 0o751)}`,
  setTimes: async (cap, path) => `${await cap.setTimes(path, { mtime: 1_000, atime: 2_000 })}`,
  symlink: async (cap, path) => `${await cap.symlink('whole', path)}`,
  copyTreeFrom: async (cap, path) => {
    await cap.copy(path, 'copied', { recursive: true });
    return JSON.stringify([await cap.tree('.'), await cap.search('side', { path: 'copied' })]);
  },
  copyTreeTo: async (cap, path) => `${await cap.copy('whole', path, { recursive: true })}`,
  renameOver: async (cap, path) => `${await cap.rename('file', path, { replace: true })}`,
  renameOverFrom: async (cap, path) => `${await cap.rename(path, 'whole/file', { replace: true })}`,
};
