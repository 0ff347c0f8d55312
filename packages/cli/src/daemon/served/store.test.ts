/** The store of a served host, when its database answers and when it does not. */
import type { StoreHosts } from '@hob/store-postgres';
import { CapError, openStore } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { storeLines } from '../../line/store-lines.ts';
import { servedStore } from './store.ts';

const standby = { name: 'mirror', state: 'streaming', sync: 'async', unsentBytes: 0, unflushedBytes: 12, flushMs: 250 };
const now = (replication: StoreHosts['replication']): StoreHosts => ({
  ...{ epoch: 2, versions: { tables: 2, serves: 1 }, standbys: [{ name: 'beta-2', heardMs: 120 }, {}], replication },
  holder: { name: 'alpha-1', leaseMs: 9000, connected: true },
});

/** A database that answers as `hosts` does, and what is logged about it. */
async function served(hosts: () => Promise<StoreHosts>) {
  const store = await openStore({ memory: true });
  onTestFinished(() => store.close());
  const said: string[] = [];
  const opened = await servedStore({ files: [], open: async () => store, hosts }, { sentinel: undefined, standby: false }, (line) => said.push(line)); // biome-ignore format: one line
  return { opened, said };
}

test('what is committed without a standby is said once, in the log, and in each status', async () => {
  const cases = [
    ['none', [], 0, /no standby: if its disk is lost/],
    ['asynchronous', [standby], 0, /follow later: a failover may lose the last commits/],
    ['asynchronous', [], 1, /follow later/],
  ] as const;
  for (const [mode, standbys, hidden, says] of cases) {
    const { opened, said } = await served(async () => now({ mode, standbys, hidden }));
    expect(said).toEqual([expect.stringMatching(says)]);
    expect(storeLines((await opened.hosts())!).join('\n')).toMatch(says);
  }
  const safe = await served(async () => now({ mode: 'synchronous', standbys: [standby], hidden: 0 }));
  expect(safe.said).toEqual([]);
  expect(storeLines((await safe.opened.hosts())!)).toEqual([
    'store: alpha-1 has it for 9.0 s unless it renews that; it was opened 2 times',
    'tables: version 2, which programs of version 1 and later serve',
    'standby: beta-2, heard of 0.1 s ago',
    'standby: a host without a name',
    'replication: synchronous',
    '  mirror (streaming, async): 12 bytes behind, 0.3 s',
  ]);
});

test('a database that does not answer stops neither the host nor the status, which says why', async () => {
  const { opened, said } = await served(async () => {
    throw new CapError('unavailable', 'the database server does not answer');
  });
  expect(said).toEqual([]);
  expect(storeLines((await opened.hosts())!)).toEqual(['store: the database server does not answer']);
});

test('a store in a folder has no hosts, and its sentinel is named to the host', async () => {
  const opened = await servedStore(undefined, { sentinel: '/s', standby: false }, () => {});
  expect([opened.options, await opened.hosts()]).toEqual([{ sentinel: '/s' }, undefined]);
});
