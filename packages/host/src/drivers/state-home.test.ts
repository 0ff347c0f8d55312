import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { sentinelHome } from './state-home.ts';

afterEach(() => vi.unstubAllEnvs());

function at(home: string | undefined, state: string | undefined): string | undefined {
  vi.stubEnv('HOME', home);
  vi.stubEnv('XDG_STATE_HOME', state);
  return sentinelHome();
}

test('the state folder is in XDG_STATE_HOME, or else in the home of the user; the look-up creates nothing', () => {
  const home = mkdtempSync(join(tmpdir(), 'hob-home-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  expect(at('/nowhere', home)).toBe(join(home, 'hob', 'sentinels'));
  const usual = join(home, '.local', 'state', 'hob', 'sentinels');
  for (const unset of [undefined, '', 'relative/path']) expect(at(home, unset)).toBe(usual);
  expect(existsSync(join(home, '.local'))).toBe(false);
});

test('without HOME the home comes from the system, or there is none: never the working directory', () => {
  for (const none of [undefined, '', 'relative']) {
    const found = at(none, undefined);
    expect(found === undefined || (isAbsolute(found) && !found.startsWith(process.cwd()))).toBe(true);
  }
});

test('a folder that cannot be written is not used', () => {
  const home = mkdtempSync(join(tmpdir(), 'hob-home-'));
  onTestFinished(() => rmSync(home, { recursive: true }));
  expect(at(home, '/dev/null/state')).toBeUndefined();
  mkdirSync(join(home, 'locked'));
  chmodSync(join(home, 'locked'), 0o500);
  // No mode stops root.
  if (process.getuid?.() !== 0) expect(at(home, join(home, 'locked'))).toBeUndefined();
});
