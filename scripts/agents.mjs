/**
 * The real agent hosts that the recipes of `hob` are tried with, in `.toolchain/agents/`.
 *
 * `packages/cli/test/agents/NAME/package-lock.json` pins every package of one host with its digest. No script of a
 * package is run at the installation; then the host's own program that links its binary is, as `link` says.
 *
 * Promise: `agentProgram(name)` answers a program only if its folder is complete and holds what its lockfile says now.
 * The set-up can be killed at any moment and called by several processes at once. It never fails: where there is no
 * registry it says so, and the tests that need this host are skipped with that reason. Only tests call it.
 *
 * Plain JavaScript for Node 18.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { ROOT } from './setup.mjs';

/** Each host: its program, the size of its folder, and the program that links its binary, with the folder it runs in. */
const AGENTS = {
  claude: { size: '235 MB', link: ['node_modules/@anthropic-ai/claude-code', 'install.cjs'] },
  opencode: { size: '355 MB', link: ['node_modules/opencode-ai', 'postinstall.mjs'] },
  codex: { size: '290 MB' },
  gemini: { size: '100 MB' },
  // Without the programs of the hosts that they bring along: those above are used.
  'acp-claude': { size: '40 MB', program: 'claude-agent-acp', omits: 'optional' },
  'acp-codex': { size: '10 MB', program: 'codex-acp', omits: 'optional' },
};
export const AGENT_NAMES = Object.keys(AGENTS);

const INSTALL_MS = 600_000;
const pins = (name) => join(ROOT, 'packages', 'cli', 'test', 'agents', name);
const folders = join(ROOT, '.toolchain', 'agents');
const reasonFile = (name) => join(folders, `${name}-missing`);

function folderOf(name) {
  const lock = readFileSync(join(pins(name), 'package-lock.json'));
  return join(folders, `${name}-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`);
}

/** `{program}`, an absolute path; or `{missing}`: why there is none. Looks, installs nothing. */
export function agentProgram(name) {
  const folder = folderOf(name);
  const program = join(folder, 'node_modules', '.bin', AGENTS[name].program ?? name);
  if (existsSync(join(folder, 'hob-stamp')) && existsSync(program)) return { program };
  return { missing: `needs the agent host ${name} in .toolchain/ (${lastReason(name)})` };
}

/** Installs those that are named, one after the other. Answers why one is missing; undefined when all are there. */
export async function setUpAgents(names = AGENT_NAMES) {
  let fault;
  for (const name of names) fault = (await setUp(name)) ?? fault;
  return fault;
}

async function setUp(name) {
  if (agentProgram(name).missing === undefined) return undefined;
  mkdirSync(folders, { recursive: true });
  return withLock(
    join(folders, `${name}-lock`),
    (owner) => process.stderr.write(`hob: waiting for the set-up of ${name} that process ${owner.pid} has begun\n`),
    async () => {
      if (agentProgram(name).missing === undefined) return undefined;
      process.stderr.write(`hob: installing the agent host ${name} for the tests (${AGENTS[name].size})\n`);
      const fault = await install(name);
      if (fault === undefined) {
        rmSync(reasonFile(name), { force: true });
        return undefined;
      }
      const reason = `${name} could not be installed: ${fault}`;
      writeFileSync(reasonFile(name), reason);
      process.stderr.write(`hob: tests with this host will be skipped: ${reason}\n`);
      return reason;
    },
  );
}

/** A folder without its stamp, which is written last, is not there. Answers undefined, or what went wrong. */
async function install(name) {
  const folder = folderOf(name);
  for (const old of readdirSync(folders).filter((each) => each.startsWith(`${name}-`) && /-[0-9a-f]{12}$/.test(each)))
    rmSync(join(folders, old), { recursive: true, force: true });
  mkdirSync(folder);
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(pins(name), file), join(folder, file));
  const { omits, link } = AGENTS[name];
  const [within, script] = link ?? [];
  // `npm ci` refuses a lockfile without the packages of other systems, and registries do not have them all.
  const options = [
    '--no-save',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
    ...(omits === undefined ? [] : [`--omit=${omits}`]),
  ];
  const fault =
    (await runs('npm', ['install', ...options], folder)) ??
    unpinned(folder) ??
    (script === undefined ? undefined : await runs(process.execPath, [script], join(folder, within)));
  if (fault !== undefined) return fault;
  writeFileSync(join(folder, 'stamp.new'), '');
  renameSync(join(folder, 'stamp.new'), join(folder, 'hob-stamp'));
  return undefined;
}

/** Every package that is there has its digest in our lockfile. Answers what has not; undefined if all have. */
function unpinned(folder) {
  const packages = (file) => Object.entries(JSON.parse(readFileSync(join(folder, file), 'utf8')).packages);
  const known = new Map(packages('package-lock.json'));
  const other = packages('node_modules/.package-lock.json').filter(
    ([name, { integrity }]) => integrity === undefined || known.get(name)?.integrity !== integrity,
  );
  return other.length === 0 ? undefined : `no digest is known of ${other[0][0]}`;
}

function lastReason(name) {
  try {
    return readFileSync(reasonFile(name), 'utf8');
  } catch {
    return 'npm run test:deep installs it';
  }
}

/** Answers undefined, or the line that says why it failed. */
function runs(command, args, cwd) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd,
      shell: process.platform === 'win32',
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), INSTALL_MS);
    let said = '';
    child.stderr.on('data', (text) => {
      said = `${said}${text}`.slice(-4_000);
    });
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => {
      clearTimeout(timer);
      const line = said.split('\n').find((each) => /npm error (?!A complete log|code)/.test(each));
      resolve(code === 0 ? undefined : (line ?? `exit ${code}`));
    });
  });
}
