/** The grounds of the crash table: folders of SQLite, and a PostgreSQL server. */
import { join } from 'node:path';
import { folders } from '../../packages/vat/crash/folders.ts';
import type { Death, Grounds } from '../../packages/vat/crash/ground.ts';
import { openCluster } from '../postgres-cluster.ts';
import { copyStore, dropStore, placeIn } from './schemas.ts';

/**
 * Stores in a server of their own. When the power fails, the host and all processes of the server are killed together.
 * The server then recovers. It may lose nothing that it reported, also if the kernel had not written it yet. PostgreSQL
 * itself promises that its disk holds the data after a power cut (`fsync`). The disk is not simulated.
 */
const schemas: Grounds = async ({ mode, scratch, chance }) => {
  const cluster = await openCluster();
  return {
    async next(number) {
      const folder = join(scratch, `store-${number}`);
      const place = placeIn(cluster, `store_${number}`, join(folder, 'state'));
      const copy = placeIn(cluster, `copy_${number}`, join(folder, 'copy'));
      return {
        place,
        environment: {},
        death(): Death {
          const isCut = mode === 'power' && chance(5) > 0;
          let over: Promise<void> | undefined;
          return {
            isCut,
            strike(process) {
              process.kill('SIGKILL');
              if (isCut) over ??= cluster.kill();
            },
            async *remains() {
              if (isCut) {
                await over;
                await cluster.start();
                await cluster.sql`SELECT 1`.catch(() => {}); // that connection was lost
              }
              yield isCut ? 'host and server killed' : 'kill';
            },
          };
        },
        async copied(look) {
          await copyStore(cluster, place, copy);
          try {
            return await look(copy);
          } finally {
            await dropStore(cluster, copy);
          }
        },
        kept: undefined, // the server's files go with it
        remove: () => dropStore(cluster, place),
      };
    },
    // A host waits for half a second, because the previous one may come back.
    openingMs: 900,
    close: () => cluster.remove(),
  };
};

export const grounds: Readonly<Record<'sqlite' | 'postgres', Grounds>> = { sqlite: folders, postgres: schemas };
