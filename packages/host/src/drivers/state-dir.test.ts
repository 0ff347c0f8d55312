import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { isState, leaveNote, openStateDir, orderStop, readNote, removeNote, stopOrder } from './state-dir.ts';

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

test('a folder that cannot be read is an error: neither a state without orders, nor one without a host, nor no state', () => {
  const folder = place();
  const state = join(folder, 'state');
  openStateDir(state);
  expect([isState(state), stopOrder(state), readNote(state)]).toEqual([false, undefined, undefined]);
  // A link to itself: the kernel gives up with ELOOP, which is not ENOENT.
  const broken = join(folder, 'broken');
  symlinkSync('broken', broken);
  for (const look of [isState, stopOrder, readNote])
    expect(() => look(broken)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  mkdirSync(join(state, 'host.json'));
  expect(() => readNote(state)).toThrow(expect.objectContaining({ code: 'unavailable' }));
});

test('an order that is there and cannot be read counts as said', () => {
  const state = place();
  mkdirSync(join(state, 'stop'));
  expect(stopOrder(state)).toBe('');
  rmSync(join(state, 'stop'), { recursive: true });
  orderStop(state, 'why');
  expect(stopOrder(state)).toBe('why');
});
