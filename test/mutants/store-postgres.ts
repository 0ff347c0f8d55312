/** The mechanisms of `packages/store-postgres`, each with the source text that leaves it out: see `mutant.ts`. */
import type { Mutant } from './mutant.ts';

const store = ['packages/store-postgres/src/store.test.ts'];
const faults = ['packages/store-postgres/src/faults.test.ts'];

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'postgres-fence',
    breaks: 'a host that was taken over goes on writing',
    file: 'packages/store-postgres/src/commit.ts',
    // Each opening counts as a commit, so either of the two comparisons stops the host before it.
    find: 'WHERE epoch = $1::bigint AND commits = $2::bigint RETURNING',
    replace: 'WHERE $1::bigint > 0 AND $2::bigint >= 0 RETURNING',
    tests: faults,
  },
  {
    name: 'postgres-environment',
    breaks: 'what a program did not give is taken from the environment',
    file: 'packages/store-postgres/src/drivers/store-thread.ts',
    find: 'delete process.env[name];',
    replace: 'void name;',
    tests: store,
  },
  {
    name: 'postgres-lease',
    breaks: 'a host takes the store of one that lives',
    file: 'packages/store-postgres/src/opening.ts',
    find: "return lock?.['free'] === true ? undefined :",
    replace: "return lock?.['free'] !== undefined ? undefined :",
    tests: store,
  },
  {
    name: 'postgres-lease-ends',
    breaks: 'a host that nobody hears of keeps the store for ever',
    file: 'packages/store-postgres/src/opening.ts',
    find: "if (owner?.['live'] !== true) return undefined;",
    replace: '',
    tests: faults,
  },
  {
    name: 'postgres-taken-over',
    breaks: 'a host that was taken over takes the store back',
    file: 'packages/store-postgres/src/opening.ts',
    find: 'if (epoch !== before.epoch) throw goneFrom();',
    replace: '',
    tests: faults,
  },
  {
    name: 'postgres-fsync',
    breaks: 'a server without fsync is taken for a durable one',
    file: 'packages/store-postgres/src/server.ts',
    find: "if (row?.['fsync'] !== 'on')",
    replace: "if (row?.['fsync'] === undefined)",
    tests: store,
  },
  {
    name: 'postgres-sync',
    breaks: 'a server that forgets commits is taken for a durable one',
    file: 'packages/store-postgres/src/server.ts',
    find: "if (sync !== 'on' && sync !== 'remote_apply')",
    replace: "if (sync === '')",
    also: [
      {
        file: 'packages/store-postgres/src/server.ts',
        find: "SET synchronous_commit = '${sync}'; ",
        replace: '',
      },
    ],
    tests: store,
  },
  {
    name: 'postgres-sync-set',
    breaks: 'a server that turns synchronous_commit off makes an open store forget commits',
    file: 'packages/store-postgres/src/server.ts',
    find: "SET synchronous_commit = '${sync}'; ",
    replace: '',
    tests: store,
  },
  {
    name: 'postgres-standby',
    breaks: 'a standby is taken for the server of a store',
    file: 'packages/store-postgres/src/server.ts',
    find: "if (row?.['standby'] === true)",
    replace: "if (row?.['standby'] === undefined)",
    tests: faults,
  },
  {
    name: 'postgres-again',
    breaks: 'a connection that ends takes the host with it',
    file: 'packages/store-postgres/src/live-store.ts',
    find: 'if (!(error instanceof Lost) || !isFirst) throw error;',
    replace: 'throw error;',
    tests: faults,
  },
  {
    name: 'postgres-put-back',
    breaks: 'a store that was put back passes for the latest',
    file: 'packages/store-postgres/src/opening.ts',
    find: 'const seen = latest(seenOf({ facts, sentinel }), before?.reached);',
    replace: 'const seen = latest(undefined, before?.reached);',
    tests: store,
  },
  {
    name: 'postgres-emptied',
    breaks: 'a store that was emptied starts anew, and forgets what was revoked',
    file: 'packages/store-postgres/src/opening.ts',
    find: 'if (emptied !== undefined)',
    replace: "if (emptied?.store === '')",
    tests: store,
  },
  {
    name: 'postgres-reserve',
    breaks: 'on a full disk of the server nothing can be revoked for good',
    file: 'packages/store-postgres/src/live-store.ts',
    find: 'if (!(await this.#ask(releaseReserve))) throw error;',
    replace: 'throw error;',
    tests: store,
  },
  {
    name: 'postgres-beside',
    breaks: 'a host begins anew beside its store in a database',
    file: 'packages/host/src/drivers/state-dir.ts',
    find: 'if (isNoted && !elsewhere)',
    replace: "if (isNoted && path === '')",
    tests: ['packages/host/src/postgres.test.ts'],
  },
];
