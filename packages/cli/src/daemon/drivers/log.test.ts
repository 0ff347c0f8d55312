/** The log of a daemon: its size, its mode, and the text that never gets into it. */
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
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { logLines } from '../../line/log-text.ts';
import { openLog } from './log.ts';

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), 'hob-log-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}
const now = (): number => Date.UTC(2026, 10, 23);

test('the log and the files before it stay within their size, each for its owner only, and the newest lines are kept', () => {
  const at = folder();
  const path = join(at, 'serve.log');
  const log = openLog(path, { mostBytes: 500, kept: 2, now });
  for (let n = 1; n <= 200; n += 1) log.write(`line ${n}`);
  log.close();
  log.write('after the close');
  expect(readdirSync(at).sort()).toEqual(['serve.log', 'serve.log.1', 'serve.log.2']);
  for (const name of readdirSync(at)) {
    expect(statSync(join(at, name)).size, name).toBeLessThanOrEqual(500);
    expect(statSync(join(at, name)).mode & 0o777, name).toBe(0o600);
  }
  const kept = ['.2', '.1', ''].map((end) => readFileSync(`${path}${end}`, 'utf8')).join('');
  const numbers = [...kept.matchAll(/^2026-11-23T00:00:00\.000Z line (\d+)$/gm)].map(([, n]) => Number(n));
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, n) => 200 - numbers.length + 1 + n));
  expect(numbers.length).toBeGreaterThan(20);
});

test('a log that is there is continued, and gets the mode 0600', () => {
  const path = join(folder(), 'serve.log');
  writeFileSync(path, 'earlier\n', { mode: 0o644 });
  const log = openLog(path, { now });
  log.write('later');
  log.close();
  expect(readFileSync(path, 'utf8')).toMatch(/^earlier\n\S+ later\n$/);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

test('a link, a folder and a place that is not there are refused with a remedy, and nothing is written behind a link', () => {
  const at = folder();
  writeFileSync(join(at, 'precious'), 'mine\n');
  symlinkSync('precious', join(at, 'link'));
  mkdirSync(join(at, 'folder'));
  for (const name of ['link', 'folder', 'none/serve.log'])
    expect(() => openLog(join(at, name), { now }), name).toThrow(/^the log cannot be written: name a file of yours/);
  expect(readFileSync(join(at, 'precious'), 'utf8')).toBe('mine\n');
});

test('a log that cannot be rotated loses lines, ends nothing, and later says how many', () => {
  const at = folder();
  const path = join(at, 'serve.log');
  const log = openLog(path, { mostBytes: 100, kept: 1, now });
  log.write('first');
  // A folder in the way of the older file.
  mkdirSync(join(at, 'serve.log.1/in-the-way'), { recursive: true });
  for (let n = 0; n < 5; n += 1) log.write('x'.repeat(60));
  rmSync(join(at, 'serve.log.1'), { recursive: true });
  log.write('again');
  log.close();
  const text = ['.1', ''].map((end) => readFileSync(`${path}${end}`, 'utf8')).join('');
  expect(text).toMatch(/\d lines? (?:was|were) lost[^\n]*\n\S+ again\n$/);
});

test('no line has a secret, a folder of this machine, or a character that a terminal obeys', () => {
  expect(logLines('Error: no\n    at run (file:///opt/of%20others/hob/src/host.ts:12:3)\n')).toEqual([
    'Error: no',
    '    at run (…/host.ts:12:3)',
  ]);
  expect(logLines("ENOENT: no such file, open '/srv/of others/a b/secret plan.txt'")).toEqual([
    "ENOENT: no such file, open '…/secret plan.txt'",
  ]);
  expect(logLines('at ws://127.0.0.1:7710/x')).toEqual(['at ws://127.0.0.1:7710/x']);
  const name = fc.stringMatching(/^[a-z]{3,12}$/);
  fc.assert(
    fc.property(fc.array(name, { minLength: 2, maxLength: 5 }), fc.string(), (names, noise) => {
      const path = `/${names.join('/')}/last.txt`;
      const [line = ''] = logLines(`${noise.replaceAll(/[\n/]/g, '')} ${path} hob1_abc-${names[0]}`);
      expect(line).not.toContain(`${names[0]}/`);
      expect(line).not.toMatch(/hob1_/);
      expect(line).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    }),
  );
});
