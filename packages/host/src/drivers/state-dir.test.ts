import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  isState,
  openStateDir,
  orderStop,
  readAddress,
  readStopOrder,
  removeAddress,
  writeAddress,
} from './state-dir.ts';

function place(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-state-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return folder;
}

const mode = (path: string): number => statSync(path).mode & 0o777;

test('only its owner can read the state, also if the folder existed before', () => {
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

test('a folder with other files is refused and left unchanged', () => {
  const folder = place();
  writeFileSync(join(folder, 'letter.txt'), 'mine');
  chmodSync(folder, 0o755);
  expect(() => openStateDir(folder)).toThrow(/holds other files/);
  expect(mode(folder)).toBe(0o755);
});

test('the address file is whole or missing, and a malformed one counts as missing', () => {
  const folder = place();
  expect(readAddress(folder)).toBeUndefined();
  writeAddress(folder, { url: 'ws://127.0.0.1:1', pid: 7 });
  expect(readAddress(folder)).toEqual({ url: 'ws://127.0.0.1:1', pid: 7 });
  expect(mode(join(folder, 'host.json'))).toBe(0o600);
  for (const junk of ['', '{', 'null', '{"url":1}']) {
    writeFileSync(join(folder, 'host.json'), junk);
    expect(readAddress(folder)).toBeUndefined();
  }
  removeAddress(folder);
  removeAddress(folder);
  expect(readAddress(folder)).toBeUndefined();
});

test('a folder that cannot be read is an error; it does not count as a state without an order or without a host, nor as no state', () => {
  const folder = place();
  const state = join(folder, 'state');
  openStateDir(state);
  expect([isState(state), readStopOrder(state), readAddress(state)]).toEqual([false, undefined, undefined]);
  // A link to itself: the kernel gives up with ELOOP, which is not ENOENT.
  const broken = join(folder, 'broken');
  symlinkSync('broken', broken);
  for (const look of [isState, readStopOrder, readAddress])
    expect(() => look(broken)).toThrow(expect.objectContaining({ code: 'unavailable' }));
  mkdirSync(join(state, 'host.json'));
  expect(() => readAddress(state)).toThrow(expect.objectContaining({ code: 'unavailable' }));
});

test('an order that exists and cannot be read counts as an order', () => {
  const state = place();
  mkdirSync(join(state, 'stop'));
  expect(readStopOrder(state)).toBe('');
  rmSync(join(state, 'stop'), { recursive: true });
  orderStop(state, 'why');
  expect(readStopOrder(state)).toBe('why');
});
