/** The set-up of Python's tests, in a checkout of its own with a Python that only pretends: nothing is installed here. */
import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ROOT } from './sources.ts';

/** `-m venv DIR` copies itself; `-m pip` fails as long as there is a file `offline`. */
const PYTHON = `#!/bin/sh
case "$2" in
  venv) /bin/mkdir -p "$3/bin" && /bin/cp "$0" "$3/bin/python" ;;
  pip) [ ! -e "HERE/offline" ] || { echo 'no such host' >&2; exit 1; } ;;
  *) echo 3.11 ;;
esac
`;

test('without a registry the Python suites are skipped with the reason, and the next run tries again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-python-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  mkdirSync(join(folder, 'scripts'));
  for (const name of ['lock', 'python', 'setup'])
    cpSync(join(ROOT, 'scripts', `${name}.mjs`), join(folder, 'scripts', `${name}.mjs`));
  writeFileSync(join(folder, 'python3'), PYTHON.replace('HERE', folder));
  chmodSync(join(folder, 'python3'), 0o755);
  writeFileSync(join(folder, 'offline'), '');
  const code = "import('./scripts/python.mjs').then(async (m) => console.log(JSON.stringify(await m.setUpPython())))";
  const setUp = (): { python?: string; missing?: string } =>
    JSON.parse(
      spawnSync(process.execPath, ['-e', code], { cwd: folder, env: { PATH: folder }, encoding: 'utf8' }).stdout,
    );
  expect(setUp()).toEqual({
    missing: expect.stringMatching(/^needs Python packages .*\(no such host\): check that the package registry/),
  });
  rmSync(join(folder, 'offline'));
  const { python = '' } = setUp();
  expect(existsSync(python)).toBe(true);
});
