/** The native parts: built alike everywhere, small, and found by an installed package before anything else. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, type TestContext, test } from 'vitest';
import { checksumsOf, fingerprint, PARTS } from '../scripts/native/build.ts';
import { needs, requires } from './needs.ts';
import { type Installed, installed } from './packed/installed.ts';
import { newUser, type Said } from './packed/user.ts';

let made: Installed | undefined;
beforeAll(async () => {
  if (needs('zig') || needs('cc')) made = await installed();
}, 600_000);
afterAll(() => made?.remove());

const arch = process.arch;

/** An installed folder of its own, to be changed. */
function folderOf(context: TestContext): string {
  if (made === undefined) return context.skip('needs the package registry, for what Hob depends on');
  const folder = fs.mkdtempSync(join(tmpdir(), 'hob-native-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  fs.chmodSync(folder, 0o755);
  fs.cpSync(made.folder, folder, { recursive: true, verbatimSymlinks: true });
  return folder;
}

const SHELL = `
import { openFsCap, backendInfo } from '@hob/caps-fs';
import { makeShellCap } from '@hob/caps-shell';
const files = await openFsCap('.');
const shell = await makeShellCap({ mounts: { '/ws': files } });
const done = await shell.run('cat /proc/self/status | grep Seccomp: ; echo it ran').catch((error) => error);
console.log(done.stdout ?? done.message);
await shell.close();
await files.close();
`;
const runs = async (folder: string): Promise<Said> => newUser(folder, 'node only').run(SHELL);

test('the checksums of the native parts are those of the sources as they are', () => {
  // Otherwise: npm run native -- --write
  for (const part of PARTS) expect(checksumsOf(part).sources, part.folder).toBe(fingerprint(part));
});

requires('userns', 'zig')(
  'without a compiler an installed package runs a program, and the directory cap is native',
  async (context) => {
    const folder = folderOf(context);
    const said = await runs(folder);
    expect(said).toEqual({ stdout: expect.stringMatching(/^Seccomp:\t2\nit ran\n/), stderr: '', end: 0 });
    const backend = await newUser(folder, 'node only').run(
      "import { backendInfo } from '@hob/caps-fs'; console.log(JSON.stringify(backendInfo()));",
    );
    expect(backend.stdout).toContain('"native"');
  },
);

/** The PSS in KiB of the helpers among the descendants of a process. */
function helpersOf(ancestor: string): readonly number[] {
  const parentOf = (pid: string): string =>
    /^PPid:\t(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1] ?? '0';
  const descends = (pid: string): boolean => pid !== '0' && (pid === ancestor || descends(parentOf(pid)));
  return fs.readdirSync('/proc').flatMap((pid) => {
    try {
      if (!/^\d+$/.test(pid) || !fs.readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('hob-sandbox')) return [];
      const pss = /^Pss:\s+(\d+)/m.exec(fs.readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))?.[1];
      return descends(pid) ? [Number(pss)] : [];
    } catch {
      // It has gone.
      return [];
    }
  });
}

// Only root may look at the memory of another user's processes.
requires(
  'userns',
  'zig',
  'root',
)('the helpers of a job hold less than 0.5 MB while its program runs', async (context) => {
  const folder = folderOf(context);
  const measured = join(folder, 'measured');
  let helpers: readonly number[] = [];
  const program = `
import { existsSync } from 'node:fs';
import { openFsCap } from '@hob/caps-fs';
import { makeShellCap } from '@hob/caps-shell';
const files = await openFsCap('.');
const shell = await makeShellCap({ mounts: { '/ws': files } });
const job = await shell.spawn('echo up; exec sleep 600');
await job.stdout.next();
console.log(process.pid);
while (!existsSync(${JSON.stringify(measured)})) await new Promise((done) => setTimeout(done, 20));
await job.signal('KILL');
await job.wait();
await shell.close();
await files.close();`;
  const said = await newUser(folder, 'node only').run(program, (stdout) => {
    const [, pid] = /^(\d+)\n/.exec(stdout) ?? [];
    if (pid === undefined) return;
    helpers = helpersOf(pid);
    fs.writeFileSync(measured, '');
  });
  expect(said).toMatchObject({ stderr: '', end: 0 });
  expect(helpers).toHaveLength(2);
  expect(helpers.reduce((sum, one) => sum + one, 0)).toBeLessThan(512);
});

requires('userns', 'zig')(
  'a program that is not the one of this version is refused, also where a compiled one is there',
  async (context) => {
    const folder = folderOf(context);
    const own = join(folder, 'node_modules', '@hob', `sandbox-linux-${arch}`, 'hob-sandbox');
    fs.appendFileSync(own, 'x');
    if (needs('cc')) buildIn(folder);
    const said = await runs(folder);
    expect(said.stdout).toMatch(/^no sandbox here \(helper: ESTALE\): .* install the packages again/);
  },
);

requires('zig')(
  'code that is not the C part of this version is never loaded, from the package or from a folder above',
  async (context) => {
    const folder = folderOf(context);
    const backend = "import { backendInfo } from '@hob/caps-fs'; console.log(backendInfo().backend);";
    const says = async (): Promise<string> => (await newUser(folder, 'node only').run(backend)).stdout;
    expect(await says()).toBe('native\n');
    const file = join(folder, 'node_modules', '@hob', `caps-fs-linux-${arch}`, 'fscap.node');
    const whole = fs.readFileSync(file);
    // It loads as before: what is behind the end of its sections is in no memory.
    fs.appendFileSync(file, 'x');
    expect(await says()).toBe('proc\n');
    fs.writeFileSync(file, whole);
    expect(await says()).toBe('native\n');
    // Node looks in the folder above when the package is missing.
    const below = join(folder, 'below');
    fs.mkdirSync(below);
    fs.renameSync(join(folder, 'node_modules', '@hob', `caps-fs-linux-${arch}`), join(below, 'kept'));
    fs.cpSync(join(folder, 'node_modules'), join(below, 'node_modules'), { recursive: true, verbatimSymlinks: true });
    const above = join(folder, 'node_modules', '@hob', `caps-fs-linux-${arch}`);
    fs.cpSync(join(below, 'kept'), above, { recursive: true });
    fs.appendFileSync(join(above, 'fscap.node'), 'x');
    expect((await newUser(below, 'node only').run(backend)).stdout).toBe('proc\n');
  },
);

requires('userns', 'cc')(
  'without the package of its platform the doctor builds the program, and it runs',
  async (context) => {
    const folder = folderOf(context);
    fs.rmSync(join(folder, 'node_modules', '@hob', `sandbox-linux-${arch}`), { recursive: true, force: true });
    const before = await runs(folder);
    expect(before.stdout).toMatch(/^no sandbox here \(helper: ENOENT\): .*--include=optional.*npx hob-doctor/);
    buildIn(folder);
    expect((await runs(folder)).stdout).toMatch(/^Seccomp:\t2\nit ran\n/);
  },
);

/** Runs the doctor as who installed the packages. */
function buildIn(folder: string): void {
  const doctor = join(folder, 'node_modules', '.bin', 'hob-doctor');
  const { stdout, stderr } = spawnSync(process.execPath, [doctor], { cwd: folder, encoding: 'utf8' });
  expect([stdout, stderr]).toEqual([expect.stringContaining('confining programs'), '']);
}
