/** Where hob looks for its manifest and its state, and what it says to a user without a home folder. */
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { afterEach, expect, test, vi } from 'vitest';
import { hobProgram } from '../../../../test/hob-program.ts';
import { inherited } from '../../../../test/mutants/environment.ts';
import { requires } from '../../../../test/needs.ts';
import { hobHome, MANIFEST } from '../../test/hob.ts';
import { fromHome, homeFolder, usualManifest } from './places.ts';

const NO_HOME = /^hob: this user has no home folder: set HOME or XDG_(CONFIG|STATE)_HOME to an absolute path\n$/;

afterEach(() => vi.unstubAllEnvs());

test('without HOME the home comes from the system, or there is none', () => {
  vi.stubEnv('HOME', undefined);
  const { home } = homeFolder();
  expect(home === undefined || isAbsolute(home)).toBe(true);
});

test('an empty or relative HOME is no home: XDG folders still count, and without them an error names the variables', () => {
  vi.stubEnv('XDG_CONFIG_HOME', undefined);
  for (const none of ['', 'relative', '.']) {
    vi.stubEnv('HOME', none);
    expect(homeFolder()).toEqual({});
    expect(usualManifest).toThrow(/no home folder: set HOME or XDG_CONFIG_HOME/);
    expect(() => fromHome('~/door.pem')).toThrow(/no home folder: set HOME/);
    expect(fromHome('/etc/door.pem')).toBe('/etc/door.pem');
  }
  vi.stubEnv('XDG_CONFIG_HOME', '/srv/config');
  expect(usualManifest()).toBe('/srv/config/hob/hob.yaml');
});

test('attack: with an empty HOME the manifest of a working directory is not that of its user', async () => {
  const hob = hobHome(MANIFEST, { HOME: '' });
  mkdirSync(join(hob.folder, '.config/hob'), { recursive: true });
  writeFileSync(join(hob.folder, '.config/hob/hob.yaml'), 'version: 1\n');
  for (const verb of [['serve'], ['check'], ['status'], ['ledger', 'verify']]) {
    const { code, out, err } = await hob.run(...verb);
    expect([code, out]).toEqual([1, '']);
    // One line: no stack, and no path of this machine.
    expect(err).toMatch(NO_HOME);
  }
  // A manifest that is named needs no home, unless a root lies there.
  const named = join(hob.folder, 'config/hob.yaml');
  expect(await hob.run('check', named)).toMatchObject({ code: 0, err: '' });
  writeFileSync(named, 'version: 1\nroots: { project: ~/project }\n');
  expect((await hob.run('check', named)).out).toMatch(/:2:\d+: roots\.project: "~\/project" is not a place/);
});

requires('root', 'unprivileged')('a user that has only a number and no HOME reads which variable to set', () => {
  const env = { PATH: process.env['PATH'], ...inherited() };
  const how = { uid: 54_321, gid: 54_321, cwd: '/', encoding: 'utf8' as const, env };
  for (const verb of ['status', 'check']) {
    const { status, stderr } = spawnSync(process.execPath, [...hobProgram(), verb], how);
    expect(stderr).toMatch(NO_HOME);
    expect(status).toBe(1);
  }
});
