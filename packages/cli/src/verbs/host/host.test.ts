/** The verbs around a host: its log, its unit for systemd, what the machine can do, backup and restore. */
import { spawnSync } from 'node:child_process';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import { agentIn, hobHome, MANIFEST } from '../../../test/hob.ts';
import { shapeFault } from '../../../test/shape.ts';
import { unitText } from '../../line/unit-text.ts';
import { verbs } from '../../verbs.ts';

const test = requires('linux');
const shapeOf = (name: string): string => verbs.find((verb) => verb.name === name)!.json!;

test('serve writes its log to a file for its owner only: what it serves, sessions, backups, its end, and no secret or folder', async () => {
  const hob = hobHome();
  const log = join(hob.folder, 'serve.log');
  const host = hob.start('serve', '--manifest', join(hob.folder, 'config/hob.yaml'), '--log', log);
  await host.shows(/see its requests/);
  expect(statSync(log).mode & 0o777).toBe(0o600);
  const agent = hob.start('start', '--', ...agentIn(hob.folder));
  await agent.shows(/reads one/);
  expect(shapeFault(shapeOf('backup'), await hob.json('backup', 'copy.db'))).toBeUndefined();
  expect((await hob.run('end', 'S1')).code).toBe(0);
  expect(shapeFault(shapeOf('stop'), await hob.json('stop'))).toBeUndefined();
  expect(await host.ended).toBe(0);
  const text = readFileSync(log, 'utf8');
  const said = text
    .trimEnd()
    .split('\n')
    .map((line) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (.*)$/.exec(line)?.[1]);
  const { pid } = host.child;
  expect(said).toEqual([
    `process ${pid} serves a manifest in the mode cautious, with 2 caps`,
    'session S1 is open',
    'a copy of the state was written for a backup',
    'session S1 has ended',
    `process ${pid} ends with 0`,
  ]);
  // Nothing of it is on the standard error, too.
  expect(host.err).toBe('');
  expect(text).not.toMatch(/hob1_/);
  expect(text).not.toContain(hob.folder);
  // A root that holds the log would give it to agents, and a link would write somewhere else.
  for (const place of ['config/project/serve.log', 'config/project/src/a.txt']) {
    const wrong = hob.start('serve', '--manifest', join(hob.folder, 'config/hob.yaml'), '--log', join(hob.folder, place)); // biome-ignore format: one line
    const serves = wrong.shows(/see its requests/).then(
      () => 'it serves',
      () => 'it does not serve',
    );
    expect([await serves, place]).toEqual(['it does not serve', place]);
    expect([await wrong.ended, wrong.err]).toEqual([1, expect.stringMatching(/^hob: roots\.project: this folder is, contains/)]); // biome-ignore format: one line
  }
  symlinkSync(join(hob.folder, 'config/hob.yaml'), join(hob.folder, 'link.log'));
  const { code, err } = await hob.run('serve', '--manifest', join(hob.folder, 'config/hob.yaml'), '--log', 'link.log');
  expect([code, err]).toEqual([1, expect.stringMatching(/^hob: the log cannot be written: name a file of yours/)]);
  expect(readFileSync(join(hob.folder, 'config/hob.yaml'), 'utf8')).toBe(MANIFEST);
}, 400_000);

test('the secret of a session is never put into the folder where hob start runs, whatever XDG_RUNTIME_DIR says', async () => {
  const hob = hobHome();
  await hob.serve();
  const [node, ...words] = hob.words as [string, ...string[]];
  const script = 'test -s "$HOB_SECRET_FILE" && echo "$HOB_SECRET_FILE"';
  for (const runtime of ['', '.', 'run', join(hob.folder, 'none')]) {
    const { stdout, stderr } = spawnSync(node, [...words, 'start', '--', 'sh', '-c', script], {
      cwd: hob.folder,
      env: { ...hob.env, XDG_RUNTIME_DIR: runtime },
      encoding: 'utf8',
    });
    expect([stdout, stderr]).toEqual([expect.stringContaining(`${hob.env['TMPDIR']}/hob-entry-`), expect.anything()]);
  }
  expect(readdirSync(hob.env['TMPDIR'] as string)).toEqual([]);
}, 400_000);

test('without --log the same lines go to the standard error, where systemd takes them for its journal', async () => {
  const hob = hobHome();
  const host = await hob.serve();
  await host.shows(/^hob: process \d+ serves a manifest in the mode cautious, with 2 caps$/m);
  host.child.kill('SIGTERM');
  expect(await host.ended).toBe(0);
  expect(host.err).toMatch(/^hob: process \d+ serves [^\n]*\nhob: process \d+ ends with 0\n$/);
}, 400_000);

test('doctor says for each layer whether it works, and ends with 0 only if all that are needed do', async () => {
  const hob = hobHome();
  const { code, out } = await hob.run('doctor', '--json');
  type Layers = readonly { readonly name: string; readonly ok: boolean }[];
  const said = JSON.parse(out) as { readonly ok: boolean; readonly layers: Layers };
  expect(shapeFault(shapeOf('doctor'), said)).toBeUndefined();
  expect(said.layers.length).toBeGreaterThan(2);
  const needed = said.layers.filter(({ name }) => !name.endsWith('(not needed)'));
  expect([said.ok, code]).toEqual(needed.every(({ ok }) => ok) ? [true, 0] : [false, 1]);
  const text = await hob.run('doctor');
  expect(text.code).toBe(code);
  expect(text.out.split('\n').filter((line) => /^(?:ok|MISSING) {2}/.test(line))).toHaveLength(said.layers.length);
  if (!said.ok) expect(text.out).toMatch(/^MISSING .*: \S+/m);
}, 400_000);

test('a state in use, an unknown state and a file that is no backup are refused, and nothing is left', async () => {
  const hob = hobHome();
  const ends = async (pattern: RegExp, ...args: readonly string[]): Promise<void> => {
    const { code, err } = await hob.run(...args);
    expect([args, code, err]).toEqual([args, 1, expect.stringMatching(pattern)]);
    expect(err).not.toMatch(/^\s+at /m);
  };
  await ends(/^hob: there is no state of a host/, 'backup', 'copy.db');
  await hob.serve();
  await ends(/^hob: the backup cannot be written/, 'backup', 'none/copy.db');
  expect(shapeFault(shapeOf('backup'), await hob.json('backup', 'copy.db'))).toBeUndefined();
  await ends(/^hob: a file of that name exists already/, 'backup', 'copy.db');
  await ends(/^hob: a store can be restored only into an empty folder/, 'restore', 'copy.db');
  await ends(/^hob: the backup cannot be restored/, 'restore', '--state', 'none', 'nothing.db');
  expect(shapeFault(shapeOf('restore'), await hob.json('restore', '--state', 'again', 'copy.db'))).toBeUndefined();
  expect(readdirSync(hob.folder).filter((name) => /part|copy/.test(name))).toEqual(['copy.db']);
}, 400_000);

test('unit prints a unit that runs this hob on this manifest and state, whatever is in their names', async () => {
  const hob = hobHome();
  const odd = `a b%c$d"e\\f'g`;
  const unit = await hob.run('unit', '--manifest', `${odd}.yaml`, '--state', odd);
  expect([unit.code, unit.err]).toEqual([0, '']);
  const [program, ...words] = wordsOf(/^ExecStart=(.*)$/m.exec(unit.out)![1]!);
  expect(program).toBe(process.execPath);
  expect(words.slice(-5)).toEqual(['serve', '--manifest', join(hob.folder, `${odd}.yaml`), '--state', join(hob.folder, odd)]); // biome-ignore format: one line
  // The unit runs this hob.
  const version = spawnSync(program!, [...words.slice(0, -5), 'version'], { encoding: 'utf8', env: { PATH: '' } });
  expect(version.stdout).toBe((await hob.run('version')).out);
  expect(shapeFault(shapeOf('unit'), await hob.json('unit'))).toBeUndefined();
  // A service whose database is away for an hour is tried for that hour.
  expect(unit.out).toMatch(/^StartLimitBurst=5$/m);
  expect((await hob.run('unit', '--store', 'store.yaml')).out).toMatch(/^StartLimitIntervalSec=0\n\n/m);
  const refused = await hob.run('unit', '--state', 'a\nb');
  expect([refused.code, refused.out]).toEqual([1, '']);
});

/** As systemd reads a command line: quotes, then `\\`, `%%` and `$$`. Any other `%` or `$` means something else to it. */
function wordsOf(line: string): string[] {
  return (line.match(/"(?:[^"\\]|\\.)*"|\S+/g) ?? []).map((word) =>
    (word.startsWith('"') ? word.slice(1, -1).replaceAll(/\\(.)/g, '$1') : word).replaceAll(
      /[%$](.?)/g,
      (both, next) => (both === `${next}${next}` ? next : `(${both})`),
    ),
  );
}

requires('systemd')('systemd finds nothing wrong with the unit, also with odd names in it', () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-unit-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['plain', 'a b', 'c%d$e', `f"g'h\\i`]) {
    mkdirSync(join(folder, name), { recursive: true });
    const file = join(folder, 'hob.service');
    writeFileSync(file, unitText([process.execPath, join(folder, name, 'hob.js'), 'serve', '--state', name]));
    const { status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    // Older versions do not know the newest key, and say so.
    const faults = stderr
      .split('\n')
      .filter((line) => line.includes('hob.service') && !line.includes('DelegateSubgroup'));
    expect({ name, status, faults }).toEqual({ name, status: 0, faults: [] });
  }
});
