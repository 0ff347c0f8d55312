/** The set-up of Hermes, in a checkout of its own with a Python that only pretends: nothing is installed here. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { HERMES_VERSIONS, hermesPython } from '../scripts/hermes.mjs';
import { requires } from './needs.ts';
import { ROOT } from './sources.ts';

/** `-m venv DIR` copies itself; `-m pip` waits a little and counts; with a file `offline` beside it pip fails. */
const PYTHON = `#!/bin/sh
here=HERE
case "$2" in
  venv) mkdir -p "$3/bin" && cp "$0" "$3/bin/python" ;;
  pip) [ -e "$here/offline" ] && { echo 'no such host' >&2; exit 1; }; sleep 0.2; echo once >> "$here/installs" ;;
  *) echo 3.11 ;;
esac
`;

function checkout(): { folder: string; setUp(): Promise<string>; count(): number } {
  const folder = mkdtempSync(join(tmpdir(), 'hob-hermes-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const name of ['hermes', 'lock', 'pins', 'python', 'setup']) {
    mkdirSync(join(folder, 'scripts'), { recursive: true });
    cpSync(join(ROOT, 'scripts', `${name}.mjs`), join(folder, 'scripts', `${name}.mjs`));
  }
  cpSync(join(ROOT, 'packages/bridge-python/hermes'), join(folder, 'packages/bridge-python/hermes'), {
    recursive: true,
  });
  writeFileSync(join(folder, 'python3'), PYTHON.replace('HERE', folder));
  chmodSync(join(folder, 'python3'), 0o755);
  const code =
    "import('./scripts/hermes.mjs').then(async (m) => console.log(JSON.stringify([await m.setUpHermes(), ...m.HERMES_VERSIONS.map(m.hermesPython)])))";
  return {
    folder,
    setUp: () =>
      new Promise((resolve, reject) => {
        const env = { ...process.env, PATH: `${folder}${delimiter}${process.env['PATH']}` };
        const child = spawn(process.execPath, ['-e', code], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
        let said = '';
        child.stdout.on('data', (text) => (said += text));
        child.once('close', (status) => (status === 0 ? resolve(said.trim()) : reject(new Error(`exit ${status}`))));
      }),
    count: () =>
      existsSync(join(folder, 'installs')) ? readFileSync(join(folder, 'installs'), 'utf8').split('\n').length - 1 : 0,
  };
}

test('three set-ups at once install each version once, and the next one nothing', async () => {
  const { setUp, count } = checkout();
  const answers = [...(await Promise.all([setUp(), setUp(), setUp()])), await setUp()];
  expect(count()).toBe(HERMES_VERSIONS.length);
  expect(new Set(answers).size).toBe(1);
  for (const version of HERMES_VERSIONS) expect(answers[0]).toContain(`hermes-${version}-`);
  expect(answers[0]).not.toContain('missing');
});

test('without a registry the set-up says why, leaves nothing that counts, and works the next time', async () => {
  const { folder, setUp } = checkout();
  writeFileSync(join(folder, 'offline'), '');
  const [reason, ...found] = JSON.parse(await setUp());
  expect(reason).toMatch(/could not be installed: no such host/);
  expect(found.map((each: { missing: string }) => each.missing)).toEqual(
    HERMES_VERSIONS.map((version) => expect.stringMatching(`needs hermes-agent ${version} .*no such host`)),
  );
  rmSync(join(folder, 'offline'));
  expect(await setUp()).not.toContain('missing');
});

test('an environment of other pins, or one that was killed before its stamp, is not taken', async () => {
  const { folder, setUp, count } = checkout();
  await setUp();
  const kept = readdirSync(join(folder, '.toolchain')).filter((name) => name.startsWith('hermes-0'));
  rmSync(join(folder, '.toolchain', kept[0] as string, 'hob-stamp'));
  writeFileSync(join(folder, 'packages/bridge-python/hermes/0.19.0.txt'), 'other==1\n');
  expect(await setUp()).not.toContain('missing');
  expect(count()).toBe(HERMES_VERSIONS.length * 2);
});

test('every package that is installed has its digests', () => {
  const pins = HERMES_VERSIONS.map((version) => ({ file: `hermes/${version}.txt`, has: `==${version} ` }));
  for (const { file, has } of [...pins, { file: 'adapters/adapters.txt', has: 'openai-agents==' }]) {
    const text = readFileSync(join(ROOT, 'packages/bridge-python', file), 'utf8');
    const entries = text.split(/\n(?! )/).filter(Boolean);
    expect(
      entries.filter((entry) => !/^[\w.[\],-]+==\S+[^\n]* \\\n {4}--hash=sha256:[0-9a-f]{64}/.test(entry)),
    ).toEqual([]);
    expect(text).toContain(has);
  }
});

requires('hermes')('the probe answers interpreters that have the two versions', () => {
  for (const version of HERMES_VERSIONS) expect(existsSync(hermesPython(version).python as string)).toBe(true);
});
