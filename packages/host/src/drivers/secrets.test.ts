/** The file of a secret: read once, and gone afterwards. */
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { inherited } from '../../../../test/mutants/environment.ts';
import { requires } from '../../../../test/needs.ts';

const hooks = new URL('../../../../scripts/resolve.mjs', import.meta.url).href;
const secrets = new URL('./secrets.ts', import.meta.url).href;
const OTHER = 54_321;

requires('unprivileged')(
  'a secret in a file that cannot be removed is not taken, and the error says why in words',
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'hob-secret-'));
    onTestFinished(() => {
      chmodSync(join(folder, 'shut'), 0o700);
      rmSync(folder, { recursive: true });
    });
    chmodSync(folder, 0o755);
    mkdirSync(join(folder, 'shut'));
    const file = join(folder, 'shut', 'secret');
    writeFileSync(file, 'hob1_abc\n', { mode: 0o600 });
    const isRoot = process.getuid?.() === 0;
    if (isRoot) chownSync(file, OTHER, OTHER);
    chmodSync(join(folder, 'shut'), 0o555);
    const program = `import('${secrets}').then(({ secretOfAgent }) => secretOfAgent()).then(console.log, ({ code, message }) => console.log(code, message))`;
    const { stdout } = spawnSync(process.execPath, ['--no-warnings', '--import', hooks, '-e', program], {
      env: { ...inherited(), HOB_SECRET_FILE: file },
      encoding: 'utf8',
      ...(isRoot ? { uid: OTHER, gid: OTHER } : {}),
    });
    expect(stdout).toBe(
      'invalid the file of HOB_SECRET_FILE cannot be removed: put it in a folder that you may write\n',
    );
    expect(readFileSync(file, 'utf8')).toBe('hob1_abc\n');
  },
);
