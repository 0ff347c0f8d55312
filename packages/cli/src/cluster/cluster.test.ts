/** `hob cluster`: machines that serve the tenants of one database. Each machine is a process with a home of its own. */
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { connect as dialTls } from 'node:tls';
import type { ClusterStatus } from '@hob/cluster';
import { expect, onTestFinished } from 'vitest';
import { certificate } from '../../../../test/certificate.ts';
import { knock } from '../../../../test/knock.ts';
import { requires } from '../../../../test/needs.ts';
import { serverOfFile } from '../../../../test/postgres-cluster.ts';
import { databaseOn } from '../../../../test/postgres-database.ts';
import { agentIn, type HobHome, hobHome, MANIFEST, type Ran, type Running } from '../../test/hob.ts';
import { faultOf, valueIn } from '../../test/open-metrics.ts';
import { calls, type ScheduledHome, manifest as scheduled, scheduledHome } from '../../test/scheduled.ts';
import { shapeFault } from '../../test/shape.ts';
import { newKey, type TaskHome, taskHome } from '../../test/task-peers.ts';
import { clusterStatus } from '../verbs/cluster/status.ts';

const test = requires('postgres', 'linux');
const programsTest = requires('postgres', 'linux', 'cc', 'userns');
const SCRIPTED = new URL('../../../mcp/test/servers/scripted.mjs', import.meta.url).pathname;
const server = serverOfFile(test);
const NAMES = ['alpha', 'beta'] as const;
const TENANTS = ['acme', 'globex'] as const;

interface Machine<Home extends HobHome = HobHome> {
  readonly hob: Home;
  readonly file: string;
  /** The folder of the state of a tenant on this machine. */
  state(tenant: string): string;
  /** Runs a verb of `hob cluster` with the file of this machine. */
  cluster(...words: readonly string[]): Promise<Ran>;
  status(): Promise<ClusterStatus>;
  serve(...words: readonly string[]): Promise<{ readonly host: Running; readonly url: string }>;
}

/** Makes two machines of a new cluster. Each has a manifest for each tenant. */
async function machines<Home extends HobHome = HobHome>(
  home = (): Home => hobHome(`${MANIFEST}granters: [owner, ann]\n`) as Home,
): Promise<readonly [Machine<Home>, Machine<Home>]> {
  const { url } = await databaseOn(server.cluster);
  const keys = Object.fromEntries(NAMES.map((name) => [name, certificate(name)]));
  const made = NAMES.map((name): Machine<Home> => {
    const hob = home();
    const at = (file: string): string => join(hob.folder, 'config', file);
    const put = (file: string, text: string): void => writeFileSync(at(file), text, { mode: 0o600 });
    put('store.yaml', `url: ${JSON.stringify(url)}\nlease: 2s\n`);
    mkdirSync(at('keys'));
    put('keys/own.key', keys[name]?.key ?? '');
    for (const each of NAMES) put(`${each}.pem`, keys[each]?.cert ?? '');
    const peers = NAMES.filter((each) => each !== name).map((each) => `${each}: ${each}.pem`);
    const file = at('cluster.yaml');
    put(
      'cluster.yaml',
      `name: ${name}\nstore: store.yaml\nstate: ../home/state\ndoor: { port: 0 }\n` +
        `link: { port: 0, key: keys/own.key, cert: ${name}.pem, peers: { ${peers.join(', ')} } }\n` +
        `tenants: { ${TENANTS.map((tenant) => `${tenant}: hob.yaml`).join(', ')} }\n`,
    );
    const words = ['--cluster', file];
    return {
      hob,
      file,
      state: (tenant) => join(hob.folder, 'home/state', tenant),
      cluster: (...verb) => hob.run('cluster', ...verb, ...words),
      status: () => hob.json<ClusterStatus>('cluster', 'status', ...words),
      async serve(...verb) {
        const host = hob.start('cluster', 'serve', ...words, '--json', ...verb);
        await host.shows(/\n/);
        await host.shows(/^\{.*\}\n/);
        return { host, url: (JSON.parse(host.out) as { readonly url: string }).url };
      },
    };
  });
  return [made[0] as Machine<Home>, made[1] as Machine<Home>];
}

const printOf = (pem: string): string => new X509Certificate(pem).fingerprint256;
/** The certificate that a door shows. */
async function shownBy({ hostname, port }: URL): Promise<string> {
  const socket = dialTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
  await once(socket, 'secureConnect');
  const { fingerprint256 } = socket.getPeerCertificate();
  socket.destroy();
  return fingerprint256;
}

async function withSecret(hob: HobHome, secret: string, ...args: readonly string[]): Promise<Ran> {
  const running = hob.start(...args);
  running.child.stdin!.end(`${secret}\n`);
  return { code: await running.ended, out: running.out, err: running.err };
}

test('hob cluster serves tenants from their manifests; a tenant moves with its sessions and grants, and any machine is a door to it', async () => {
  const [alpha, beta] = await machines();
  const one = await alpha.serve();
  expect((await alpha.cluster('status')).out).toMatch(/^alpha\tlives\t/);
  for (const tenant of TENANTS) expect((await alpha.cluster('add', tenant)).code).toBe(0);
  await one.host.shows(/tenant acme is served here/);
  await one.host.shows(/tenant globex is served here/);
  const status = await alpha.status();
  expect(shapeFault(clusterStatus.json as string, status)).toBeUndefined();
  expect(status.tenants).toMatchObject(TENANTS.map((name) => ({ name, place: 'alpha', store: { holder: { name: 'alpha' } } }))); // biome-ignore format: one line

  // An agent and a person use the tenant as they use any host.
  const state = ['--state', alpha.state('acme')];
  const agent = alpha.hob.start('start', ...state, '--', ...agentIn(alpha.hob.folder));
  await agent.shows(/reads one/);
  await alpha.hob.until(() => alpha.hob.run('inbox', ...state), ({ out }) => out.includes('R1')); // biome-ignore format: one line
  expect((await alpha.hob.run('grant', 'R1', ...state)).code).toBe(0);
  await agent.shows(/wrote first/);
  const file = join(alpha.hob.folder, 'ann');
  await alpha.hob.run('granter', 'secret', 'ann', '--secret-to', file, ...state);
  const ann = readFileSync(file, 'utf8').trim();
  const { link } = await alpha.hob.json<{ readonly link: string }>('console', ...state);
  expect(link).toMatch(/^http:\/\/localhost:\d+\/acme\/console#k=/);
  expect((await fetch(link.replace(/#.*/, ''), { headers: { connection: 'close' } })).status).toBe(200);

  // Another machine joins, and the tenant moves there.
  const two = await beta.serve();
  expect((await alpha.cluster('pin', 'acme', 'beta')).code).toBe(0);
  await two.host.shows(/tenant acme is served here/);
  await one.host.shows(/tenant acme is not served here any more/);
  for (const { url } of [one, two]) {
    const { code, out } = await withSecret(beta.hob, ann, 'list', '--url', `${url}/acme`);
    expect([code, out], url).toEqual([0, expect.stringContaining('edit')]);
  }
  // The page of the console also comes through the machine that does not serve the tenant.
  const page = await fetch(`${one.url.replace('ws:', 'http:')}/acme/console`, { headers: { connection: 'close' } });
  expect([page.status, (await page.text()).includes('"console/console.js"')]).toEqual([200, true]);
  expect((await alpha.hob.run('list', ...state)).err).toMatch(/^hob: no host serves this state/);

  one.host.child.kill('SIGTERM');
  expect(await one.host.ended).toBe(0);
  await two.host.shows(/tenant globex is served here/);
  expect((await withSecret(beta.hob, ann, 'revoke', '--all', '--url', `${two.url}/acme`)).code).toBe(0);
  const verified = await beta.cluster('verify');
  expect([verified.code, verified.out]).toEqual([0, expect.stringMatching(/^the merged chain is whole: \d+ checkpoints, the last one is (\d+:\S+)\nacme: whole, \d+ lines\nglobex: whole/)]); // biome-ignore format: one line
  const exported = (await beta.cluster('export')).out.trim().split('\n').map((line) => JSON.parse(line) as { readonly tenant: string; readonly line: { readonly k: string } }); // biome-ignore format: one line
  expect(exported.filter(({ tenant, line }) => tenant === 'acme' && line.k === 'grant').length).toBeGreaterThan(0);
  expect(new Set(exported.map(({ tenant }) => tenant))).toEqual(new Set(TENANTS));
  const [, kept = ''] = /last one is (\S+)/.exec(verified.out) ?? [];
  expect((await beta.cluster('verify', '--kept', kept)).code).toBe(0);
  const other = await beta.cluster('verify', '--kept', `1:${'A'.repeat(43)}`);
  expect([other.code, other.out]).toEqual([1, expect.stringMatching(/^the merged chain is not whole: /)]);
}, 300_000);

test('the metrics of a machine are numbers of the cluster and of each tenant that is open there', async () => {
  const [alpha] = await machines();
  const { host } = await alpha.serve('--metrics', '0');
  await host.shows(/metrics are at http/);
  await alpha.cluster('add', 'acme');
  await host.shows(/tenant acme is served here/);
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+\/metrics/.exec(host.err) ?? [];
  const text = await (await fetch(url, { headers: { connection: 'close' } })).text();
  expect(faultOf(text)).toBeUndefined();
  expect([valueIn(text, 'hob_cluster_connected'), valueIn(text, 'hob_cluster_member')]).toEqual([1, 1]);
  for (const [
    name,
    value,
  ] of [['hob_machine_live{machine="alpha"}', 1], ['hob_tenant_open{tenant="acme"}', 1], ['hob_tenant_sessions{tenant="acme"}', 0]] as const) // biome-ignore format: one line
    expect(text).toContain(`\n${name} ${value}\n`);
}, 120_000);

test('if a tenant has no manifest on its machine, or one with mistakes, the log says so once, and other tenants are served', async () => {
  const [alpha] = await machines();
  const { host } = await alpha.serve();
  writeFileSync(join(alpha.hob.folder, 'config/hob.yaml'), 'version: 1\nroots: { project: 5 }\n');
  for (const tenant of ['stray', 'acme']) await alpha.cluster('add', tenant);
  await host.shows(
    /tenant stray is not served: this machine has no manifest for it: name one under tenants in its file/,
  );
  await host.shows(/tenant acme is not served: the manifest has mistakes/);
  writeFileSync(join(alpha.hob.folder, 'config/hob.yaml'), MANIFEST);
  await host.shows(/tenant acme is served here/);
  expect(host.err.split('tenant stray is not served').length).toBe(2);
  const { code, out } = await alpha.cluster('status');
  expect([code, out]).toEqual([1, expect.stringMatching(/stray\talpha\t-\t/)]);
  expect((await alpha.cluster('remove', 'stray')).code).toBe(0);
  expect((await alpha.cluster('status')).code).toBe(0);
  const unknown = await alpha.cluster('remove', 'stray');
  expect([unknown.code, unknown.err]).toEqual([1, 'hob: the cluster has no tenant "stray": hob cluster status lists them\n']); // biome-ignore format: one line
}, 120_000);

test('hob stop of one tenant revokes what its sessions hold before another machine serves it', async () => {
  const [alpha, beta] = await machines();
  const { host } = await alpha.serve();
  await alpha.cluster('add', 'acme');
  await host.shows(/tenant acme is served here/);
  const state = ['--state', alpha.state('acme')];
  const agent = alpha.hob.start('start', ...state, '--', ...agentIn(alpha.hob.folder));
  await agent.shows(/reads one/);
  expect((await alpha.hob.run('stop', ...state)).code).toBe(0);
  expect(await host.ended).toBe(0);
  const two = await beta.serve();
  await two.host.shows(/tenant acme is served here/);
  expect(await beta.hob.json('list', '--state', beta.state('acme'))).not.toContainEqual(expect.objectContaining({ state: 'live' })); // biome-ignore format: one line
}, 120_000);

/** Returns the process ids of a program in the folder of this home. */
const programs = ({ folder }: HobHome, name: string): readonly string[] =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').includes(join(folder, name));
    } catch {
      return false; // it has ended meanwhile
    }
  });

test('when a tenant moves, the programs that work for it on the old machine end', async () => {
  const key = newKey();
  const homes = await Promise.all(NAMES.map(() => taskHome({ peers: { ezra: { gives: ['src'], agent: 'worker' } }, keys: { ezra: key } }))); // biome-ignore format: one line
  const [alpha, beta] = await machines(() => homes.shift() as TaskHome);
  const one = await alpha.serve();
  await alpha.cluster('add', 'acme');
  await one.host.shows(/tenant acme is served here/);
  const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text: 'stay' }] };
  const asked = fetch(`${one.url.replace('ws:', 'http:')}/acme/a2a`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${await alpha.hob.token(key)}`, connection: 'close' }, // biome-ignore format: one line
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
  }).then(
    (response) => response.text(),
    () => 'cut',
  );
  await expect.poll(() => programs(alpha.hob, 'worker.mjs').length).toBe(1);
  const two = await beta.serve();
  await alpha.cluster('pin', 'acme', 'beta');
  await two.host.shows(/tenant acme is served here/);
  await expect.poll(() => programs(alpha.hob, 'worker.mjs')).toEqual([]);
  expect(one.host.child.exitCode).toBe(null);
  await asked;
}, 120_000);

/** Writes a manifest with a tool server. `programs` finds its process by an argument, which is a path of its home. */
function withTools({ hob: { folder } }: Machine, more = ''): void {
  const at = (name: string): string => join(folder, 'config', name);
  for (const name of ['tools', 'data']) mkdirSync(at(name), { recursive: true });
  copyFileSync(SCRIPTED, at('tools/scripted.mjs'));
  const command = JSON.stringify([process.execPath, '/tools/scripted.mjs', join(folder, 'tools')]);
  writeFileSync(at('hob.yaml'), `version: 1
roots: { tools: tools, data: data, project: project, own: { temp: true } }
servers: { scripted: { command: ${command}, roots: [tools], writes: [data] } }
session:
  mode: autonomous
  caps:
    src: { fs: project/src, can: [read] }
    edit: { fs: own, can: [read, write] }
    say: { mcp: scripted, tools: [echo] }
${more}`); // biome-ignore format: one text
}

programsTest(
  'when a tenant moves, or fails to open, its tool servers end and its scratch folders are removed',
  async () => {
    const [alpha, beta] = await machines();
    withTools(alpha);
    const one = await alpha.serve();
    const two = await beta.serve();
    await alpha.cluster('add', 'acme');
    await alpha.cluster('pin', 'acme', 'alpha');
    await one.host.shows(/tenant acme is served here/);
    expect(programs(alpha.hob, 'tools').length).toBeGreaterThan(0);
    const scratch = (): readonly string[] => readdirSync(join(alpha.hob.folder, 'tmp')).filter((name) => name.startsWith('hob-scratch-')); // biome-ignore format: one line
    const agent = alpha.hob.start('start', '--state', alpha.state('acme'), '--', ...agentIn(alpha.hob.folder));
    await agent.shows(/wrote first|failed|reads one/);
    expect(scratch()).toHaveLength(1);
    await alpha.cluster('pin', 'acme', 'beta');
    await two.host.shows(/tenant acme is served here/);
    await expect.poll(() => [programs(alpha.hob, 'tools'), scratch()]).toEqual([[], []]);
    expect(one.host.child.exitCode).toBe(null);

    withTools(alpha, '    gone: { fs: project/none, can: [read] }\n');
    await alpha.cluster('pin', 'acme', 'alpha');
    await one.host.shows(/tenant acme is not served: .*no such folder/);
    // Meanwhile the machine tries to open it again and again.
    await expect.poll(() => programs(alpha.hob, 'tools'), { timeout: 10_000 }).toEqual([]);
  },
  120_000,
);

test('if two tenants have the same manifest, a scheduled run begins at the host of its own tenant', async () => {
  const text = scheduled().replace(', secrets: [MODEL_KEY]', '');
  const homes = NAMES.map(() => scheduledHome(text, { factor: 20 }));
  const [alpha] = await machines(() => homes.shift() as ScheduledHome);
  // The clock of this machine runs 20 times as fast as that of the database. A short lease would seem to be over.
  const store = join(alpha.hob.folder, 'config/store.yaml');
  writeFileSync(store, readFileSync(store, 'utf8').replace('lease: 2s', 'lease: 5m'));
  const { host } = await alpha.serve();
  for (const tenant of TENANTS) await alpha.cluster('add', tenant);
  for (const tenant of TENANTS) await host.shows(new RegExp(`tenant ${tenant} is served here`));
  for (const tenant of TENANTS) {
    const asker = await alpha.hob.asker('--state', alpha.state(tenant));
    const at = new Date(alpha.hob.now() + 10_000).toISOString();
    expect(await asker.call('nightly', 'at', at, calls())).toMatchObject(['ok', {}]);
    await host.shows(new RegExp(`${tenant}: run nightly-s1-1 is over`));
    await asker.end();
  }
}, 120_000);

test('a notice says which tenant has the request: the ids of two tenants may be the same', async () => {
  const [alpha] = await machines();
  const posts: string[] = [];
  const receiver = createServer((request, response) => {
    let body = '';
    request.on('data', (part: Buffer) => {
      body += String(part);
    });
    request.on('end', () => {
      posts.push(body);
      response.end();
    });
  }).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  onTestFinished(() => void receiver.close());
  const at = (name: string): string => join(alpha.hob.folder, name);
  writeFileSync(at('webhook.key'), `whsec_${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 });
  writeFileSync(at('notifier'), `#!/bin/sh\nprintf '%s\\n' "$3" >> '${at('shown')}'\n`, { mode: 0o755 });
  writeFileSync(at('shown'), '');
  const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  const { host } = await alpha.serve('--webhook', url, '--webhook-key-file', at('webhook.key'), '--notify-with', at('notifier')); // biome-ignore format: one line
  for (const tenant of TENANTS) await alpha.cluster('add', tenant);
  for (const tenant of TENANTS) await host.shows(new RegExp(`tenant ${tenant} is served here`));
  for (const tenant of TENANTS)
    await alpha.hob.start('start', '--state', alpha.state(tenant), '--', ...agentIn(alpha.hob.folder)).shows(/reads one/); // biome-ignore format: one line
  const bodies = (): readonly object[] => posts.map((post) => JSON.parse(post) as object);
  await expect.poll(bodies, { timeout: 10_000 }).toMatchObject(TENANTS.map((tenant) => ({ tenant, request: 'R1', session: 'S1' }))); // biome-ignore format: one line
  await expect.poll(() => readFileSync(at('shown'), 'utf8'), { timeout: 10_000 }).toMatch(/^R1 of acme: session S1 asks for edit\..*\nR1 of globex: /); // biome-ignore format: one line
}, 120_000);

test('a tenant opens no more sessions than the file of its machine allows; other tenants of the machine are not limited by that', async () => {
  const [alpha] = await machines();
  const text = readFileSync(alpha.file, 'utf8');
  writeFileSync(alpha.file, text.replace('acme: hob.yaml', 'acme: { manifest: hob.yaml, sessions: 1 }'));
  const { host } = await alpha.serve();
  for (const tenant of TENANTS) await alpha.cluster('add', tenant);
  for (const tenant of TENANTS) await host.shows(new RegExp(`tenant ${tenant} is served here`));
  const agent = async (tenant: string): Promise<Running> => {
    const running = alpha.hob.start('start', '--state', alpha.state(tenant), '--', ...agentIn(alpha.hob.folder));
    await running.shows(/reads one|as many sessions as it may/);
    return running;
  };
  const [first, second, other, another] = [await agent('acme'), await agent('acme'), await agent('globex'), await agent('globex')]; // biome-ignore format: one line
  expect(second.err).toMatch(/^hob: this host has as many sessions as it may: end one/);
  for (const one of [first, other, another]) expect(one.out).toMatch(/reads one/);
}, 120_000);

test('a mistake in the file of the machine is named with its place, and a key that others may read is refused', async () => {
  const [alpha] = await machines();
  const text = readFileSync(alpha.file, 'utf8');
  const says = async (change: (text: string) => string): Promise<string> => {
    writeFileSync(alpha.file, change(text));
    const { code, err } = await alpha.cluster('serve');
    expect(code).toBe(1);
    return err;
  };
  expect(await says(() => '- : [')).toMatch(/is not YAML/);
  expect(await says(() => '')).toMatch(/the file of the machine: name: /);
  expect(await says((whole) => whole.replace('port: 0', 'port: high'))).toMatch(
    /the file of the machine: door\.port: /,
  );
  expect(await says((whole) => whole.replace('acme: hob.yaml', 'acme: { manifest: hob.yaml, sessions: 0 }'))).toMatch(/the file of the machine: tenants\.acme/); // biome-ignore format: one line
  expect(await says((whole) => `${whole}nodes: 3\n`)).toMatch(/the file of the machine: nodes: there is no such part/);
  expect(await says((whole) => whole.replace('name: alpha', 'name: "no such name"'))).toMatch(/^hob: /);
  expect(await says((whole) => whole.replace('key: keys/own.key, ', ''))).toMatch(/link: cert and key go together/);
  expect(await says((whole) => whole.replace('beta: beta.pem', 'beta: none.pem'))).toMatch(/link\.peers\.beta cannot be read \(ENOENT\)/); // biome-ignore format: one line
  expect(await says((whole) => whole.replace('{ port: 0 }', '{ host: 0.0.0.0, port: 0 }'))).toMatch(/tls/);
  chmodSync(join(alpha.hob.folder, 'config/keys/own.key'), 0o644);
  expect(await says((whole) => whole)).toMatch(/others may read link\.key: chmod 600/);
  writeFileSync(join(alpha.hob.folder, 'config/store.yaml'), `${readFileSync(join(alpha.hob.folder, 'config/store.yaml'), 'utf8')}schema: mine\n`); // biome-ignore format: one line
  expect(await says((whole) => whole)).toMatch(/take schema out/);
}, 120_000);

test('a changed file of a machine is read again: a removed peer is refused, and a new tenant is served', async () => {
  const [alpha, beta] = await machines();
  const config = (file: string): string => join(alpha.hob.folder, 'config', file);
  const door = (pair: { readonly cert: string; readonly key: string }): void => {
    writeFileSync(config('door.pem'), pair.cert);
    writeFileSync(config('keys/door.key'), pair.key, { mode: 0o600 });
  };
  door(certificate());
  const text = readFileSync(alpha.file, 'utf8').replace(
    'door: { port: 0 }',
    'door: { host: 127.0.0.1, port: 0, cert: door.pem, key: keys/door.key, names: [localhost] }',
  );
  writeFileSync(alpha.file, text.replace(', globex: hob.yaml', ''));
  const [one, two] = [await alpha.serve(), await beta.serve()];
  await alpha.cluster('add', 'globex');
  await alpha.cluster('pin', 'globex', 'alpha');
  await one.host.shows(/tenant globex is not served: this machine has no manifest for it/);
  // A file with a mistake is not taken, and neither is one with a trusted certificate in a root of an open tenant.
  await alpha.cluster('add', 'acme');
  await alpha.cluster('pin', 'acme', 'alpha');
  await one.host.shows(/tenant acme is served here/);
  copyFileSync(config('beta.pem'), config('project/beta.pem'));
  /** Changes the file, and returns what the log says about it. */
  const becomes = async (next: string): Promise<string> => {
    const before = one.host.err.length;
    writeFileSync(alpha.file, next);
    await expect.poll(() => one.host.err.slice(before)).toMatch(/the file of the machine .*\n/);
    return one.host.err.slice(before);
  };
  expect(await becomes('nodes: 3\n')).toMatch(/is not taken: the file of the machine: /);
  const held = text.replace('beta: beta.pem', 'beta: project/beta.pem');
  expect(await becomes(held)).toMatch(/is not taken: tenant acme: roots\.project: /);
  const relayed = (): Promise<string> => knock(`${two.url}/acme`, { secret: 'hob1_nobody' });
  expect(await relayed()).toBe('HTTP 401');
  expect(await becomes(text)).toMatch(/was read again/);
  await one.host.shows(/tenant globex is served here/);
  expect(await becomes(text.replace('peers: { beta: beta.pem }', 'peers: {}'))).toMatch(/was read again/);
  expect(await relayed()).toBe('HTTP 503');
  const [renewed, own] = [certificate(), new URL(one.url)];
  expect(await shownBy(own)).not.toBe(printOf(renewed.cert));
  door(renewed);
  await expect.poll(() => shownBy(own), { timeout: 10_000 }).toBe(printOf(renewed.cert));
  // If the certificate of a peer is not PEM, nothing of the file is taken, so the door keeps its certificate.
  writeFileSync(config('broken.pem'), 'nothing');
  expect(await becomes(text.replace('beta: beta.pem', 'beta: broken.pem'))).toMatch(/is not taken: .*is not PEM/);
  door(certificate());
  await new Promise((done) => setTimeout(done, 3000));
  expect(await shownBy(own)).toBe(printOf(renewed.cert));
  await becomes(text.replace('name: alpha', 'name: delta'));
  await one.host.shows(/take effect at the next start of hob cluster serve/);
  expect((await alpha.status()).hosts).toMatchObject([{ name: 'alpha' }, { name: 'beta' }]);
}, 120_000);

test('no root of a tenant may hold keys or sentinels of its machine, states, or other manifests', async () => {
  const [alpha] = await machines();
  const at = (path: string): string => join(alpha.hob.folder, 'config', path);
  const roots = {
    acme: 'keys',
    globex: '../home/state/acme',
    initech: 'other',
    hooli: '../home/.local/state/hob/sentinels',
  };
  mkdirSync(at('other'));
  const list = [...Object.keys(roots).map((name) => `${name}: ${name}.yaml`), 'later: other/later.yaml'];
  writeFileSync(
    alpha.file,
    readFileSync(alpha.file, 'utf8').replace(/^tenants: .*$/m, `tenants: { ${list.join(', ')} }`),
  );
  const { host } = await alpha.serve();
  for (const [tenant, root] of Object.entries(roots)) {
    mkdirSync(at(root), { recursive: true });
    writeFileSync(at(`${tenant}.yaml`), `version: 1\nroots: { all: ${root} }\nsession: { caps: { src: { fs: all, can: [read] } } }\n`); // biome-ignore format: one line
    await alpha.cluster('add', tenant);
    await host.shows(new RegExp(`tenant ${tenant} is not served: roots.all: this folder is, contains or lies inside`));
  }
}, 120_000);

test('each verb says so if the database has no cluster', async () => {
  const [alpha] = await machines();
  for (const words of [['status'], ['add', 'acme'], ['pin', 'acme'], ['verify']]) {
    const { code, err } = await alpha.cluster(...words);
    expect([code, err], words.join(' ')).toEqual([1, expect.stringMatching(/^hob: this database has no cluster/)]);
  }
}, 60_000);
