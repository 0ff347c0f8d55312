import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { blocks } from '../../../test/readme.ts';
import * as face from './index.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
const resolve = new URL('../../../scripts/resolve.mjs', import.meta.url).href;

test('the bank of the README runs as it stands there and prints what the README says', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-readme-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'bank.ts');
  const [program, ...others] = blocks(readme, 'ts');
  expect(others).toEqual([]);
  writeFileSync(file, program ?? '');
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['--import', resolve, file]);
  expect(stdout).toBe(blocks(readme, 'text')[0]);
  expect(stderr).toBe('');
});

test('every function that the README names is there', () => {
  const known =
    'make\\w+|driver(?:Of)?|define\\w*|openVats|spawn|attempt|trace|facet|race|allOf|table|promise|readOnly|writeOnly';
  const named = [...readme.matchAll(new RegExp(`\`(${known}|callOrSend|isNear)(?:<V>)?\\(`, 'g'))].map(
    (match) => match[1] ?? '',
  );
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !(name in face))).toEqual([]);
});
