/** The grounds of the fault table: folders of SQLite on a disk that fails, and a PostgreSQL server that fails. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { type Control, ERRORS } from '../../packages/store-postgres/test/faulty-way.ts';
import type { FaultGrounds, FaultLane } from '../../packages/vat/crash/fault-ground.ts';
import { faultyFolders } from '../../packages/vat/crash/faulty-folders.ts';
import type { Place } from '../../packages/vat/crash/here.ts';
import { openCluster } from '../postgres-cluster.ts';
import { copyStore, dropStore, placeIn } from './schemas.ts';

const ARMER = join(import.meta.dirname, '..', '..', 'packages', 'store-postgres', 'test', 'faulty-way.ts');

/**
 * Each statement fails in turn. A server has no counterpart of a folder that the disk does not know yet: the schema and
 * its tables are made in one transaction, and its statements fail in turn, too. When the power fails, all processes of
 * the server are killed.
 */
const faultyServer: FaultGrounds = async (hard) => {
  const cluster = await openCluster();
  const stores = new Map<FaultLane, readonly Place[]>();
  let template: Place | undefined;
  let schemas = 0;
  const make = (folder: string): Place => placeIn(cluster, `life_${(schemas += 1)}`, folder);
  return {
    founds: ['nothing', 'a store that was killed'],
    errors: ERRORS,
    isRead: (what) => what.startsWith('SELECT'),
    // A server can only be killed for all lanes at once.
    lanes: hard ? 1 : 2,
    lane(folder) {
      const way = join(folder, 'way');
      mkdirSync(way, { recursive: true });
      const control: Control = { here: join(way, '.s.PGSQL.5432'), there: join(cluster.socket, '.s.PGSQL.5432') };
      const placesOf = (): readonly Place[] => stores.get(lane) ?? [];
      const lane: FaultLane = {
        ...{ environment: {}, armer: ARMER, control },
        async begin(founds) {
          const places = founds.map((_, index) => make(join(folder, 'lives', String(index))));
          stores.set(lane, places);
          for (const [index, found] of founds.entries())
            if (found === 'a store that was killed')
              await copyStore(cluster, template as Place, places[index] as Place);
          return places;
        },
        async copied(look) {
          const copy = make(join(folder, 'copy'));
          await copyStore(cluster, placesOf()[0] as Place, copy);
          try {
            return await look(copy);
          } finally {
            await dropStore(cluster, copy);
          }
        },
        async cut() {
          await cluster.kill();
          await cluster.start();
          await cluster.sql`SELECT 1`.catch(() => {}); // that connection was lost
        },
        async end() {
          for (const place of placesOf()) await dropStore(cluster, place);
        },
      };
      return lane;
    },
    async keep(lane) {
      template = stores.get(lane)?.[0];
    },
    close: () => cluster.remove(),
  };
};

export const faultGrounds: Readonly<Record<'sqlite' | 'postgres', FaultGrounds>> = {
  sqlite: faultyFolders,
  postgres: faultyServer,
};
