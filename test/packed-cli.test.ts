/** `npm install -g` of the packed tarballs gives a working `hob` to an ordinary user with an empty home. */
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest';
import { readLayers, surroundings } from '../packages/cli/src/drivers/layers.ts';
import { check, lineOf } from '../packages/manifest/src/index.ts';
import { HOSTILE } from '../packages/manifest/test/hostile.ts';
import { needs } from './needs.ts';
import { type Installed, installed, plainEnv } from './packed/installed.ts';
import { nodeFolder, USER } from './packed/user.ts';

let made: Installed | undefined;
let hob = '';
beforeAll(async () => {
  made = await installed();
  if (made === undefined) return;
  const prefix = join(made.folder, 'prefix');
  // npm refuses a native part of another machine that is named by itself.
  const other = process.arch === 'x64' ? '-linux-arm64-' : '-linux-x64-';
  const tarballs = made.tarballs.filter((file) => !file.includes(other));
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  await promisify(execFile)('npm', ['install', '-g', '--prefix', prefix, ...flags, ...tarballs], {
    env: plainEnv,
  });
  hob = join(prefix, 'bin', 'hob');
}, 400_000);
afterAll(() => made?.remove());

const user = process.getuid?.() === 0 ? { uid: USER, gid: USER } : {};

/** A home that only this user may open, with a project and a manifest outside of it. */
function newHome(folder: string): { readonly home: string; readonly env: Readonly<Record<string, string>> } {
  const home = join(folder, 'home-cli');
  const config = join(home, '.config', 'hob');
  for (const name of ['project/src', 'tmp']) fs.mkdirSync(join(config, name), { recursive: true });
  fs.writeFileSync(join(config, 'project/src/a.txt'), 'one\n');
  fs.writeFileSync(join(config, 'hob.yaml'), MANIFEST);
  fs.writeFileSync(join(folder, 'agent.mjs'), AGENT);
  if (user.uid !== undefined) {
    const own = fs.readdirSync(home, { recursive: true, encoding: 'utf8' }).map((name) => join(home, name));
    for (const path of [home, ...own]) fs.chownSync(path, USER, USER);
  }
  fs.chmodSync(home, 0o700);
  return { home, env: { PATH: `${nodeFolder(folder)}:/usr/bin:/bin`, HOME: home, TMPDIR: join(config, 'tmp') } };
}

const MANIFEST = `version: 1
roots: { project: project }
session:
  caps: { src: { fs: project/src, can: [read, list] } }
  ask: { edit: { fs: project/src, can: [read, write], offer: { uses: 2, for: 1h } } }
`;

const AGENT = `
import '@hob/vat/lockdown';
import { readFileSync, rmSync } from 'node:fs';
import { connect, E } from '@hob/vat';
const secret = readFileSync(process.env.HOB_SECRET_FILE, 'utf8').trim();
rmSync(process.env.HOB_SECRET_FILE);
const { bootstrap: session, close } = await connect(process.env.HOB_URL, { secret });
console.log(await E(E(session).cap('src')).readText('a.txt'));
await E(E(session).cap('edit')).write('a.txt', 'two\\n');
close();
process.exit(5);
`;

/** Says which files are loaded as modules. */
const TRACE = `
import { registerHooks } from 'node:module';
import { writeSync } from 'node:fs';
registerHooks({ load(url, context, next) { if (url.startsWith('file:')) writeSync(2, url + '\\n'); return next(url, context); } });
`;

const installedOr = (context: TestContext): Installed =>
  made ?? context.skip('needs the package registry, for what Hob depends on');

test('installed with npm install -g, hob serves a manifest, runs an agent and answers its request, in an empty home', async (context) => {
  if (!needs('linux')) context.skip('needs Linux');
  const { folder } = installedOr(context);
  const { home, env } = newHome(folder);
  const start = (...args: readonly string[]) => {
    const child = spawn(hob, args, { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'], ...user });
    const said = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => void (said.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => void (said.err += text));
    const ended = new Promise<number | string | null>((done) =>
      child.once('close', (code, signal) => done(code ?? signal)),
    );
    return { child, said, ended };
  };
  const run = async (...args: readonly string[]) => {
    const { said, ended } = start(...args);
    return { code: await ended, ...said };
  };
  expect(await run('--version')).toEqual({ code: 0, out: expect.stringMatching(/^hob \d/), err: '' });
  expect((await run('status')).code).toBe(1);

  const host = start('serve');
  onTestFinished(async () => {
    host.child.kill('SIGTERM');
    await host.ended;
  });
  while (!host.said.out.includes('see its requests')) {
    expect(host.child.exitCode, host.said.err).toBe(null);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const agent = start('start', '--', 'node', join(folder, 'agent.mjs'));
  let requests: readonly { readonly id: string }[] = [];
  while (requests.length === 0) {
    expect(agent.child.exitCode, agent.said.err).toBe(null);
    requests = JSON.parse((await run('inbox', '--json')).out);
  }
  expect((await run('grant', 'R1', '--for', '15m')).code).toBe(0);
  expect(await agent.ended).toBe(5);
  expect(agent.said.out).toContain('one');
  expect(fs.readFileSync(join(home, '.config/hob/project/src/a.txt'), 'utf8')).toBe('two\n');
  expect((await run('ledger', 'verify')).out).toMatch(/^the ledger is whole/);
  expect(await run('stop')).toEqual({ code: 0, out: 'stopped: every grant is revoked\n', err: '' });
  expect(await host.ended).toBe(0);
  // Nothing of ours goes where the user did not ask for it.
  expect(fs.readdirSync(home).sort()).toEqual(['.config', '.local']);
  expect(fs.readdirSync(join(home, '.config/hob/tmp'))).toEqual([]);
}, 400_000);

test('an installed hob check loads its bundle alone, and says of hostile manifests what the sources say', async (context) => {
  const { folder } = installedOr(context);
  const place = join(folder, 'hostile');
  fs.mkdirSync(place);
  const trace = join(place, 'trace.mjs');
  fs.writeFileSync(trace, TRACE);
  const env = { PATH: `${nodeFolder(folder)}:/usr/bin:/bin`, HOME: place };
  const right =
    'version: 1\nroots: { scratch: { temp: true } }\nsession: { caps: { all: { fs: scratch, can: [read] } } }\n';
  const file = join(place, 'hob.yaml');
  for (const { name, text } of [...HOSTILE.filter((_, n) => n % 40 === 0), { name: 'no mistake', text: right }]) {
    fs.writeFileSync(file, text);
    const { plan, mistakes } = check(readLayers(file, []).given, surroundings());
    const options = { env: { ...env, NODE_OPTIONS: `--import=${trace}` }, cwd: place };
    const ran = await promisify(execFile)(hob, ['check', file], options).catch((error) => error);
    const lines = plan === undefined ? mistakes.map(lineOf) : ['no mistakes'];
    expect(ran.stdout.split('\n').slice(0, -1), name).toEqual(lines);
    const loaded = ran.stderr.trim().split('\n');
    expect(
      loaded.filter((url: string) => !/\/@hob\/cli\/dist\/(?:main|line\/data-verbs|data|data\/[\w-]+)\.js$/.test(url)),
    ).toEqual([]);
    expect(loaded.length).toBeGreaterThan(3);
  }
  expect(fs.readFileSync(join(folder, 'prefix/lib/node_modules/@hob/cli/dist/data/LICENSES.txt'), 'utf8')).toMatch(
    /^zod /m,
  );
}, 400_000);

test('an installed hob refuses a root that holds its own code', async (context) => {
  const { folder } = installedOr(context);
  const file = join(folder, 'own.yaml');
  fs.writeFileSync(file, 'version: 1\nroots: { all: prefix }\nsession: { caps: { a: { fs: all, can: [write] } } }\n');
  const child = spawn(hob, ['serve', '--manifest', file, '--state', join(folder, 'own-state')], {
    env: { PATH: `${nodeFolder(folder)}:/usr/bin:/bin`, HOME: folder },
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (said += text));
  expect(await new Promise((done) => child.once('close', done))).toBe(1);
  expect(said).toMatch(/^hob: roots\.all: this folder is, contains or lies inside the state, the code/);
});
