/** `npm install -g` of the packed tarballs gives a working `hob` to an ordinary user with an empty home. */
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest';
import { CLIENT } from '../packages/cli/src/client-verbs.ts';
import { readLayers, surroundings } from '../packages/cli/src/drivers/layers.ts';
import { modulesOf } from '../packages/guest/test/modules.ts';
import { check, lineOf } from '../packages/manifest/src/index.ts';
import { HOSTILE } from '../packages/manifest/test/hostile.ts';
import { hobProgram } from './hob-program.ts';
import { needs, requires } from './needs.ts';
import { type Installed, installed, plainEnv } from './packed/installed.ts';
import { nodeFolder, USER } from './packed/user.ts';
import { openCluster } from './postgres-cluster.ts';
import { ROOT } from './sources.ts';

const CLIENT_VERBS = Object.keys(CLIENT);
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
function newHome(
  folder: string,
  name = 'home-cli',
): { readonly home: string; readonly env: Readonly<Record<string, string>> } {
  const home = join(folder, name);
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

/** The commands of this user. */
function commandsOf(home: string, env: Readonly<Record<string, string>>, words: readonly string[] = [hob]) {
  const start = (...args: readonly string[]) => {
    const [file = '', ...rest] = [...words, ...args];
    const child = spawn(file, rest, { env, cwd: home, stdio: ['ignore', 'pipe', 'pipe'], ...user });
    const said = { out: '', err: '' };
    child.stdout.setEncoding('utf8').on('data', (text: string) => void (said.out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => void (said.err += text));
    const ended = new Promise<number | string | null>((done) =>
      child.once('close', (code, signal) => done(code ?? signal)),
    );
    return { child, said, ended };
  };
  return {
    start,
    async run(...args: readonly string[]) {
      const { said, ended } = start(...args);
      return { code: await ended, ...said };
    },
    /** Returns when the host serves. */
    async serve() {
      const host = start('serve');
      onTestFinished(async () => {
        host.child.kill('SIGTERM');
        await host.ended;
      });
      while (!host.said.out.includes('see its requests')) {
        expect(host.child.exitCode, host.said.err).toBe(null);
        await new Promise((resolve) => host.child.stdout.once('data', resolve).once('close', resolve));
      }
      return host;
    },
  };
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

/** Reads, and tries to write. */
const READS = `
import '@hob/vat/lockdown';
import { readFileSync } from 'node:fs';
import { connect, E } from '@hob/vat';
const secret = readFileSync(process.env.HOB_SECRET_FILE, 'utf8').trim();
const { bootstrap: session, close } = await connect(process.env.HOB_URL, { secret });
const cap = E(session).cap('workspace');
console.log(await E(cap).readText('a.txt'));
console.log(await E(cap).write('a.txt', 'two').then(() => 'written', (error) => error.code));
close();
`;

/** Says which files are loaded as modules. */
const TRACE = `
import { registerHooks } from 'node:module';
import { writeSync } from 'node:fs';
registerHooks({ load(url, context, next) { if (url.startsWith('file:')) writeSync(2, url + '\\n'); return next(url, context); } });
`;

/** Returns the modules in a trace. A bundle is a script, so it is not among them. */
const modulesIn = (trace: string): readonly string[] =>
  trace.split('\n').filter((line) => line.startsWith('file:') && !line.endsWith('/trace.mjs'));
const MAIN_ALONE = [expect.stringMatching(/\/@hob\/cli\/dist\/main\.js$/)];

const installedOr = (context: TestContext): Installed =>
  made ?? context.skip('needs the package registry, for what Hob depends on');

test('installed with npm install -g, hob serves a manifest, runs an agent and answers its request, in an empty home', async (context) => {
  if (!needs('linux')) context.skip('needs Linux');
  const { folder } = installedOr(context);
  const { home, env } = newHome(folder);
  const { start, run, serve } = commandsOf(home, env);
  expect(await run('--version')).toEqual({ code: 0, out: expect.stringMatching(/^hob \d/), err: '' });
  expect((await run('status')).code).toBe(1);

  const host = await serve();
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

/** Says what it holds, and what becomes of a change and of reading. */
const TRIES = `
import '@hob/vat/lockdown';
import { readFileSync } from 'node:fs';
import { connect, E } from '@hob/vat';
const secret = readFileSync(process.env.HOB_SECRET_FILE, 'utf8').trim();
const { bootstrap: session, close } = await connect(process.env.HOB_URL, { secret });
const src = E(session).cap('src');
const written = await E(src).write('a.txt', 'mine').then(() => 'written', ({ code }) => code);
console.log(await E(session).caps(), written, await E(src).readText('a.txt'));
close();
process.exit(5);
`;

// `npm start` is a command of a checkout: its own flags are replayed by `session-flags.test.ts`. What is installed says
// the same in the manifest.
test('item 8: a time, reading only and a gate hold in the session of an installed host; a later one has the new terms; no flag is ignored', async (context) => {
  if (!needs('linux')) context.skip('needs Linux');
  const { folder } = installedOr(context);
  const { home, env } = newHome(folder, 'home-flags');
  const { start, run, serve } = commandsOf(home, env);
  for (const line of [
    ['serve', '--shell'],
    ['serve', '--code'],
    ['serve', '--new-session'],
    ['start', '--read-only', '--', 'node'],
  ]) {
    const { code, out, err } = await run(...line);
    expect([line, code, out, err]).toEqual([line, 2, '', expect.stringContaining(`hob: unknown option '${line[1]}'`)]);
  }
  const agent = join(folder, 'tries.mjs');
  fs.writeFileSync(agent, TRIES);
  const manifest = join(home, '.config/hob/hob.yaml');
  const served = (cap: string): void => {
    fs.writeFileSync(
      manifest,
      `version: 1\nroots: { project: project }\nsession:\n  caps: { src: { fs: project/src, ${cap} } }\n`,
    );
  };
  served('can: [read, list], for: 5m, always_human: true');
  const host = await serve();
  const first = start('start', '--', 'node', agent);
  let requests: readonly { readonly id: string }[] = [];
  while (requests.length === 0) {
    expect(first.child.exitCode, first.said.err).toBe(null);
    requests = JSON.parse((await run('inbox', '--json')).out);
  }
  expect((await run('list')).out).toMatch(/^G1\tS1\tsrc\tlive\tany; some calls wait\t[45] min\t/m);
  expect((await run('grant', 'R1')).code).toBe(0);
  expect([await first.ended, first.said.out]).toEqual([5, "[ 'src' ] NOT_PERMITTED one\n\n"]);
  expect((await run('stop')).code).toBe(0);
  expect(await host.ended).toBe(0);

  served('can: [read, write], for: 90m');
  const again = await serve();
  const second = start('start', '--', 'node', agent);
  expect([await second.ended, second.said.out]).toEqual([5, "[ 'src' ] written mine\n"]);
  expect((await run('ledger', 'verify')).out).toMatch(/^the ledger is whole/);
  expect((await run('stop')).code).toBe(0);
  expect(await again.ended).toBe(0);
  expect(fs.readdirSync(join(home, '.config/hob/tmp'))).toEqual([]);
}, 400_000);

test('item 8: an installed hob workspace has the flags of npm start, and its lines name commands that are there', async (context) => {
  if (!needs('linux')) context.skip('needs Linux');
  const { folder } = installedOr(context);
  const { home, env } = newHome(folder, 'home-workspace');
  const { start } = commandsOf(home, env);
  const config = join(home, '.config/hob');
  const secrets = join(home, 'secrets');
  const host = start('workspace', '--root', join(config, 'project/src'), '--for', '15m', '--read-only', '--secrets-to', secrets); // biome-ignore format: one line
  onTestFinished(async () => {
    host.child.kill('SIGTERM');
    await host.ended;
  });
  while (!host.said.out.includes('hob ready ')) {
    expect(host.child.exitCode, host.said.err).toBe(null);
    await new Promise((resolve) => host.child.stdout.once('data', resolve).once('close', resolve));
  }
  expect(host.said.out).toMatch(/for 15 minutes[\s\S]*\n {2}hob list < [^\n]*granter\n {2}hob revoke ID < /);
  expect(host.said.out).not.toMatch(/npm|hob1_/);
  const { url } = JSON.parse(/hob ready (.*)/.exec(host.said.out)?.[1] ?? '') as { readonly url: string };
  fs.writeFileSync(join(folder, 'reads.mjs'), READS);
  const agent = commandsOf(home, { ...env, HOB_URL: url, HOB_SECRET_FILE: join(secrets, 'session') }, [join(nodeFolder(folder), 'node'), join(folder, 'reads.mjs')]); // biome-ignore format: one line
  expect(await agent.run()).toEqual({ code: 0, out: 'one\n\nREAD_ONLY\n', err: '' });
  expect((await commandsOf(home, env).run('stop')).code).toBe(0);
  expect(await host.ended).toBe(0);
}, 400_000);

test('items 8 and 11: without a sandbox and a compiler no shell is served, the doctor says it in a line, and no folder is left', async (context) => {
  if (!needs('linux')) context.skip('needs Linux');
  const { folder } = installedOr(context);
  // Not below `folder`, where Node would find its native parts.
  const apart = fs.mkdtempSync(join(tmpdir(), 'hob-bare-'));
  onTestFinished(() => fs.rmSync(apart, { recursive: true, force: true }));
  fs.chmodSync(apart, 0o755);
  const { home, env } = newHome(apart, 'home-bare');
  // As `npm install --omit=optional` has it: without the native parts. All of it is the user's own.
  const place = join(home, 'node_modules');
  fs.cpSync(join(folder, 'node_modules'), place, { recursive: true, verbatimSymlinks: true });
  for (const name of fs.readdirSync(join(place, '@hob')))
    if (/-linux-/.test(name)) fs.rmSync(join(place, '@hob', name), { recursive: true });
  if (user.uid !== undefined)
    for (const path of fs.readdirSync(place, { recursive: true, encoding: 'utf8' }))
      fs.lchownSync(join(place, path), USER, USER);
  const node = join(nodeFolder(folder), 'node');
  const alone = { ...env, PATH: nodeFolder(folder) };
  const hobHere = commandsOf(home, alone, [node, join(place, '@hob/cli/dist/main.js')]);
  // Beside the cache of compiled code that `hob` keeps.
  const files = (): readonly string[] =>
    fs
      .readdirSync(place, { recursive: true, encoding: 'utf8' })
      .filter((name) => !name.startsWith('@hob/cli/node_modules'))
      .sort();
  const before = files();
  fs.writeFileSync(
    join(home, '.config/hob/hob.yaml'),
    'version: 1\nroots: { project: project }\nsession:\n  caps: { src: { fs: project/src, can: [read, list] }, sh: { shell: sandbox, mounts: [src] } }\n',
  );
  const remedy = /there is no sandbox program: install optional dependencies too .*, or a C compiler .*/;
  expect(await hobHere.run('serve')).toEqual({
    code: 1,
    out: '',
    err: expect.stringMatching(new RegExp(`^hob: the cap sh needs a sandbox, and none can be built here \\(helper: ENOENT\\): ${remedy.source}\n$`)), // biome-ignore format: one line
  });
  // The state of a host that did not begin is not made.
  expect(fs.existsSync(join(home, '.local'))).toBe(false);
  for (const words of [
    [node, join(place, '@hob/caps-shell/dist/drivers/doctor.js')],
    [node, join(place, '@hob/cli/dist/main.js'), 'doctor'],
  ]) {
    const { code, out, err } = await commandsOf(home, alone, words).run();
    expect([code, err]).toEqual([1, '']);
    expect(out.split('\n').filter((line) => remedy.test(line))).toHaveLength(1);
    expect(out).toMatch(/\n(?:no program will run here|programs cannot be confined here)[^\n]*\n$/);
  }
  expect(files()).toEqual(before);
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
  // Each takes a process. `hostile.test.ts` of the manifest and the bench take all of them.
  const some = HOSTILE.filter((_, at) => at % 5 === 0);
  for (const { name, text } of [...some, { name: 'no mistake', text: right }]) {
    fs.writeFileSync(file, text);
    const { plan, mistakes } = check(readLayers(file, []).given, surroundings());
    const options = { env: { ...env, NODE_OPTIONS: `--import=${trace}` }, cwd: place };
    const ran = await promisify(execFile)(hob, ['check', file], options).catch((error) => error);
    const lines = plan === undefined ? mistakes.map(lineOf) : ['no mistakes'];
    expect(ran.stdout.split('\n').slice(0, -1), name).toEqual(lines);
    expect(modulesIn(ran.stderr)).toEqual(MAIN_ALONE);
  }
  expect(fs.readFileSync(join(folder, 'prefix/lib/node_modules/@hob/cli/dist/data/LICENSES.txt'), 'utf8')).toMatch(
    /^zod /m,
  );
}, 400_000);

test('an installed verb that only talks to a host loads only its bundle, and prints what it prints without the bundle', async (context) => {
  if (!needs('linux')) context.skip('needs Linux');
  const { folder } = installedOr(context);
  const { home, env } = newHome(folder, 'home-client');
  const trace = join(folder, 'trace.mjs');
  fs.writeFileSync(trace, TRACE);
  const { serve, run } = commandsOf(home, env);
  const traced = commandsOf(home, { ...env, NODE_OPTIONS: `--import=${trace}` });
  // This program runs the same verbs from the modules outside of the bundle.
  const apart = join(folder, 'apart.mjs');
  const table = join(folder, 'prefix/lib/node_modules/@hob/cli/dist/table.js');
  fs.writeFileSync(apart, `import { runLine, verbsFor } from ${JSON.stringify(table)};\nconst args = process.argv.slice(2);\nprocess.exit(await runLine(args, await verbsFor(args)));\n`); // biome-ignore format: one line
  const modules = commandsOf(home, env, [join(nodeFolder(folder), 'node'), apart]);
  const host = await serve();
  for (const words of [...CLIENT_VERBS.map((name) => name.split(' ')), ['ledger'], ['ledger', '--json']]) {
    const named = words[0] === 'stop' ? [...words, '--state', join(home, 'nobody')] : words;
    const { code, out, err } = await traced.run(...named);
    expect(modulesIn(err), words.join(' ')).toEqual(MAIN_ALONE);
    const own = err.split('\n').filter((line) => !line.startsWith('file:'));
    const steady = (text: string): string => text.replaceAll(/\d+(?:\.\d+)?(?:e[+-]?\d+)?/g, 'N');
    const other = await modules.run(...named);
    expect([code, steady(out), own.join('\n')], words.join(' ')).toEqual([other.code, steady(other.out), other.err]);
  }
  // The process of such a verb holds caps, so it is locked down.
  const frozen = join(folder, 'frozen.mjs');
  fs.writeFileSync(frozen, "process.on('exit', () => console.error('frozen:', Object.isFrozen(Array.prototype)));\n");
  const looked = commandsOf(home, { ...env, NODE_OPTIONS: `--import=${frozen}` });
  expect((await looked.run('status')).err).toBe('frozen: true\n');
  // These command lines are not run from the bundle.
  expect((await run('status', '--store', join(home, 'none.yaml'))).err).toMatch(
    /^hob: there is no such file of a store/,
  );
  expect((await run('ledger', '--help')).out).toMatch(/verify/);
  // This verb holds a cap of the host, so its process is locked down.
  const whole = /^the ledger is whole: \d+ lines\n/;
  expect(await looked.run('ledger', 'verify')).toMatchObject({
    out: expect.stringMatching(whole),
    err: 'frozen: true\n',
  });
  await run('stop');
  expect(await host.ended).toBe(0);
  // If no host runs, the verb only reads the store, and runs from its bundle.
  const alone = await traced.run('ledger', 'verify');
  expect([alone.code, alone.out, modulesIn(alone.err)]).toEqual([0, expect.stringMatching(whole), MAIN_ALONE]);
  expect(await modules.run('ledger', 'verify')).toEqual({ ...alone, err: '' });
}, 400_000);

requires('postgres', 'linux')(
  'an installed hob keeps its state in a database, and says which package it lacks for that',
  async (context) => {
    const { folder } = installedOr(context);
    const { home, env } = newHome(folder, 'home-postgres');
    const cluster = await openCluster();
    onTestFinished(() => cluster.remove());
    const store = join(home, 'store.yaml');
    fs.writeFileSync(store, `url: ${JSON.stringify(cluster.url)}\n`, { mode: 0o600 });
    if (user.uid !== undefined) fs.chownSync(store, USER, USER);
    const { run, start } = commandsOf(home, env);
    const host = start('serve', '--store', store);
    while (!host.said.out.includes('see its requests')) {
      expect(host.child.exitCode, host.said.err).toBe(null);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    expect((await run('stop')).out).toBe('stopped: every grant is revoked\n');
    expect((await run('ledger', 'verify', '--store', store)).out).toMatch(/^the ledger is whole/);

    // Node looks in the folders above the prefix, too.
    for (const above of ['prefix/lib', '.']) {
      const library = join(folder, above, 'node_modules/@hob/store-postgres');
      fs.renameSync(library, `${library}.away`);
      onTestFinished(() => fs.renameSync(`${library}.away`, library));
    }
    expect(await run('serve', '--store', store)).toEqual({
      code: 1,
      out: '',
      err: 'hob: --store needs one package more, beside this one: npm install -g @hob/store-postgres\n',
    });
    // A host without a database does not need the package.
    expect((await run('version')).code).toBe(0);
  },
  400_000,
);

const BESIDE: ReadonlySet<string> = new Set(['@hob/cluster', '@hob/store-postgres']);
/** A prefix in which each of these packages has copies of its own of all others, as after `npm install -g` one by one. */
function apart(folder: string, prefix: string, names: readonly string[]): void {
  const [from, to] = [join(folder, 'prefix/lib/node_modules'), join(prefix, 'lib/node_modules')];
  const others = fs.globSync(['*', '@*/*'], { cwd: from }).filter((name) => !/^@[^/]+$/.test(name));
  for (const name of names) {
    const [at, inner] = [join(to, name), join(to, name, 'node_modules')];
    fs.cpSync(join(from, name), at, { recursive: true });
    for (const other of others.filter(
      (each) => each !== name && each !== '@hob/cli' && (name !== '@hob/cli' || !BESIDE.has(each)),
    ))
      fs.cpSync(join(from, other), join(inner, other), { recursive: true });
  }
}

requires('postgres', 'linux')(
  'packages that were installed one by one, each with its own copy of Hob, serve a store and a cluster in one process',
  async (context) => {
    const { folder } = installedOr(context);
    const { home, env } = newHome(folder, 'home-apart');
    const cluster = await openCluster();
    onTestFinished(() => cluster.remove());
    // Not inside `folder`: a program there finds the packages that are installed for a library's user.
    const prefix = fs.mkdtempSync(join(tmpdir(), 'hob-apart-'));
    onTestFinished(() => fs.rmSync(prefix, { recursive: true, force: true }));
    fs.chmodSync(prefix, 0o755);
    apart(folder, prefix, ['@hob/cli', '@hob/cluster']);
    const config = join(home, '.config/hob');
    fs.writeFileSync(join(config, 'store.yaml'), `url: ${JSON.stringify(cluster.url)}\n`, { mode: 0o600 });
    fs.writeFileSync(join(config, 'cluster.yaml'), 'name: alpha\nstore: store.yaml\nstate: tenants\ndoor: { port: 0 }\nlink: { port: 0 }\ntenants: { acme: hob.yaml }\n'); // biome-ignore format: one line
    for (const name of ['', 'store.yaml', 'cluster.yaml']) if (user.uid !== undefined) fs.chownSync(join(config, name), USER, USER); // biome-ignore format: one line
    const main = fs.realpathSync(join(prefix, 'lib/node_modules/@hob/cli/dist/main.js'));
    const { run, start } = commandsOf(home, env, [join(nodeFolder(folder), 'node'), main]);
    const shows = async ({ said, child }: ReturnType<typeof start>, text: string): Promise<void> => {
      while (!said.out.includes(text) && !said.err.includes(text)) {
        expect(child.exitCode, said.err).toBe(null);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const machine = start('cluster', 'serve');
    onTestFinished(async () => {
      machine.child.kill('SIGTERM');
      await machine.ended;
    });
    await shows(machine, 'see the cluster');
    expect((await run('cluster', 'add', 'acme')).err).toBe('');
    await shows(machine, 'tenant acme is served here');
    expect((await run('cluster', 'verify')).code).toBe(0);
    const store = ['--store', join(config, 'store.yaml')];
    expect((await run('serve', ...store)).err).toMatch(/npm install -g @hob\/store-postgres\n$/);
    apart(folder, prefix, ['@hob/store-postgres']);
    const host = start('serve', ...store);
    onTestFinished(async () => {
      host.child.kill('SIGTERM');
      await host.ended;
    });
    await shows(host, 'see its requests');

    // Another version could need what this one lacks.
    const manifest = join(prefix, 'lib/node_modules/@hob/cluster/package.json');
    fs.writeFileSync(manifest, fs.readFileSync(manifest, 'utf8').replace(/"version": "[^"]+"/, '"version": "9.0.0"'));
    expect((await run('cluster', 'status')).err).toMatch(
      /^hob: @hob\/cluster is installed in version 9\.0\.0, and hob in /,
    );
  },
  400_000,
);

test('tests start the installed hob if the run installed one; mutants and other runs start the sources', () => {
  const sources = hobProgram({});
  expect(sources.at(-1)).toBe(join(ROOT, 'packages', 'cli', 'src', 'main.ts'));
  expect(hobProgram({ HOB_TEST_INSTALLED: join(tmpdir(), 'nothing-is-here') })).toEqual(sources);
  if (made === undefined) return;
  expect(hobProgram({ HOB_TEST_INSTALLED: made.folder, HOB_MUTANT: 'any' })).toEqual(sources);
  const [main = '', ...more] = hobProgram({ HOB_TEST_INSTALLED: made.folder });
  expect([fs.statSync(main).isFile(), more]).toEqual([true, []]);
});

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

/** A program that writes the code of a guest into a file. */
const GUEST = `
import '@hob/vat/lockdown';
import { writeFileSync } from 'node:fs';
import { openGuests } from '@hob/guest';
const on = () => {};
const sendBytes = (code) => {
  writeFileSync(process.argv[2], code);
  process.exit();
};
const channel = { connected: true, send: () => true, sendBytes, on, once: on, disconnect: on };
await openGuests({ spawnConfined: async () => ({ channel, kill: on, ended: new Promise(on) }) });
`;

test('in an installed guest all modules except ses and the lockdown find hardened intrinsics', async (context) => {
  const { folder } = installedOr(context);
  const [program, code] = [join(folder, 'guest.mjs'), join(folder, 'guest.code')];
  fs.writeFileSync(program, GUEST);
  await promisify(execFile)(process.execPath, [program, code], { env: plainEnv });
  const modules = await modulesOf(fs.readFileSync(code));
  expect(modules.at(-1)).toEqual({ name: 'child.js', isHardened: true });
  // The second module is the lockdown. Packing gives it another name.
  expect(modules.flatMap(({ isHardened }, n) => (isHardened ? [] : [n]))).toEqual([0, 1]);
  expect(modules[0]?.name).toBe('ses.cjs');
}, 400_000);
