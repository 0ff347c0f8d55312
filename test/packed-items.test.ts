/**
 * What a first hour with the packages promises, played from the tarballs: an ordinary user, an empty home, plain Node, and
 * no compiler, no Python and no checkout on the disks of the machine (`packed/bare.ts`).
 *
 * Without root nothing can be taken from the disks. Then PATH has Node alone. Items 8 and 11 are in `packed-cli.test.ts`.
 * Item 16 is for a checkout: the API reference is made of its sources (`api.test.ts`), and no tarball has it.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { certificate } from './certificate.ts';
import { needs, requires } from './needs.ts';
import { bareCommand, builders } from './packed/bare.ts';
import { type Installed, installed } from './packed/installed.ts';
import { type NewUser, newUser, nodeFolder, USER } from './packed/user.ts';
import { ROOT } from './sources.ts';

let made: Installed | undefined;
beforeAll(async () => {
  made = await installed();
}, 400_000);
afterAll(() => made?.remove());

const installedOr = (context: TestContext): Installed =>
  made ?? context.skip('needs the package registry, for what Hob depends on');
const user = (context: TestContext): NewUser =>
  newUser(installedOr(context).folder, needs('overlay') ? 'nothing to build with' : 'node only');

/** Runs the program, expects that it ends well and prints this, and that nothing is left in the home. */
async function plays(
  context: TestContext,
  program: string,
  prints: string | RegExp,
  ends: number | string = 0,
): Promise<void> {
  const one = user(context);
  const { stdout, stderr, end } = await one.run(program);
  const said = typeof prints === 'string' ? prints : expect.stringMatching(prints);
  expect({ said: stdout.trim(), stderr, end }).toEqual({ said, stderr: '', end: ends });
  expect(readdirSync(one.home)).toEqual([]);
}

requires('overlay')('on the bare machine nothing builds, and no file of the checkout is there', async (context) => {
  const names = builders();
  expect(names.length).toBeGreaterThan(0);
  const look = `
import { existsSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
const there = ${JSON.stringify([...names, join(ROOT, 'package.json')])}.filter((path) => existsSync(path));
const runs = ['cc', 'gcc', 'g++', 'clang', 'tcc', 'zig', 'ld', 'as', 'make', 'python', 'python3', 'pip', 'uv'].filter(
  (name) => spawnSync(name, ['--version']).status === 0,
);
console.log(process.getuid?.() !== 0, there, runs);`;
  await plays(context, look, 'true [] []');
  // The machine itself still has them.
  expect(builders()).toEqual(names);
});

const HOST = `
import '@hob/host/lockdown';
import { openHost } from '@hob/host';
import { E } from '@hob/vat';
`;

test('item 2: a directory has its C part, and a program runs in the sandbox, without a compiler', async (context) => {
  if (!needs('zig') || !needs('userns'))
    context.skip('needs the compiler of Zig, which packs the native parts, and user namespaces');
  await plays(
    context,
    `
import '@hob/vat/lockdown';
import { mkdtemp } from 'node:fs/promises';
import { backendInfo, openFsCap } from '@hob/caps-fs';
import { makeCommandCap } from '@hob/caps-shell';
const directory = await openFsCap(await mkdtemp('/tmp/example-'));
await directory.write('a', 'one\\n');
const wc = await makeCommandCap('/usr/bin/wc', { mounts: { '/ws': directory }, args: ['-l', { rest: 'path' }] });
const { stdout } = await wc.run(['-l', '/ws/a']);
console.log(backendInfo().name ?? backendInfo(), stdout.trim());
await wc.close();
await directory.close();`,
    /native[\s\S]*1 \/ws\/a$/,
  );
});

test('items 6 and 10: a host of one’s own leaves its note, serves on a Unix socket and with TLS, and hob stop ends it', async (context) => {
  const { folder } = installedOr(context);
  const { cert, key } = certificate();
  const files = join(folder, 'tls');
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, 'cert.pem'), cert);
  writeFileSync(join(files, 'key.pem'), key);
  const hob = realpathSync(join(folder, 'node_modules', '.bin', 'hob'));
  await plays(
    context,
    `${HOST}
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from '@hob/vat';
const folder = mkdtempSync('/tmp/example-');
const host = await openHost({ stateDir: join(folder, 'state') });
const session = await host.openSession({ name: 'demo' });
const path = join(folder, 'door');
const unix = await host.serve({ path });
const [cert, key] = ['cert', 'key'].map((name) => readFileSync(${JSON.stringify(files)} + '/' + name + '.pem', 'utf8'));
const tls = await host.serve({ host: '127.0.0.1', tls: { cert, key } });
console.log((statSync(path).mode & 0o777).toString(8), tls.url.startsWith('wss://'));
for (const [url, ca] of [[unix.url], [tls.url, cert]] as const) {
  const { secret } = session;
  const entered = await connect<any>(url, { secret, ...(ca === undefined ? {} : { ca }) });
  console.log(await E(entered.bootstrap).caps());
  entered.close();
}
const wrong = await connect<any>(tls.url, { secret: session.secret, patienceMs: 0 }).catch(({ code }) => ({ code }));
console.log('code' in wrong ? 'not trusted' : 'trusted');
const child = (await import('node:child_process')).spawn(process.execPath, [${JSON.stringify(hob)}, 'stop', '--state', join(folder, 'state')], { stdio: 'inherit' });
await new Promise((done) => child.once('close', done));`,
    /^600 true\n\[\]\n\[\]\nnot trusted\nthe host has ended: every grant is revoked/,
    'SIGTERM',
  );
});

test('items 7 and 9: the same program runs twice on its state; without lockdown a host says so', async (context) => {
  const one = user(context);
  const program = `${HOST}
const host = await openHost({ stateDir: process.env.TMPDIR + '/again' });
const { granter } = await host.ensureGranter('alice');
const session = await host.ensureSession({ name: 'demo', granters: ['alice'] });
await host.offer('bell', { ring: async () => 'ding' });
if (!(await session.caps()).includes('bell')) await E(granter).grant(session.id, 'bell', 'bell', { uses: 2, for: 60_000 });
console.log((await host.sessions()).map(({ name }) => name), await E(await session.cap<{ ring(): string }>('bell')).ring());
await host.close();`;
  for (let run = 0; run < 2; run += 1)
    expect(await one.run(program)).toEqual({ stdout: "[ 'demo' ] ding\n", stderr: '', end: 0 });
  const open = program.replace("import '@hob/host/lockdown';", "import 'ses';");
  const { end, stderr } = await one.run(open);
  expect([end, stderr]).toEqual([1, expect.stringContaining('E_NO_LOCKDOWN')]);
});

test('item 12: an installed hob says what is wrong in a line or three, and never with a stack', async (context) => {
  const { folder } = installedOr(context);
  const hob = realpathSync(join(folder, 'node_modules', '.bin', 'hob'));
  const bad: readonly (readonly string[])[] = [
    ['nosuch'],
    ['serve', '--nosuch'],
    ['serve', '--manifest', '/nosuch/hob.yaml'],
    ['status', '--state', '/proc/x'],
    ['stop', '--state', '/dev/null'],
    ['grant'],
    ['ledger', 'verify', '--state', '/nosuch'],
    ['list', '--url', 'http://example.org'],
  ];
  const home = join(folder, 'home-bad');
  mkdirSync(home);
  for (const args of [...bad, ['--help'], ['--version'], ['serve', '--help']]) {
    const node = [join(nodeFolder(folder), 'node'), hob, ...args];
    const bare = needs('overlay');
    const scratch = join(folder, `bare-bad-${args.join('-').replaceAll('/', '_')}`);
    const [file = '', ...rest] = bare ? bareCommand(node, { user: USER, scratch }) : node;
    const env = { PATH: process.env['PATH'] ?? '', HOME: home, XDG_STATE_HOME: '', XDG_CONFIG_HOME: '' };
    const child = spawn(file, rest, { env, cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => void (said += text));
    const end = await new Promise((done) => child.once('close', done));
    expect([args, said]).toEqual([args, expect.not.stringMatching(/\n\s+at |node:internal/)]);
    if (bad.includes(args)) {
      expect([args, [1, 2].includes(end as number), said]).toEqual([args, true, expect.stringMatching(/^hob: .+\n/)]);
      expect([args, said.trim().split('\n').length <= 3]).toEqual([args, true]);
    } else expect([args, end]).toEqual([args, 0]);
  }
});

test('item 13: a dropped bcom is told, an error names the caller’s line, and a reference prints as one line', async (context) => {
  const one = user(context);
  const { stdout, stderr, end } = await one.run(`
import '@hob/vat/lockdown';
import { define, E, openVats } from '@hob/vat';
const Counter = define('Counter', (bcom, count: number) => ({
  next: () => { bcom(Counter(count + 1)); return count; },
  fail: () => { throw new Error('no'); },
}));
const vats = await openVats();
const vat = vats.vat('a');
const counter = await vat.spawn(Counter(0));
await E(counter).next();
console.log(counter);
console.log(vat);
await vats.close();
await using dev = await openVats({ development: true });
const again = await dev.vat('b').spawn(Counter(0));
const error = await E(again).fail().catch((thrown) => thrown);
console.log(error.stack.split('\\n')[1].includes('try.ts'));
console.log((await E(again).next().catch((thrown) => thrown)).code);`);
  expect([end, stdout.trim().split('\n').slice(-2)]).toEqual([0, ['true', 'become-failure']]);
  expect(stdout.trim().split('\n')).toHaveLength(4);
  expect(stderr).toMatch(/Counter/);
  expect(stderr.trim().split('\n')).toHaveLength(1);
});

test('item 15: a granter reads which directory it is, and the agent is told no path', async (context) => {
  await plays(
    context,
    `${HOST}
import { mkdtemp } from 'node:fs/promises';
import { openFsCap } from '@hob/caps-fs';
import { card } from '@hob/host';
const place = await mkdtemp('/tmp/example-');
const directory = await openFsCap(place);
const host = await openHost({ stateDir: './state' });
await host.offer('files', directory, { label: 'the notes of the team' });
const { granter } = await host.ensureGranter('alice');
const session = await host.openSession({ name: 'demo', granters: ['alice'] });
const { connect } = await import('@hob/vat');
const { url } = await host.serve();
const entered = await connect<any>(url, { secret: session.secret });
const asked = E(entered.bootstrap).request({ asks: 'files', why: 'to read', terms: { uses: 1, for: 60_000 } })
  .then(() => {}, (error: any) => error.code === 'denied' || console.log(error));
let [request] = await E(granter).inbox();
while (request === undefined) {
  await new Promise((done) => setTimeout(done, 10));
  [request] = await E(granter).inbox();
}
const text = card(request as any).join('\\n');
console.log(text.includes('the notes of the team'), text.includes(place));
console.log(JSON.stringify(await E(entered.bootstrap).holdings()).includes(place));
await E(granter).answer((request as any).id, { refuse: 'no', digest: (request as any).digest });
await asked;
entered.close();
await host.close();
await directory.close();`,
    'true true\nfalse',
  );
});
