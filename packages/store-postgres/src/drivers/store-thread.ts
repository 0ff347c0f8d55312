/** Entry point of the store's thread. It speaks to the server, so a slow server does not stop the vats. */

import { bootClock, type Query, type Sentinel, sentinelOf, serveThread, unpacked } from '@hob/vat/engine';
import { CapError } from '@hob/vat/errors';
import type { Server } from '../address.ts';
import { hostsOf } from '../hosts.ts';
import { openLive, type StoreOptions } from '../live-store.ts';
import { timesOf } from '../reads.ts';
import { checkServer } from '../server.ts';
import { prepareThread } from './client-thread.ts';
import { connect } from './connection.ts';

export interface Given {
  readonly server: Server;
  readonly sentinel: string | undefined;
  readonly options: StoreOptions;
}

prepareThread();
const now = bootClock();

serveThread(async ({ server, sentinel, options }: Given, notify) => {
  const { host, port, database } = server;
  const place = { name: () => `postgres ${host} ${port} ${database} ${options.schema}`, checkApart: () => {} };
  const store = await openLive(
    {
      async connect() {
        const connection = await connect(server);
        await checkServer(connection, options.schema);
        return connection;
      },
      sentinel: (): Sentinel | undefined => (sentinel === undefined ? undefined : sentinelOf(sentinel, place)),
      // This clock goes on while the machine sleeps, as leases do.
      now,
      sleep: (ms) => new Promise((then) => setTimeout(then, ms)),
      every: (ms, run) => {
        const timer = setInterval(run, ms);
        return () => clearInterval(timer);
      },
      onFailure: notify,
    },
    options,
  );
  return {
    opened: () => store.opened,
    key: () => store.key,
    write: (...items: Parameters<typeof unpacked>[0]) => store.write(unpacked(items)),
    confirm: () => store.confirm(),
    read: (...query: Query) => store.read(...query),
    hosts: () => store.asks((connection) => hostsOf(connection, options.schema)),
    times: (from: number, limit: number) => store.asks((connection) => timesOf(connection, from, limit)),
    scrub: () => store.scrub(),
    refill: () => store.refill(),
    reopen: () => store.reopen(),
    trust: () => store.trust(),
    backup: () => {
      throw new CapError(
        'unavailable',
        'a store in PostgreSQL is backed up with its own tools: pg_basebackup, pg_dump',
      );
    },
    close: () => store.close(),
  };
});
