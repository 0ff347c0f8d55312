/** Files: the vectors of the seed, in both worlds; sequences that nobody thought of; and every agreed difference. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { E, type Far } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished } from 'vitest';
import { hermesPython } from '../scripts/hermes.mjs';
import { requires } from '../test/needs.ts';
import { codeOf } from './cap.ts';
import { AGREED_FILES, type FileOp, type JudgedFiles, NEW_FILE, playFiles } from './files.ts';
import { WORK } from './machine.ts';
import { openWorlds, type Worlds } from './play.ts';
import { commandSequences, fileSequences } from './rows/generated.ts';

const VERSION = '0.19.0';
const test = requires('linux', 'cc', 'userns', 'hermes');
const read = (path: string): FileOp => ({ op: 'read', path });
const write = (path: string): FileOp => ({ op: 'write', path, text: 'written\n' });

async function worlds(): Promise<Worlds> {
  const { python = '' } = hermesPython(VERSION);
  const opened = await openWorlds(python, VERSION);
  onTestFinished(() => opened.close());
  return opened;
}
/** A fixed seed, so that a failure repeats. `BISIM_SEED` and `BISIM_RUNS` look for others. */
const runs = (numRuns: number): { seed: number; numRuns: number } => ({
  seed: Number(process.env['BISIM_SEED'] ?? 13),
  numRuns: Number(process.env['BISIM_RUNS'] ?? numRuns),
});
const play = (all: Worlds, ...ops: FileOp[]): Promise<JudgedFiles> => playFiles(all.fileWorlds, ops);

test("the seed's vectors: what must be refused is, and Hermes reads it; a subdirectory is as far as its holder gets", async () => {
  const all = await worlds();
  const { home, work } = all.machine;
  for (const [path, code] of [
    ['../../../etc/app.conf', 'PATH_ESCAPES'],
    ['../documents/thesis.txt', 'PATH_ESCAPES'],
    [`${home}/documents/thesis.txt`, 'PATH_ABSOLUTE'],
    ['shared/team.txt', 'RESOLVED_OUTSIDE'],
    ['~/.ssh/id_rsa', 'NOT_FOUND'],
  ] as const)
    expect(await play(all, read(path))).toMatchObject({
      class: 'hermes-escape',
      hermes: [{ ok: true }],
      cap: [{ ok: false, why: code }],
    });
  expect(await play(all, read('/etc/passwd'))).toMatchObject({
    class: 'hermes-escape',
    cap: [{ why: 'PATH_ABSOLUTE' }],
  });
  // And accepts: the same names as in the seed.
  mkdirSync(join(work, 'skills/hermes-fs-as-cap'), { recursive: true });
  writeFileSync(join(work, 'skills/hermes-fs-as-cap/SKILL.md'), 'skill\n');
  const sub = (await E(all.cap.files).subdir('skills')) as unknown as Far<FsCap>;
  expect(await E(sub).readText('hermes-fs-as-cap/SKILL.md')).toBe('skill\n');
  for (const path of ['../other-skill/SKILL.md', '../notes.txt'])
    expect(
      await E(sub)
        .read(path)
        .then(() => 'read', codeOf),
    ).toBe('PATH_ESCAPES');
}, 400_000);

test('writing and editing: outside Hermes writes what its list does not name; inside both do the same', async () => {
  const all = await worlds();
  const { base, home } = all.machine;
  for (const path of [
    '../documents/thesis.txt',
    `${base}/srv/www/index.html`,
    '~/.bashrc',
    '../bin/deploy',
    'shared/team.txt',
    `${home}/new.txt`,
  ])
    expect({ path, ...(await play(all, write(path))) }).toMatchObject({ class: 'hermes-escape' });
  // On its list: refused in both worlds.
  for (const path of ['~/.ssh/authorized_keys', '~/.netrc', '~/.hermes/.env'])
    expect({ path, ...(await play(all, write(path))) }).toMatchObject({ class: 'equal', hermes: [{ ok: false }] });
  const day: readonly FileOp[] = [
    read('notes.txt'),
    { op: 'edit', path: 'notes.txt', from: 'two', to: 'TWO' },
    read('notes.txt'),
    read('nowhere'),
    read('src'),
    write('docs/a.md'),
    read('docs/a.md'),
  ];
  expect(await play(all, ...day)).toMatchObject({ class: 'equal' });
  expect(await play(all, write('new.txt'), read('new.txt'))).toMatchObject({ class: 'agreed', note: NEW_FILE });
}, 400_000);

test('every agreed difference is there, and no other is needed', async () => {
  const all = await worlds();
  const shown: Readonly<Record<string, readonly FileOp[]>> = {
    PATH_ABSOLUTE: [read(`${all.machine.work}/notes.txt`)],
    PATH_ESCAPES: [read('src/../notes.txt')],
    RESOLVED_OUTSIDE: [read('back/notes.txt')],
    NOT_FOUND: [write('made/by/it.txt')],
    IS_A_DIRECTORY: [write('src')],
    NOT_A_FILE: [write('latest')],
  };
  expect(Object.keys(shown).sort()).toEqual(Object.keys(AGREED_FILES).sort());
  for (const [code, ops] of Object.entries(shown)) {
    const played =
      code === 'RESOLVED_OUTSIDE' ? await playFiles(all.fileWorlds, ops, linkBack) : await play(all, ...ops);
    expect({ code, ...played }).toMatchObject({ class: 'agreed', cap: [{ why: code }] });
  }
}, 400_000);

/** A link out of the work directory that comes back to it. */
const linkBack = (root: string): void => symlinkSync('../work', join(root, WORK, 'back'));

test('generated sequences of file operations: none escapes the cap, none is unexplained', async () => {
  const all = await worlds();
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(fileSequences(all.machine.base), async (ops) => {
      const played = await playFiles(all.fileWorlds, ops);
      seen.set(played.class, (seen.get(played.class) ?? 0) + 1);
      expect(['cap-escape', 'unexplained'], JSON.stringify(played)).not.toContain(played.class);
    }),
    runs(25),
  );
  // Otherwise they would show nothing.
  expect(seen.get('hermes-escape') ?? 0).toBeGreaterThan(0);
}, 400_000);

test('generated sequences of commands: none escapes the cap, none is unexplained', async () => {
  const all = await worlds();
  await fc.assert(
    fc.asyncProperty(commandSequences(all.machine.base), async (steps) => {
      const played = await all.play({ id: 'generated/0', family: 'generated', kind: 'generated', steps, needs: [] });
      expect(['cap-escape', 'unexplained'], JSON.stringify(played)).not.toContain(played?.class);
    }),
    runs(25),
  );
}, 400_000);
