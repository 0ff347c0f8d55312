/** Files of other users of the machine: an operation that the system refuses does nothing, not half of it. */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { backends, lacks } from '../test/backends.ts';
import { code, scratch } from '../test/scratch.ts';
import { KernelError } from './base/kernel.ts';
import { chooseBackend } from './drivers/backend.ts';
import { openWith } from './open.ts';

const child = new URL('../test/strangers-child.ts', import.meta.url).pathname;
const hooks = new URL('../../../scripts/resolve.mjs', import.meta.url).pathname;
const user = 54_321;

function plant(folder: string): void {
  const at = (...names: string[]): string => path.join(folder, ...names);
  const make = (mode: number, ...names: string[]): void => {
    fs.mkdirSync(at(...names));
    fs.chmodSync(at(...names), mode);
  };
  const mine = (...names: string[]): void => fs.lchownSync(at(...names), user, user);
  // A directory of the user's with one of somebody else's in it, which he may not change.
  make(0o755, 'locked');
  for (const name of ['a', 'z']) fs.writeFileSync(at('locked', name), name);
  make(0o555, 'locked', 'sub');
  fs.writeFileSync(at('locked', 'sub', 'theirs'), 'theirs', { mode: 0o666 });
  // One that everybody may change, but only the owner of a file may remove it.
  make(0o755, 'in-sticky');
  fs.writeFileSync(at('in-sticky', 'a'), 'a');
  make(0o1777, 'in-sticky', 'sub');
  fs.writeFileSync(at('in-sticky', 'sub', 'theirs'), 'theirs');
  make(0o755, 'unreadable');
  fs.writeFileSync(at('unreadable', 'a'), 'a');
  make(0o711, 'unreadable', 'sub');
  make(0o555, 'empty');
  make(0o1777, 'sticky');
  for (const name of ['theirs', 'sticky/theirs', 'open']) fs.writeFileSync(at(name), 'theirs', { mode: 0o644 });
  // The system permits a second name for this one.
  for (const name of ['open', 'sticky/theirs']) fs.chmodSync(at(name), 0o666);
  fs.symlinkSync('theirs', at('their-link'));
  fs.writeFileSync(at('own'), 'own');
  for (const name of ['', 'locked', 'locked/a', 'locked/z', 'in-sticky', 'in-sticky/a', 'unreadable', 'own'])
    mine(name);
}

for (const backend of backends) {
  const lacking = await lacks(backend);
  requires('root', 'unprivileged')(
    `${backend}: a removal that somebody else’s directory refuses removes nothing; a file of somebody else’s is renamed where the system permits it`,
    (context) => {
      if (lacking !== undefined) context.skip(lacking);
      const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'caps-fs-'));
      onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
      plant(folder);
      const text = execFileSync(process.execPath, ['--no-warnings', '--import', hooks, child, folder, backend], {
        uid: user,
        gid: user,
      });
      expect(JSON.parse(text.toString())).toEqual({
        locked: 'NOT_PERMITTED',
        lockedLeft: ['a', 'sub', 'sub/theirs', 'z'],
        sticky: 'NOT_PERMITTED',
        stickyLeft: ['a', 'sub', 'sub/theirs'],
        unreadable: 'NOT_PERMITTED',
        unreadableLeft: true,
        emptyOfTheirs: 'ok',
        renamed: 'ok',
        renamedLink: 'ok',
        over: 'EXISTS',
        own: 'own',
        outOfSticky: 'NOT_PERMITTED',
        withinSticky: 'NOT_PERMITTED',
        intoSticky: 'ok',
        outOfLocked: 'NOT_PERMITTED',
      });
      expect(fs.readdirSync(folder, { recursive: true }).sort()).toEqual([
        ...['in-sticky', 'in-sticky/a', 'in-sticky/sub', 'in-sticky/sub/theirs'],
        ...['locked', 'locked/a', 'locked/sub', 'locked/sub/theirs', 'locked/z', 'moved', 'moved-link', 'own'],
        ...['sticky', 'sticky/open', 'sticky/theirs', 'unreadable', 'unreadable/a', 'unreadable/sub'],
      ]);
    },
  );
}

test('a rename that needs no second name replaces nothing, also when another process takes the name in the middle', async () => {
  await using s = await scratch();
  const kernel = chooseBackend('proc');
  let meanwhile: () => void = () => {};
  const cap = openWith(
    {
      ...kernel,
      link: () => {
        throw new KernelError('EPERM');
      },
      symlink(text, dir, name) {
        kernel.symlink(text, dir, name);
        meanwhile();
      },
    },
    s.at('.'),
  );
  onTestFinished(() => cap.close());
  fs.writeFileSync(s.at('f'), 'f');
  await cap.rename('f', 'g');
  expect(fs.readFileSync(s.at('g'), 'utf8')).toBe('f');
  fs.writeFileSync(s.at('other'), 'other');
  meanwhile = () => fs.renameSync(s.at('other'), s.at('h'));
  expect(await code(cap.rename('g', 'h'))).toBe('EXISTS');
  expect(fs.readFileSync(s.at('h'), 'utf8')).toBe('other');
  expect(fs.readFileSync(s.at('g'), 'utf8')).toBe('f');
  // A writer that meets the placeholder is refused, and loses nothing.
  const written: unknown[] = [];
  meanwhile = () => {
    try {
      fs.writeFileSync(s.at('i'), 'lost');
    } catch (error) {
      written.push((error as { code?: string }).code);
    }
  };
  await cap.rename('g', 'i');
  expect(written).toEqual(['ELOOP']);
  expect(fs.readdirSync(s.at('.')).sort()).toEqual(['h', 'i']);
});
