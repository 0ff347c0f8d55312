/**
 * How secrets get from `npm start` to an agent, with an attacker that looks where a program of the same user
 * can look.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect } from '@hob/vat';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { inherited } from '../../../test/mutants/environment.ts';
import { requires } from '../../../test/needs.ts';
import { Program, readiness } from '../../../test/processes.ts';
import { code, scratch, type TestHost, testHost } from '../test/test-host.ts';

const checkout = join(import.meta.dirname, '../../..');
const spying = join(import.meta.dirname, '../test/spying-agent.ts');

let home: TestHost;
beforeEach(async () => {
  home = await testHost();
});
afterEach(() => home.close());

interface Ran {
  readonly code: number | null;
  readonly out: string;
}

/** As a person does it: a shell, npm, npm's shell, `scripts/hob.mjs`, and the program. */
function asPerson(command: string, env: Readonly<Record<string, string>>, input = ''): Promise<Ran> {
  const { PATH = '', HOME = '' } = process.env;
  const child: ChildProcess = spawn('sh', ['-c', `${command}; exit $?`], {
    cwd: checkout,
    env: { PATH, HOME, ...inherited(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  let out = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (part) => (out += String(part)));
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out })));
}

const spied = (out: string): { readonly above: number; readonly seen: string } =>
  JSON.parse(/^spied: (.*)$/m.exec(out)?.[1] ?? '{"above":0,"seen":"nothing"}');

requires('linux')(
  'while an agent runs neither it nor a process above it has the secret in its environment or command line; no program that it starts finds it',
  async () => {
    const { secret } = home.session;
    const file = join(home.folder, 'secret');
    const run = `npm run -s agent -- ${spying}`;
    for (const way of ['file', 'input'] as const) {
      if (way === 'file') writeFileSync(file, `${secret}\n`, { mode: 0o600 });
      const env = { HOB_URL: home.url, ...(way === 'file' ? { HOB_SECRET_FILE: file } : {}) };
      const { code: ended, out } = await asPerson(run, env, way === 'input' ? `${secret}\n` : '');
      expect(out).toMatch(/^holds: \[\]$/m);
      expect(ended).toBe(0);
      const { above, seen } = spied(out);
      // The spy, the agent, hob.mjs, npm and the shell at least.
      expect(above).toBeGreaterThanOrEqual(5);
      expect(seen).toContain(spying);
      expect(seen.includes(secret), way).toBe(false);
      expect(existsSync(file)).toBe(false);
    }
  },
  300_000,
);

test('a secret file that others may read, that is a link or that is missing is refused and left unchanged', async () => {
  const file = join(home.folder, 'secret');
  const agent = async (named: string): Promise<readonly string[]> => {
    const program = new Program('agent.ts', [spying], {
      env: { HOB_URL: home.url, HOB_SECRET_FILE: named },
    });
    expect(await program.ended).toBe(2);
    return program.lines;
  };
  writeFileSync(file, `${home.session.secret}\n`, { mode: 0o644 });
  expect(await agent(file)).toEqual([expect.stringMatching(/^hob agent: .*chmod 600$/)]);
  expect(existsSync(file)).toBe(true);
  expect(await agent(join(home.folder, 'none'))).toEqual([
    expect.stringMatching(/the file of HOB_SECRET_FILE cannot be read/),
  ]);
  expect(await agent(home.folder)).toEqual([expect.stringMatching(/chmod 600$/)]);
  expect(existsSync(home.folder)).toBe(true);
  chmodSync(file, 0o600);
  symlinkSync(file, join(home.folder, 'link'));
  expect(await agent(join(home.folder, 'link'))).toEqual([
    expect.stringMatching(/the file of HOB_SECRET_FILE cannot be read/),
  ]);
  expect(existsSync(file)).toBe(true);
});

test('HOB_SECRET, which older programs set, still opens the session, with a warning; no program that the agent starts finds it in its own', async () => {
  const { secret } = home.session;
  const program = new Program('agent.ts', [spying], { env: { HOB_URL: home.url, HOB_SECRET: secret } });
  expect(await program.ended).toBe(0);
  expect(program.lines.find((line) => line.includes('HOB_SECRET can be read'))).toBeDefined();
  expect(spied(program.lines.join('\n')).seen.split('\n')[0]).not.toContain(secret);
});

interface Place {
  readonly root: string;
  readonly state: string;
  readonly secrets: string;
}
function place(): Place {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const at = (name: string): string => join(folder, name);
  mkdirSync(at('root'));
  return { root: at('root'), state: at('state'), secrets: at('secrets') };
}

/** A host whose output is a pipe, started as a person does it, until `until` is in it. */
async function started(args: readonly string[], until: RegExp): Promise<string> {
  const program = new Program('workspace', args);
  await program.line((line) => until.test(line));
  await program.stop();
  return program.lines.join('\n');
}

test('a host whose output is a pipe prints no secret there, and says how to get one', async () => {
  const { root, state, secrets } = place();
  const { PATH = '', HOME = '' } = process.env;
  // Not `Program`, which asks for them on a descriptor.
  const child = spawn(
    process.execPath,
    [
      '--import',
      join(checkout, 'scripts/resolve.mjs'),
      join(import.meta.dirname, '../../cli/src/main.ts'),
      'workspace',
      '--root',
      root,
      '--state',
      state,
    ],
    {
      env: { PATH, HOME, XDG_STATE_HOME: join(root, '../xdg'), ...inherited() },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let out = '';
  const ended = new Promise((resolve) => child.once('close', resolve));
  await new Promise<void>((resolve) => {
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (part) => {
        out += String(part);
        if (/^hob ready /m.test(out)) resolve();
      });
    child.once('close', () => resolve());
  });
  child.kill('SIGTERM');
  await ended;
  expect(out).not.toMatch(/hob1_/);
  expect(out).toMatch(/^hob session \{"id":"[^"]+"\}$/m);
  expect(out).toMatch(/terminal only.*--new-secrets --secrets-to DIR/);
  // Which is how it is.
  const later = await started(
    ['--root', root, '--state', state, '--new-secrets', '--secrets-to', secrets],
    /^hob ready /,
  );
  expect(later).not.toMatch(/hob1_/);
  expect(readFileSync(join(secrets, 'session'), 'utf8')).toMatch(/^hob1_\S+\n$/);
});

test('--secrets-to DIR: two new files for their owner alone; the commands that are printed name them, and no secret', async () => {
  const { root, state, secrets } = place();
  const program = new Program('workspace', ['--root', root, '--state', state, '--secrets-to', secrets]);
  const ready = await program.line((line) => line.startsWith('hob ready '));
  const { url } = JSON.parse(ready?.slice('hob ready '.length) ?? '{}') as { readonly url: string };
  const said = program.lines.join('\n');
  expect(said).not.toMatch(/hob1_/);
  expect(said).toContain(`HOB_SECRET_FILE=${join(secrets, 'session')} npm run -s agent`);
  // As printed, it reaches this host, whose state is not the usual one.
  const list = /^ {2}npm run -s hob -- (list .*) < (.*)$/m.exec(said);
  expect(list?.[2]).toBe(join(secrets, 'granter'));
  const listing = new Program('hob', list?.[1]?.split(' ') ?? [], { stdin: readFileSync(join(secrets, 'granter'), 'utf8') }); // biome-ignore format: one line
  expect(await listing.ended).toBe(0);
  expect(listing.lines.join('\n')).toMatch(/\tworkspace\tlive\t/);
  expect(statSync(secrets).mode & 0o777).toBe(0o700);
  for (const name of ['session', 'granter']) {
    expect(statSync(join(secrets, name)).mode & 0o777).toBe(0o600);
    const secret = readFileSync(join(secrets, name), 'utf8').trim();
    const connection = await connect(url, { secret });
    connection.close();
    await connection.closed;
  }
  expect(await program.stop()).toBe(0);
  // A file that is there is not written over, and its secrets stay good.
  const before = readFileSync(join(secrets, 'session'), 'utf8');
  const second = await started(['--root', root, '--state', state, '--new-secrets', '--secrets-to', secrets], /^hob: /);
  expect(second).toMatch(/^hob: a file for a secret is there already/m);
  expect(readFileSync(join(secrets, 'session'), 'utf8')).toBe(before);
  // A start that makes none leaves no empty file.
  rmSync(secrets, { recursive: true });
  const third = await started(['--root', root, '--state', state, '--secrets-to', secrets], /^hob ready /);
  expect(third).toMatch(/is not stored/);
  expect(readdirSync(secrets)).toEqual([]);
});

test('--secrets-to fd:N hands the secrets to the caller of the host; an invalid descriptor is refused before a secret is made', async () => {
  const { root, state } = place();
  const program = new Program('workspace', ['--root', root, '--state', state]);
  const { url, session, granter } = await readiness(program);
  for (const { secret } of [session, granter])
    expect(await code(connect(url, { secret }).then((each) => each.close()))).toBe('ok');
  await program.stop();
  for (const target of ['fd:', 'fd:1', 'fd:77', 'fd:x', 'fd:3x'])
    expect(await started(['--root', root, '--state', state, '--secrets-to', target], /^hob: /)).toMatch(
      /^hob: --secrets-to fd:N/m,
    );
});

test('the descriptor that npm opens for itself does not count as one that the caller opened', async () => {
  const { root, state } = place();
  const { code: ended, out } = await asPerson(`npm -s start -- --root ${root} --state ${state} --secrets-to fd:3`, {
    XDG_STATE_HOME: join(root, '../xdg'),
  });
  expect(out).toMatch(/^hob: --secrets-to fd:N/m);
  expect(ended).toBe(1);
});

test('a directory that holds the folder of the secrets is not granted', async () => {
  const { root, state } = place();
  const said = await started(['--root', root, '--state', state, '--secrets-to', join(root, 'in')], /^hob: /);
  expect(said).toMatch(/^hob: that directory is, contains or lies inside/);
  expect(readdirSync(root)).toEqual([]);
});

/** A terminal: prints what it saw until `word` came, then ends the program. */
const terminal = `
import os, pty, signal, sys
word, *command = sys.argv[1:]
pid, fd = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
seen = b''
while word.encode() not in seen:
    try:
        part = os.read(fd, 4096)
    except OSError:
        break
    seen += part
os.kill(pid, signal.SIGTERM)
os.waitpid(pid, 0)
sys.stdout.write(seen.decode())
`;

requires('linux', 'python')('on a terminal new secrets are shown, in no line that is copied', async () => {
  const { root, state } = place();
  const command = [
    process.execPath,
    '--import',
    join(checkout, 'scripts/resolve.mjs'),
    join(import.meta.dirname, '../../cli/src/main.ts'),
    'workspace',
  ];
  const args = ['-c', terminal, 'hob ready', ...command, '--root', root, '--state', state];
  const env = { ...process.env, XDG_STATE_HOME: join(root, '../xdg') };
  const { stdout } = await promisify(execFile)('python3', args, { env });
  const lines = stdout.split(/\r?\n/);
  const secret = lines.filter((line) => line.includes('hob1_'));
  expect(secret.map((line) => line.split(' ').slice(0, 2).join(' '))).toEqual(['hob session', 'hob granter']);
  expect(lines.find((line) => line.includes('npm run -s agent'))).toMatch(/^ {2}HOB_URL=\S+ npm run -s agent /);
});
