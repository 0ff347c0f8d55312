/** `probe()` says what is there by having tried it, and `npm run doctor` prints the remedy. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { type Builds, builds } from '../test/builds.ts';
import { probe } from './drivers/probe.ts';

const test = requires('linux', 'cc', 'userns');
let all: Builds;
beforeAll(() => {
  all = builds();
});

test('where everything works every layer is ok', async () => {
  const { ok, layers } = await probe();
  expect(layers.filter((layer) => !layer.ok && !layer.name.includes('not needed'))).toEqual([]);
  expect(ok).toBe(true);
});

test('the layer that fails is named with errno and remedy, and none after it is told of', async () => {
  for (const [step, name, errno] of [
    ['pidns', 'fresh /proc', 'EPERM'],
    // Landlock asks for it (EPERM), or the filter where there is no Landlock.
    ['nnp', 'no rights, filter, limits', expect.stringMatching(/^(EPERM|EACCES)$/)],
  ] as const) {
    const { ok, layers } = await probe(all.without(step));
    expect(ok).toBe(false);
    expect(layers.at(-1)).toMatchObject({ name, ok: false, errno });
    expect(layers.at(-1)?.remedy).toBeTruthy();
    expect(layers.slice(0, -1).every((layer) => layer.ok)).toBe(true);
  }
});

test('a world that was built but does not hold is not ok', async () => {
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

test('npm run doctor prints it', () => {
  const doctor = join(import.meta.dirname, 'drivers', 'doctor.ts');
  const { status, stdout } = spawnSync(process.execPath, ['--no-warnings', doctor], { encoding: 'utf8' });
  expect(stdout).toContain('programs can be confined here');
  expect(status).toBe(0);
});
