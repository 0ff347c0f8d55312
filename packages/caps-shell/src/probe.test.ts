/** `probe()` finds out what works by trying it, and `npm run doctor` prints the remedy. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { type Builds, builds } from '../test/builds.ts';
import { probe } from './drivers/probe.ts';

const test = requires('linux', 'cc', 'userns');
let all: Builds;
test.beforeAll(() => {
  all = builds();
});

test('on a machine where everything works, every layer is ok', async () => {
  const { ok, layers } = await probe();
  expect(layers.filter((layer) => !layer.ok && !layer.name.includes('not needed'))).toEqual([]);
  expect(ok).toBe(true);
});

test('the layer that fails is named with errno and remedy, and no later one is listed', async () => {
  for (const [step, name, errno] of [
    ['pidns', 'fresh /proc', 'EPERM'],
    // Landlock needs it (EPERM), or the filter on a machine without Landlock.
    ['nnp', 'no rights, filter, limits', expect.stringMatching(/^(EPERM|EACCES)$/)],
  ] as const) {
    const { ok, layers } = await probe(all.without(step));
    expect(ok).toBe(false);
    expect(layers.at(-1)).toMatchObject({ name, ok: false, errno });
    expect(layers.at(-1)?.remedy).toBeTruthy();
    expect(layers.slice(0, -1).every((layer) => layer.ok)).toBe(true);
  }
});

test('a world that is built but does not confine is not ok', async () => {
  for (const step of ['procro', 'caps', 'seccomp']) {
    const { ok, layers } = await probe(all.without(step));
    expect({ step, ok, last: layers.at(-1)?.ok }).toEqual({ step, ok: false, last: false });
  }
});

test('without the program the remedy says what to install', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-probe-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { ok, layers } = await probe(join(folder, 'none'));
  expect(ok).toBe(false);
  expect(layers.at(-1)).toMatchObject({ name: 'helper', errno: 'ENOENT', remedy: expect.stringContaining('cc') });
});

requires('linux')('without a C compiler npm run doctor says that once, and leaves no build folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-doctor-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const own = join(import.meta.dirname, '..');
  for (const part of ['package.json', 'sandbox', 'src'])
    cpSync(join(own, part), join(folder, part), { recursive: true });
  symlinkSync(join(own, 'node_modules'), join(folder, 'node_modules'));
  const resolve = new URL('../../../scripts/resolve.mjs', import.meta.url).href;
  const doctor = join(folder, 'src', 'drivers', 'doctor.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', '--import', resolve, doctor], {
    encoding: 'utf8',
    env: { PATH: join(folder, 'none') },
  });
  expect([stderr, stdout.split('\n').filter((line) => /compiler|\bcc\b/.test(line))]).toEqual([
    '',
    [expect.stringMatching(/^ +there is no sandbox program: .*C compiler .*npx hob-doctor$/)],
  ]);
  expect(status).toBe(1);
  expect(readdirSync(folder)).not.toContain('build');
});

test('npm run doctor prints the layers', () => {
  const doctor = join(import.meta.dirname, 'drivers', 'doctor.ts');
  const { status, stdout } = spawnSync(process.execPath, ['--no-warnings', doctor], { encoding: 'utf8' });
  expect(stdout).toContain('programs can be confined here');
  expect(status).toBe(0);
});
