/** A host whose store lies in PostgreSQL, and a second machine that takes it over. */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { postgresStore } from '@hob/store-postgres';
import { type ByteSource, connect, driver, E, type Far } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { serverOfFile } from '../../../test/postgres-cluster.ts';
import { code, held, lines, scratch } from '../test/test-host.ts';
import { type Host, openHost, type SessionFace } from './index.ts';

const test = requires('postgres');
const server = serverOfFile(test);

interface Bell {
  ring(): Promise<number>;
}
let rung = 0;

/** A host on a folder of its own, with the store that all share. */
async function machine(folder: string, schema: string): Promise<Host> {
  const stateDir = join(folder, 'state');
  mkdirSync(folder, { recursive: true });
  const host = await openHost({ stateDir, store: await postgresStore({ url: server.cluster.url, schema }) });
  await host.offer('bell', { ring: async () => (rung += 1) });
  return host;
}

test('grants, their uses and a revocation go along to another machine, and the ledger is one', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  rung = 0;
  const first = await machine(join(folder, 'a'), 'moves');
  const { granter: owner, secret: ownerSecret } = await first.addGranter('owner');
  const { id, secret } = await first.openSession({ name: 'work', granters: ['owner'] });
  await E(owner).grant(id, 'bell', 'bell', { uses: 3 });
  const { id: other } = (await E(owner).grant(id, 'other', 'bell', { scope: 'session' })) as { readonly id: string };
  const enter = async (host: Host) => {
    const agent = await connect<SessionFace>((await host.serve()).url, { secret });
    return { agent, bell: held<Bell>(agent, 'bell'), other: held<Bell>(agent, 'other') };
  };
  const here = await enter(first);
  expect([await E(here.bell).ring(), await E(here.other).ring()]).toEqual([1, 2]);
  await E(owner).revoke({ grant: other });
  expect(await code(E(here.other).ring())).toBe('revoked');
  await first.close();
  await here.agent.closed;

  const second = await machine(join(folder, 'b'), 'moves');
  const there = await enter(second);
  expect(await code(E(there.other).ring())).not.toBe('ok');
  expect([await E(there.bell).ring(), await E(there.bell).ring()]).toEqual([3, 4]);
  expect(await code(E(there.bell).ring())).toBe('exhausted');
  expect(rung).toBe(4);
  expect(await second.verify()).toMatchObject({ ok: true });
  expect((await lines(second, 'revoke')).length).toBe(1);
  expect(ownerSecret).not.toBe(secret);
  there.agent.close();
  await there.agent.closed;
  await second.close();
});

test('a host begins anew neither beside its store in a database nor in the folder of another store', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const first = await machine(folder, 'beside');
  await first.close();
  const stateDir = join(folder, 'state');
  expect(await code(openHost({ stateDir }))).toBe('invalid');
  const own = join(folder, 'own');
  await (await openHost({ stateDir: own })).close();
  const store = await postgresStore({ url: server.cluster.url, schema: 'beside' });
  expect(await code(openHost({ stateDir: own, store }))).toBe('invalid');
  // The host that was refused has let go of the store.
  await (await machine(folder, 'beside')).close();
});

test('attack: a host whose store another host has taken returns no part of a stream that was open', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const host = await machine(folder, 'replaced');
  let given = 0;
  const endless = driver<ByteSource>({
    next: async () => new Uint8Array([(given += 1)]),
    return: async () => {},
  });
  await host.offer('file', driver<{ open(): ByteSource }>({ open: () => endless as unknown as ByteSource }));
  const { granter: owner } = await host.addGranter('owner');
  const { id, secret } = await host.openSession({ name: 'work', granters: ['owner'] });
  await E(owner).grant(id, 'file', 'file', {});
  const agent = await connect<SessionFace>((await host.serve()).url, { secret });
  const stream = (await E(held<{ open(): Promise<ByteSource> }>(agent, 'file')).open()) as unknown as Far<ByteSource>;
  expect(await E(stream).next()).toEqual(new Uint8Array([1]));
  expect((await lines(host, 'call')).map(({ method }) => method)).toEqual(['open']);
  // As if the first host had been stopped until its lease was over. The second one may have revoked the grant since.
  await server.cluster.sql.unsafe('UPDATE replaced.owner SET until = clock_timestamp()');
  const second = await machine(join(folder, 'second'), 'replaced');
  await wait(500);
  expect(await code(E(stream).next())).not.toBe('ok');
  expect(given).toBe(1);
  await agent.closed;
  await host.close();
  await second.close();
});
