/** The C part of a package runs in the host's process, so it is loaded only if it is the one of this version. */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../test/needs.ts';

const built = fileURLToPath(new URL('../../node_modules/.native/fscap.node', import.meta.url));
const hooks = new URL('../../../../scripts/resolve.mjs', import.meta.url).href;
const index = new URL('../index.ts', import.meta.url).href;

requires(
  'linux',
  'cc',
  'mkfifo',
)('code that somebody put where Node looks for packages is not loaded', () => {
  const folder = fs.mkdtempSync(join(tmpdir(), 'hob-part-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  const backend = (env: Readonly<Record<string, string>>): string => {
    const program = `import('${index}').then(({ backendInfo }) => console.log(backendInfo().backend))`;
    const all = { ...process.env, ...env, CAPS_FS_BACKEND: '' };
    return spawnSync(process.execPath, ['--no-warnings', '--import', hooks, '-e', program], {
      env: all,
      encoding: 'utf8',
      // Ends what hangs.
      timeout: 30_000,
    }).stdout;
  };
  expect(backend({})).toBe('native\n');
  const planted = join(folder, '@hob', `caps-fs-linux-${process.arch}`);
  fs.mkdirSync(planted, { recursive: true });
  fs.writeFileSync(join(planted, 'package.json'), '{}');
  // It would load, and say that it is of this version.
  fs.copyFileSync(built, join(planted, 'fscap.node'));
  fs.appendFileSync(join(planted, 'fscap.node'), 'x');
  expect(backend({ NODE_PATH: folder })).toBe('proc\n');
  // Nor does it hold the process up: a FIFO, a device without an end, a link to one.
  const part = join(planted, 'fscap.node');
  const whole = (): void => {
    fs.writeFileSync(part, '');
    fs.truncateSync(part, 2 ** 40);
  };
  for (const plant of [() => spawnSync('mkfifo', [part]), () => fs.symlinkSync('/dev/zero', part), whole]) {
    fs.rmSync(part, { force: true });
    plant();
    expect(backend({ NODE_PATH: folder })).toBe('proc\n');
  }
});
