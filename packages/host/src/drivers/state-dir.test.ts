import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { leaveNote, openStateDir, readNote, removeNote } from './state-dir.ts';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const mode = (path: string): number => statSync(path).mode & 0o777;

test('the state is its owner’s alone, also where the folder was there before', () => {
  const folder = place();
  openStateDir(join(folder, 'new', 'state'));
  expect(mode(join(folder, 'new', 'state'))).toBe(0o700);
  const found = join(folder, 'found');
  mkdirSync(found);
  writeFileSync(join(found, 'store.db'), '');
  chmodSync(found, 0o755);
  openStateDir(found);
  expect(mode(found)).toBe(0o700);
});

test('a folder that holds other things is refused and left as it is', () => {
  const folder = place();
  writeFileSync(join(folder, 'letter.txt'), 'mine');
  chmodSync(folder, 0o755);
  expect(() => openStateDir(folder)).toThrow(/holds other things/);
  expect(mode(folder)).toBe(0o755);
});

test('the note is whole or not there, and junk in its place is none', () => {
  const folder = place();
  expect(readNote(folder)).toBeUndefined();
  leaveNote(folder, { url: 'ws://127.0.0.1:1', pid: 7 });
  expect(readNote(folder)).toEqual({ url: 'ws://127.0.0.1:1', pid: 7 });
  expect(mode(join(folder, 'host.json'))).toBe(0o600);
  for (const junk of ['', '{', 'null', '{"url":1}']) {
    writeFileSync(join(folder, 'host.json'), junk);
    expect(readNote(folder)).toBeUndefined();
  }
  removeNote(folder);
  removeNote(folder);
  expect(readNote(folder)).toBeUndefined();
});
