/** A disk that fails: `faults.c` counts the calls of stores in folders, and makes them fail. Needs Linux and `cc`. */
import { cpSync, mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { makeControl } from './control.ts';
import type { FaultGrounds, FaultLane } from './fault-ground.ts';
import { cut, type Disk, environmentOf, seal } from './powercut.ts';
import { buildShim } from './shim.ts';

export const faultyFolders: FaultGrounds = async (hard) => {
  let template = '';
  const storeAt = (folder: string, index: number): string => join(folder, 'lives', `${index}`, 'state', 'store');
  const folderOf = new Map<FaultLane, string>();
  return {
    founds: ['nothing', ...(hard ? (['a new folder'] as const) : []), 'a store that was killed'],
    errors: ['EIO', 'ENOSPC'],
    isRead: () => false, // reads do not fail here
    lanes: 2,
    lane(folder) {
      mkdirSync(folder, { recursive: true });
      const disk: Disk = { folder: join(folder, 'lives'), shadow: join(folder, 'shadow') };
      const control = join(folder, 'control');
      const lane: FaultLane = {
        environment: {
          ...(hard ? environmentOf(disk, '') : {}),
          LD_PRELOAD: [buildShim('faults'), ...(hard ? [buildShim('powercut')] : [])].join(' '),
          ...{ FAULTS_ROOT: disk.folder, FAULTS_CONTROL: control },
        },
        ...{ armer: join(import.meta.dirname, 'control.ts'), control },
        async begin(founds) {
          mkdirSync(disk.folder);
          makeControl(control);
          for (const [index, found] of founds.entries()) {
            const above = dirname(storeAt(folder, index));
            mkdirSync(above, { recursive: true });
            if (found === 'nothing') rmdirSync(above);
            if (found === 'a store that was killed') cpSync(dirname(template), above, { recursive: true });
          }
          if (hard) seal(disk);
          for (const [index, found] of founds.entries())
            if (found === 'a new folder') mkdirSync(storeAt(folder, index));
          return founds.map((_, index) => ({ folder: storeAt(folder, index) }));
        },
        async copied(look) {
          const copy = join(folder, 'copy');
          try {
            const store = storeAt(folder, 0);
            cpSync(dirname(store), copy, { recursive: true }); // with its sentinel
            return await look({ folder: join(copy, basename(store)) });
          } finally {
            rmSync(copy, { recursive: true, force: true });
          }
        },
        cut: async () => cut(disk, 'synced', () => 0),
        end: async () => rmSync(disk.folder, { recursive: true }),
      };
      folderOf.set(lane, folder);
      return lane;
    },
    async keep(lane) {
      template = storeAt(folderOf.get(lane) as string, 0);
    },
    close: async () => {},
  };
};
