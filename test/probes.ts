/**
 * The programs and rights of this machine.
 *
 * Each probe tries the thing that the tests use, and not a program that stands for it: user namespaces can be
 * there without the program `unshare`, and a compiler without a C library. Each is asked once in a process.
 */
import { type StdioOptions, spawnSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { delegated } from '../packages/caps-shell/src/drivers/cgroup.ts';
import { adaptersMissing } from '../scripts/adapters.mjs';
import { agentdojoPython } from '../scripts/agentdojo.mjs';
import { agentProgram } from '../scripts/agents.mjs';
import { HERMES_VERSIONS, hermesPython } from '../scripts/hermes.mjs';
import { mcpCheckersMissing, mcpServersMissing } from '../scripts/mcp-servers.mjs';
import { sdksMissing } from '../scripts/sdks.mjs';
import { deepStack } from '../scripts/stack.mjs';
import { zigProgram } from '../scripts/zig.mjs';
import { CHROMIUM, chromiumOptions } from './packed/chromium.ts';

export { agentProgram } from '../scripts/agents.mjs';

/** The program `hermes` of the release that the recipe is tried with. */
export function hermesProgram(): { readonly program?: string; readonly missing?: string } {
  const { python, missing: why } = hermesPython('0.19.0');
  return python === undefined ? { missing: why ?? 'needs hermes-agent' } : { program: join(dirname(python), 'hermes') };
}

/** Runs programs of arm64 Linux. */
export const QEMU = 'qemu-aarch64-static';

export type Need =
  | 'linux'
  | 'root'
  | 'nonroot'
  | 'unprivileged'
  | 'cc'
  | 'python'
  | 'hermes'
  | 'adapters'
  | 'sdks'
  | 'agentdojo'
  | 'mcpServers'
  | 'mcpCheckers'
  | 'claude'
  | 'codex'
  | 'opencode'
  | 'gemini'
  | 'acp-claude'
  | 'acp-codex'
  | 'systemd'
  | 'userns'
  | 'unshare'
  | 'overlay'
  | 'git'
  | 'patch'
  | 'pty'
  | 'mkfifo'
  | 'prlimit'
  | 'stack'
  | 'cgroup2'
  | 'zig'
  | 'qemu'
  | 'chromium'
  | 'postgres';

/** One for a process: test files that share a process load this file once for each of them. */
const shared = globalThis as { hobProbed?: Map<Need, string | undefined>; hobCompiled?: ReturnType<typeof compiled> };
shared.hobProbed ??= new Map();
const known = shared.hobProbed;

/** Each probe answers undefined when the machine has it, otherwise why not. */
const probes: Record<Need, () => string | undefined> = {
  // `script` of util-linux gives a program a terminal.
  pty: () =>
    spawnSync('script', ['-qec', 'test -t 0 && test -t 1', '/dev/null'], { stdio: ['pipe', 'ignore', 'ignore'] })
      .status === 0
      ? undefined
      : 'needs the program script of util-linux',
  linux: () => (process.platform === 'linux' ? undefined : `needs Linux (this is ${process.platform})`),
  root: () => (process.getuid?.() === 0 ? undefined : 'needs to run as root'),
  nonroot: () =>
    process.getuid !== undefined && process.getuid() !== 0 ? undefined : 'needs to run as an ordinary user',
  // As root: another user, who has to be able to read this checkout, and what tests make.
  unprivileged: () => {
    if (process.getuid?.() !== 0) return probes.nonroot();
    const [file, folder] = [import.meta.filename, tmpdir()].map((path) => JSON.stringify(path));
    const read = `const fs = require('node:fs'); fs.readFileSync(${file}); fs.accessSync(${folder}, fs.constants.X_OK)`;
    const { status } = spawnSync(process.execPath, ['-e', read], { stdio: 'ignore', uid: 54_321, gid: 54_321 });
    return status === 0 ? undefined : 'needs this checkout and the temporary directory to be readable by other users';
  },
  // As the test builds are made: with a C library to link statically, and the kernel's headers.
  cc: () => (shared.hobCompiled ??= compiled()).cc,
  python: () =>
    runs('needs Python >= 3.11 (python3)', 'python3', '-c', 'import sys; sys.exit(sys.version_info < (3, 11))'),
  // The environments that `npm run test:deep` and `.ci/run` make before they ask; `hermesPython(version)` is where a test finds them.
  hermes: () => HERMES_VERSIONS.map((version) => hermesPython(version).missing).find((reason) => reason !== undefined),
  // The same: the agent frameworks of Python.
  adapters: adaptersMissing,
  // The same: `examples/tools/node_modules`.
  sdks: sdksMissing,
  // The same: `.toolchain/agentdojo-*`.
  agentdojo: () => agentdojoPython().missing,
  // The same: `.toolchain/mcp-servers`.
  mcpServers: mcpServersMissing,
  // The same: `.toolchain/mcp-checkers`.
  mcpCheckers: mcpCheckersMissing,
  // The same: the real agent hosts, in `.toolchain/agents/`.
  claude: () => agentProgram('claude').missing,
  codex: () => agentProgram('codex').missing,
  opencode: () => agentProgram('opencode').missing,
  gemini: () => agentProgram('gemini').missing,
  'acp-claude': () => agentProgram('acp-claude').missing,
  'acp-codex': () => agentProgram('acp-codex').missing,
  systemd: () => runs('needs the program systemd-analyze', 'systemd-analyze', '--version'),
  git: () => leaves('needs the program git', ['git', 'init', '-q']),
  patch: () => leaves('needs the program patch', ['patch', '-s', 'f'], '--- f\n+++ f\n@@ -0,0 +1 @@\n+a\n'),
  prlimit: () => runs('needs the program prlimit (util-linux)', 'prlimit', '--pid', String(process.pid), '--fsize'),
  cgroup2: () => {
    const place = delegated();
    return 'why' in place ? `needs cgroup v2 with memory and pids, delegated to this process: ${place.why}` : undefined;
  },
  stack: () =>
    deepStack().length > 0 ? undefined : 'needs Linux and a stack of 8 MiB for the main thread (ulimit -s)',
  mkfifo: () => leaves('needs the program mkfifo', ['mkfifo', '-m', '666', 'fifo']),
  userns: () => probes.linux() ?? (shared.hobCompiled ??= compiled()).userns,
  unshare: () => probes.linux() ?? withUnshare(),
  // As `test/packed/bare.ts` makes a machine without a compiler.
  overlay: () =>
    probes.root() ??
    leaves('needs to mount an overlay over /usr, and the program setpriv', [
      ...['unshare', '--mount', '--propagation', 'private', '--', 'sh', '-c'],
      'mkdir t && mount -t tmpfs none t && mkdir t/up t/work && mount -t overlay -o lowerdir=/usr,upperdir=t/up,workdir=t/work none /usr && setpriv --reuid 54321 --regid 54321 --clear-groups -- true',
    ]),
  // `.ci/run` brings it before it asks.
  zig: () => zigProgram().missing,
  qemu: () => runs('needs the program qemu-aarch64-static (Debian: qemu-user-static)', QEMU, '--version'),
  chromium: () => chromium(),
  postgres: () =>
    postgresPrograms() === undefined
      ? 'needs the programs of a PostgreSQL server, 15 or later (Debian: postgresql)'
      : hasName()
        ? undefined
        : 'needs a user with a name: PostgreSQL refuses a user that has only a number, as in some containers',
};

/** Whether the system has a name for this user. Root runs the server as nobody. */
function hasName(): boolean {
  try {
    return userInfo().username !== '';
  } catch {
    return false;
  }
}

export const NEEDS: readonly Need[] = Object.keys(probes) as Need[];

/** Why this machine lacks it; undefined when it has it. */
export function missing(need: Need): string | undefined {
  if (!known.has(need)) known.set(need, probes[need]());
  return known.get(need);
}

export const needs = (need: Need): boolean => missing(need) === undefined;

/** Compiles `probe.c` and runs it, which tells of two needs. */
function compiled(): { readonly cc: string | undefined; readonly userns: string | undefined } {
  const folder = mkdtempSync(join(tmpdir(), 'hob-probe-'));
  try {
    const program = join(folder, 'probe');
    const flags = ['-std=gnu11', '-O1', '-static', '-o', program, join(import.meta.dirname, 'probe.c')];
    const cc = runs('needs a C compiler that links statically (cc, libc6-dev)', 'cc', ...flags);
    // Without a compiler no test makes a namespace but by the program.
    if (cc !== undefined) return { cc, userns: withUnshare() };
    const { status, stdout, error } = spawnSync(program, { encoding: 'utf8', timeout: 20_000 });
    const why = error?.message ?? stdout.trim();
    return { cc, userns: status === 0 ? undefined : `needs user namespaces that may mount (${why})` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const withUnshare = (): string | undefined =>
  runs(
    'needs the programs unshare and mount (util-linux), and user namespaces for them',
    'unshare',
    ...['--user', '--map-root-user', '--mount', 'mount', '-t', 'tmpfs', 'none', '/tmp'],
  );

/** Shows a page: the program can be there without the rights or the libraries that it needs. */
function chromium(): string | undefined {
  const home = mkdtempSync(join(tmpdir(), 'hob-probe-'));
  const args = [...chromiumOptions(home), '--dump-dom', 'data:text/html,<p>shown</p>'];
  const { stdout } = spawnSync(CHROMIUM, args, {
    encoding: 'utf8',
    timeout: 60_000,
    env: { ...process.env, HOME: home, TMPDIR: home },
  });
  rmSync(home, { recursive: true, force: true });
  return stdout?.includes('shown') ? undefined : 'needs the browser chromium, able to show a page without a screen';
}

/** The folder of `initdb` and `postgres`. Debian does not put them on the PATH. */
export function postgresPrograms(): string | undefined {
  const folders = [
    ...(process.env['PATH'] ?? '').split(delimiter),
    ...globSync('/usr/lib/postgresql/*/bin').sort().reverse(),
  ];
  return folders.find((folder) => {
    if (!existsSync(join(folder, 'initdb'))) return false;
    const { stdout } = spawnSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8', timeout: 20_000 });
    return Number(/\) (\d+)/.exec(stdout ?? '')?.[1] ?? 0) >= 15;
  });
}

/** Runs a command that writes files, in a folder of its own. */
function leaves(reason: string, [command = '', ...args]: readonly string[], input = ''): string | undefined {
  const cwd = mkdtempSync(join(tmpdir(), 'hob-probe-'));
  const stdio: StdioOptions = ['pipe', 'ignore', 'ignore'];
  const { status } = spawnSync(command, args, { cwd, input, stdio, timeout: 20_000 });
  rmSync(cwd, { recursive: true, force: true });
  return status === 0 ? undefined : reason;
}

function runs(reason: string, command: string, ...args: string[]): string | undefined {
  return spawnSync(command, args, { stdio: 'ignore', timeout: 20_000 }).status === 0 ? undefined : reason;
}
