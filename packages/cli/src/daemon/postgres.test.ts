/** `hob serve --store`: a state in a PostgreSQL database, on two machines that take turns. */
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StoreHosts } from '@hob/store-postgres';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { type Cluster, openCluster } from '../../../../test/postgres-cluster.ts';
import { agentIn, type HobHome, hobHome, type Running } from '../../test/hob.ts';
import { faultOf, valueIn } from '../../test/open-metrics.ts';
import { shapeFault } from '../../test/shape.ts';
import { STORE_JSON } from '../line/shapes.ts';
import { status as statusVerb } from '../verbs/host/status.ts';

const test = requires('postgres', 'linux');
const statusShape = statusVerb.json as string;

async function cluster(): Promise<Cluster> {
  const opened = await openCluster();
  onTestFinished(() => opened.remove());
  return opened;
}

/** A machine with a file that names the database. Returns the words that name that file. */
function named(hob: HobHome, { url }: Cluster, more = 'lease: 2s\n'): readonly string[] {
  const file = join(hob.folder, 'home/store.yaml');
  writeFileSync(file, `url: ${JSON.stringify(url)}\n${more}`, { mode: 0o600 });
  return ['--store', file];
}

const manifestOf = (hob: HobHome): readonly string[] => ['--manifest', join(hob.folder, 'config/hob.yaml')];

async function served(hob: HobHome, ...words: readonly string[]): Promise<Running> {
  const host = hob.start('serve', ...manifestOf(hob), ...words);
  await host.shows(/see its requests/);
  return host;
}

test('a state in a database is served, looked at by the verbs of a state at rest, and stopped like one in a folder', async () => {
  const hob = hobHome();
  const store = named(hob, await cluster());
  const host = await served(hob, ...store);
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  await agent.shows(/reads one/);
  const status = await hob.json<{ store: StoreHosts }>('status');
  expect(status).toMatchObject({ pid: host.child.pid, sessions: 1, store: { epoch: 1, standbys: [] } });
  expect(shapeFault(statusShape, status)).toBeUndefined();
  expect(status.store.holder).toMatchObject({ name: expect.stringMatching(new RegExp(`-${host.child.pid}$`)), connected: true }); // biome-ignore format: one line
  // Without a standby of the server, a lost disk is a lost store: the log says so, and so does the status.
  for (const text of [host.err, (await hob.run('status')).out])
    expect(text).toMatch(/the database server has no standby/);
  const metrics = (await hob.run('metrics')).out;
  expect(faultOf(metrics)).toBeUndefined();
  expect([valueIn(metrics, 'hob_store_up'), valueIn(metrics, 'hob_lease_epoch')]).toEqual([1, 1]);
  expect(valueIn(metrics, 'hob_lease_remaining_seconds')).toBeGreaterThan(0);
  expect((await hob.run('ledger', 'verify')).out).toMatch(/^the ledger is whole/);
  const state = join(hob.folder, 'home/.local/state/hob/state');
  expect(readdirSync(state)).toContain('store.elsewhere');
  expect(readdirSync(state)).not.toContain('store.db');

  // The folder is held like one with a store in it.
  const second = await hob.run('serve', ...manifestOf(hob), ...store);
  expect(second.err).toBe(`hob: process ${host.child.pid} serves this state already: hob status shows it, hob stop ends it\n`); // biome-ignore format: one line
  const copy = await hob.run('backup', join(hob.folder, 'copy.db'));
  expect([copy.code, copy.err]).toEqual([1, expect.stringMatching(/^hob: this state is in a database: back it up with pg_basebackup/)]); // biome-ignore format: one line

  expect((await hob.run('stop')).out).toMatch(/^stopped: every grant is revoked/);
  expect(await host.ended, host.err).toBe(0);
  expect((await hob.run('ledger', 'verify', ...store)).out).toMatch(/^the ledger is whole/);
  expect((await hob.run('ledger', 'export', ...store)).out).toMatch(/"k":"genesis".*\n(?:.*\n)*.*"k":"host-stop"/);
  expect((await hob.run('secret', 'list', ...store)).err).toBe('there is no secret\n');
  const lost: Readonly<Record<string, readonly string[]>> = {
    verify: ['ledger', 'verify'],
    export: ['ledger', 'export'],
    serve: ['serve', ...manifestOf(hob)],
  };
  for (const [name, words] of Object.entries(lost)) {
    const { code, err } = await hob.run(...words);
    expect([code, err], name).toEqual([1, expect.stringMatching(/^hob: the store of this state lies in a database: .*--store/)]); // biome-ignore format: one line
  }
}, 300_000);

test('a host whose database is gone ends, so that whoever watches over it starts it again; then the session goes on', async () => {
  const hob = hobHome();
  const database = await cluster();
  const store = named(hob, database);
  const host = await served(hob, ...store);
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  await agent.shows(/reads one/);
  await database.stop();
  // The agent waits for a yes. This one cannot be written.
  await hob.run('revoke', '--all');
  await expect.poll(() => host.child.exitCode, { timeout: 60_000 }).toBe(1);
  await host.ended;
  expect(host.err).toMatch(/the store is gone, so this process ends: start it again/);
  expect(host.err).not.toMatch(/\n\s+at /);
  await database.start();
  await served(hob, ...store);
  expect((await hob.json<readonly object[]>('sessions')).length).toBe(1);
}, 120_000);

test('a second machine waits as a standby, and takes over with the sessions and the ledger when the first is killed', async () => {
  const database = await cluster();
  const [first, second] = [hobHome(), hobHome()];
  const host = await served(first, ...named(first, database));
  const agent = first.start('start', '--', ...agentIn(first.folder));
  await agent.shows(/reads one/);
  await agent.shows(/caps/);
  const impatient = await second.run('serve', ...manifestOf(second), ...named(second, database));
  expect([impatient.code, impatient.err]).toEqual([1, expect.stringMatching(/another process uses this store/)]);
  const standby = second.start('serve', ...manifestOf(second), ...named(second, database), '--standby');
  await standby.shows(/it serves as soon as no other host has the store/);
  // Longer than the lease, which the first host renews.
  await new Promise((resolve) => setTimeout(resolve, 3000));
  expect(standby.out).toBe('');
  const words = named(second, database);
  const seen = await second.run('status', ...words);
  expect(seen.out).toMatch(new RegExp(`^store: \\S+-${host.child.pid} has it for \\d\\.\\d s unless .*opened once\ntables: version \\d, .*\nstandby: \\S+-${standby.child.pid}, heard of `)); // biome-ignore format: one line
  const json = await second.json<{ store: StoreHosts }>('status', ...words);
  expect(shapeFault(`{ store: ${STORE_JSON} }`, json)).toBeUndefined();
  expect(json.store.standbys.length).toBe(1);
  const metrics = (await second.run('metrics', ...words)).out;
  expect([faultOf(metrics), valueIn(metrics, 'hob_hosts_waiting'), valueIn(metrics, 'hob_sessions')]).toEqual([undefined, 1, undefined]); // biome-ignore format: one line
  for (const text of [seen.out, JSON.stringify(json), metrics]) expect(text).not.toMatch(/\/|postgres:|hob1_/);
  host.child.kill('SIGKILL');
  await standby.shows(/see its requests/);
  const ledger = (await second.run('ledger', 'show')).out;
  // The agent's session and its call are in the ledger of the second machine, before the line of its opening.
  expect(ledger).toMatch(/ session .*what=open.*\n(?:.*\n)*.* call .*method=readText.*\n(?:.*\n)*.* restart .*epoch=2/);
  expect((await second.run('ledger', 'verify')).out).toMatch(/^the ledger is whole/);
  expect((await second.json<{ store: StoreHosts }>('status', ...words)).store).toMatchObject({
    epoch: 2,
    standbys: [],
  });
  standby.child.kill('SIGTERM');
  await standby.ended;
  const over = await second.run('status', ...words);
  expect([over.code, over.out]).toEqual([1, expect.stringMatching(/^store: no host has it; it was opened 2 times\n/)]);
  // Nothing waits for a person, although this machine has never seen the store.
  expect([ledger, standby.err].join()).not.toMatch(/restored|suspended/);
}, 300_000);

test('a host that was paused until a standby took over ends, and is the standby when it is started again', async () => {
  const database = await cluster();
  const [first, second] = [hobHome(), hobHome()];
  const words = named(first, database);
  const host = await served(first, ...words);
  const standby = second.start('serve', ...manifestOf(second), ...named(second, database), '--standby');
  await standby.shows(/it serves as soon as no other host has the store/);
  host.child.kill('SIGSTOP');
  await standby.shows(/see its requests/);
  host.child.kill('SIGCONT');
  // It has to write something to learn it.
  await first.run('start', '--', ...agentIn(first.folder));
  await expect.poll(() => host.child.exitCode, { timeout: 60_000 }).toBe(1);
  await host.ended;
  const again = first.start('serve', ...manifestOf(first), ...words, '--standby');
  await again.shows(/it serves as soon as no other host has the store/);
  const waiting = await first.until(
    () => first.json<{ store: StoreHosts }>('status', ...words),
    ({ store }) => store.standbys.length > 0,
  );
  expect(waiting.store).toMatchObject({ epoch: 2, holder: { connected: true } });
}, 120_000);

test('the file of the store is refused if others may read it, if it has an unknown key, or if it lies in a root; no error prints its values', async () => {
  const hob = hobHome();
  const file = join(hob.folder, 'home/store.yaml');
  const secret = 'xyzzy-secret';
  const serve = async (text: string, { mode = 0o600, at = file, code: wanted = 1 } = {}): Promise<string> => {
    writeFileSync(at, text, { mode });
    const { code, out, err } = await hob.run('serve', ...manifestOf(hob), '--store', at);
    expect(code).toBe(wanted);
    expect(out + err).not.toContain(secret);
    return err;
  };
  const nobody = `url: postgres://nobody@127.0.0.1:1/hob\npassword: ${secret}\n`;
  expect(await serve(nobody)).toMatch(/the database server does not answer/);
  expect(await serve(`${nobody}sslmode: disable\n`)).toMatch(/nothing else: look at “sslmode”/);
  expect(await serve(`password: ${secret}\n`)).toMatch(/has no url/);
  expect(await serve(`url: [${secret}\n`)).toMatch(/is not YAML/);
  expect(await serve(`${nobody}ca: missing.pem\n`)).toMatch(/the ca that the file of the store names cannot be read/);
  expect(await serve(`${nobody}lease: soon\n`, { code: 2 })).toMatch(/lease takes a time above 0/);
  const open = join(hob.folder, 'home/open.yaml');
  expect(await serve(nobody, { mode: 0o644, at: open })).toMatch(/others may read the file of the store/);
  mkdirSync(join(hob.folder, 'config/project/own'));
  expect(await serve(nobody, { at: join(hob.folder, 'config/project/own/store.yaml') })).toMatch(/roots\.project/);
  // An agent that can write the certificate of the authority could pose as the server.
  writeFileSync(join(hob.folder, 'config/project/own/ca.pem'), '');
  expect(await serve(`${nobody}ca: ../config/project/own/ca.pem\n`)).toMatch(/roots\.project/);
  const missing = await hob.run('serve', ...manifestOf(hob), '--store', join(hob.folder, 'none.yaml'));
  expect(missing.err).toBe('hob: there is no such file of a store: name it with --store FILE\n');
  const alone = await hob.run('serve', ...manifestOf(hob), '--standby');
  expect([alone.code, alone.err]).toEqual([2, expect.stringMatching(/^hob: --standby waits for a database/)]);
}, 300_000);
