/**
 * Requests for calls that change a directory in place: each shows what the call would do to the real files.
 * The agent chooses all arguments.
 */
import { chmodSync, existsSync, mkdirSync, readlinkSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { E, type Far } from '@hob/vat';
import { expect, test } from 'vitest';
import { later, type Scene, scene } from '../../test/asking.ts';
import { code, held } from '../../test/test-host.ts';
import type { Request } from '../index.ts';

interface Asking {
  readonly at: Scene;
  readonly cap: Far<FsCap>;
  /** The request that a call makes. It is refused, and nothing has changed. */
  shown(call: Promise<unknown>): Promise<Request>;
  path(name: string): string;
}

async function asking(): Promise<Asking> {
  const at = await scene();
  await E(at.owner).grant(at.session.id, 'work', 'notes', { gated: true });
  const cap = await held<FsCap>(at.agent, 'work');
  return {
    at,
    cap,
    path: (name) => join(at.folder, 'root', name),
    async shown(call) {
      later(call);
      const [asked] = await at.inbox();
      await at.answer(asked!, { refuse: 'only looking' });
      expect(await code(call)).toBe('denied');
      return asked!;
    },
  };
}

test('writeAt and truncate show the text as it would be, and say so where it would be no text', async () => {
  const { at, cap, shown } = await asking();
  at.write('a.txt', 'one\ntwo\nthree\n');
  const written = await shown(E(cap).writeAt('a.txt', 4, 'TWO'));
  expect(written).toMatchObject({
    effect: 'writes 3 characters at byte 4 into the file “a.txt”, through “work”',
    diff: '--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three',
  });
  expect(written.table).toContainEqual(['offset', '4']);
  expect(written.table).toContainEqual(['it is now', 'a file of 14 bytes']);
  const cut = await shown(E(cap).truncate('a.txt', 8));
  expect(cut).toMatchObject({
    effect: 'cuts the file “a.txt” from 14 to 8 bytes, through “work”',
    diff: expect.stringContaining('-three'),
  });
  const longer = await shown(E(cap).truncate('a.txt', 16));
  expect(longer.effect).toBe('makes longer, with zeros, the file “a.txt” from 14 to 16 bytes, through “work”');
  at.write('a.txt', 'aあb');
  for (const call of [() => E(cap).truncate('a.txt', 2), () => E(cap).writeAt('a.txt', 2, new Uint8Array([65]))]) {
    const broken = await shown(call());
    expect(broken.diff).toBeUndefined();
    expect(broken.table).toContainEqual(['what it would change', 'cannot be shown: it is not text, or too long']);
  }
  // A size that would fill the memory of the host is not computed.
  expect((await shown(E(cap).truncate('a.txt', 2 ** 50))).diff).toBeUndefined();
  expect((await shown(E(cap).writeAt('a.txt', 2 ** 50, 'x'))).diff).toBeUndefined();
  expect(at.file('a.txt')).toBe('aあb');
});

test('rename with replace shows the text that is lost beside the one that takes its place', async () => {
  const { at, cap, shown } = await asking();
  at.write('a.txt', 'new\n');
  at.write('b.txt', 'old\n');
  const over = await shown(E(cap).rename('a.txt', 'b.txt', { replace: true }));
  expect(over).toMatchObject({
    effect: 'moves “a.txt” to “b.txt”, and replaces the file that is there, through “work”',
    diff: '--- b.txt\n+++ b.txt\n@@ -1,1 +1,1 @@\n-old\n+new',
  });
  expect(over.table).toContainEqual(['at “b.txt” is now', 'a file of 4 bytes']);
  const free = await shown(E(cap).rename('a.txt', 'c.txt', { replace: true }));
  expect([free.effect, free.diff]).toEqual(['moves “a.txt” to “c.txt”, through “work”', undefined]);
  expect(free.table).toContainEqual(['at “c.txt” is now', 'there is nothing of that name']);
});

test('a file that appears at the new name after it was shown is not replaced by the yes', async () => {
  const { at, cap } = await asking();
  at.write('a.txt', 'new\n');
  const moved = later(E(cap).rename('a.txt', 'b.txt', { replace: true }));
  const [asked] = await at.inbox();
  at.write('b.txt', 'precious\n');
  expect(await code(at.answer(asked!, { grant: {} }))).toBe('STALE');
  const [anew] = await at.inbox();
  expect(anew).toMatchObject({ diff: expect.stringContaining('-precious\n+new'), stale: asked!.id });
  await at.answer(anew!, { refuse: 'no' });
  expect(await code(moved)).toBe('denied');
  expect(at.file('b.txt')).toBe('precious\n');
});

test('recursive copies and removals say how much is beneath', async () => {
  const { at, cap, shown, path } = await asking();
  mkdirSync(path('src/deep'), { recursive: true });
  for (const name of ['src/1', 'src/2', 'src/deep/3']) at.write(name, 'x');
  const copied = await shown(E(cap).copy('src', 'copy', { recursive: true }));
  expect(copied.effect).toBe('copies “src” to “copy” with everything beneath it, through “work”');
  expect(copied.table).toContainEqual(['beneath it', 'files and links: 3, directories: 1']);
  const removed = await shown(E(cap).remove('src', { recursive: true }));
  expect(removed.effect).toBe('removes “src” with everything beneath it, through “work”');
  expect(removed.table).toContainEqual(['beneath it', 'files and links: 3, directories: 1']);
  expect(existsSync(path('src/deep/3'))).toBe(true);
});

test('chmod, setTimes, symlink and write with parents are shown in words, and a yes does exactly that', async () => {
  const { at, cap, shown, path } = await asking();
  writeFileSync(path('run'), '#!/bin/sh\n');
  chmodSync(path('run'), 0o644);
  const mode = await shown(E(cap).chmod('run', 0o755));
  expect(mode.effect).toBe('sets the permissions of “run” to rwxr-xr-x (0o755), through “work”');
  expect(mode.table).toContainEqual(['permissions now', 'rw-r--r-- (0o644)']);
  expect((await shown(E(cap).chmod('run', '+x'))).effect).toContain('“+x”: everybody who may read it may run it');
  expect((await shown(E(cap).chmod('run', 0o4755))).effect).toContain('to no mode');
  const times = await shown(E(cap).setTimes('run', { mtime: 0 }));
  expect(times.effect).toBe('sets the times of “run”, through “work”');
  expect(times.table).toContainEqual(['last change', '1970-01-01 00:00:00 UTC']);
  const link = await shown(E(cap).symlink('run', 'src/link'));
  expect(link.effect).toBe('makes the link “src/link” that leads to “run”, through “work”');
  expect(link.table).toContainEqual(['at “src/link” is now', 'there is nothing of that name']);
  const made = await shown(E(cap).write('new/deep/a.txt', 'hello\n', { parents: true }));
  expect(made).toMatchObject({
    effect:
      'makes the file “new/deep/a.txt”, and the directories above it that are missing, with 6 characters, through “work”',
    diff: expect.stringContaining('+hello'),
  });
  for (const call of [
    () => E(cap).chmod('run', 0o755),
    () => E(cap).symlink('run', 'link'),
    () => E(cap).write('new/deep/a.txt', 'hello\n', { parents: true }),
  ]) {
    const done = call();
    const [asked] = await at.inbox();
    await at.answer(asked!, { grant: {} });
    await done;
  }
  expect(statSync(path('run')).mode & 0o777).toBe(0o755);
  expect(readlinkSync(path('link'))).toBe('run');
  expect(at.file('new/deep/a.txt')).toBe('hello\n');
});

test('odd arguments of the agent make a request that says so, and no error of the host', async () => {
  const { cap, shown } = await asking();
  const sent = cap as unknown as Far<Record<string, (...args: readonly unknown[]) => unknown>>;
  for (const [method, args, effect] of [
    ['chmod', ['a.txt', { evil: true }], 'sets the permissions of “a.txt” to no mode'],
    ['truncate', ['a.txt', 'x'], 'cuts the file “a.txt” from 0 to no number bytes'],
    ['writeAt', ['a.txt', -1, null], 'writes nothing at byte -1 into the file “a.txt”'],
    ['symlink', ['x\u202ey', 7], 'makes the link no path that leads to “x⟦U+202E⟧y”'],
    ['rename', ['a.txt', null, { replace: true }], 'moves “a.txt” to no path'],
    ['setTimes', ['a.txt', { mtime: 1e300 }], 'sets the times of “a.txt”'],
    ['copy', ['../a', 'b', { recursive: true }], 'copies “../a” to “b” with everything beneath it'],
  ] as const) {
    const asked = await shown(E(sent)[method]!(...args) as Promise<unknown>);
    expect(asked.effect).toBe(`${effect}, through “work”`);
  }
});
