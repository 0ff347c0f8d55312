/**
 * Stores in folders of a disk whose power can be cut (`powercut.ts`).
 *
 * Some stores find no folder above them: the names of new folders have to reach the disk, too. Others find a folder
 * that the disk does not know yet, as after a kill between mkdir and fsync.
 */
import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { Death, Grounds } from './ground.ts';
import { type CutKind, cut, type Disk, environmentOf, seal } from './powercut.ts';
import { buildShim } from './shim.ts';

/** Stores of SQLite. `power` simulates the disk, and needs Linux and `cc`. */
export const folders: Grounds = async ({ mode, scratch, chance }) => {
  const shim = mode === 'power' ? buildShim('powercut') : undefined;
  return {
    async next(number) {
      const where = join(scratch, `store-${number}`);
      const disk: Disk = { folder: join(where, 'disk'), shadow: join(where, 'shadow') };
      mkdirSync(disk.folder, { recursive: true });
      seal(disk);
      const folder = join(disk.folder, 'state', 'store');
      const found = chance(3);
      if (found > 0) mkdirSync(join(disk.folder, 'state'));
      if (found > 1) {
        seal(disk);
        mkdirSync(folder);
      }
      return {
        place: { folder },
        environment: shim === undefined ? {} : environmentOf(disk, shim),
        death(): Death {
          const kind: CutKind | undefined =
            shim === undefined ? undefined : ([undefined, 'synced', 'synced', 'mixed', 'mixed'] as const)[chance(5)];
          return {
            isCut: kind !== undefined,
            strike: (process) => void process.kill('SIGKILL'),
            async *remains() {
              // The kernel still writes all that the process had written.
              yield 'kill';
              if (kind === undefined) return;
              cut(disk, kind, chance);
              yield `power cut (${kind})`;
            },
          };
        },
        async copied(look) {
          const copy = join(where, 'copy');
          try {
            // The sentinel is beside the store, so it is copied too.
            const above = dirname(folder);
            if (existsSync(above)) cpSync(above, copy, { recursive: true });
            return await look({ folder: join(copy, basename(folder)) });
          } finally {
            rmSync(copy, { recursive: true, force: true });
          }
        },
        kept: where,
        remove: async () => rmSync(where, { recursive: true }),
      };
    },
    openingMs: 15,
    close: async () => {},
  };
};
