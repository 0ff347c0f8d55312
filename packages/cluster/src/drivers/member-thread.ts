/** Entry point of the thread of a cluster, which speaks to the database. */
import { checkServer, connect, prepareThread, type Server } from '@hob/store-postgres/connection';
import { serveThread } from '@hob/vat/engine';
import { join } from '../membership.ts';
import type { Change, Self } from '../rows.ts';
import { SCHEMA } from '../tables.ts';

export interface Given {
  readonly server: Server;
  /** Undefined if this process only manages the cluster. */
  readonly self: Self | undefined;
}

prepareThread();

serveThread(async ({ server, self }: Given) => {
  const membership = await join(
    {
      async connect(heard) {
        const connection = await connect(server, heard);
        await checkServer(connection, SCHEMA);
        return connection;
      },
      now: () => performance.now(),
      after: (ms, then) => {
        const timer = setTimeout(then, ms);
        return () => clearTimeout(timer);
      },
    },
    self,
  );
  return {
    watch: (version: number) => membership.watch(version),
    look: () => membership.look(),
    change: (asked: Change) => membership.change(asked),
    freed: (tenant: string) => membership.freed(tenant),
    checkpoint: (tenant: string, note: string) => membership.checkpoint(tenant, note),
    entries: (after: number) => membership.entries(after),
    stores: (tenants: readonly string[]) => membership.stores(tenants),
    leave: () => membership.leave(),
    close: () => membership.close(),
  };
});
