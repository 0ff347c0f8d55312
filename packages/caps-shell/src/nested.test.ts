/**
 * A mount inside another mount covers the directory there for every job and in every cap made from the shell,
 * also after renames.
 */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { captp, driverOf, E, type Far, memoryPair } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { code, directory, scratch, shell } from '../test/shell.ts';
import { makeCommandCap, type ShellCap } from './index.ts';

const test = requires('linux', 'cc', 'userns');

/** A directory with `a/b/c`, a file in each, and a cap for it. */
async function nest(): Promise<{ folder: string; cap: FsCap }> {
  const folder = scratch();
  for (const path of ['', 'a', 'a/b', 'a/b/c']) {
    mkdirSync(join(folder, path), { recursive: true });
    writeFileSync(join(folder, path, 'f'), `in ${path}\n`);
  }
  return { folder, cap: await directory(folder) };
}
const readOnly = async (cap: FsCap, path: string): Promise<FsCap> => await (await cap.subdir(path)).readOnly();

test('a kept mount keeps those within it: a read-only part cannot be uncovered', async () => {
  const { folder, cap } = await nest();
  const sh = await shell({ mounts: { '/ws': cap, '/ws/a': await readOnly(cap, 'a'), '/other': await directory() } });
  const less = await sh.attenuate({ mounts: ['/ws'] });
  expect((await less.describe()).mounts).toEqual({ '/ws': 'rw', '/ws/a': 'ro' });
  expect((await less.run('echo x > a/new; echo y > a/f; mv a z; echo x > b && ls')).stdout).toBe('a\nb\nf\n');
  expect(readFileSync(join(folder, 'a', 'f'), 'utf8')).toBe('in a\n');
  expect(readdirSync(join(folder, 'a'))).toEqual(['b', 'f']);
  // The other way round less is kept.
  expect((await (await sh.attenuate({ mounts: ['/ws/a'] })).describe()).mounts).toEqual({ '/ws/a': 'ro' });
  expect((await (await sh.attenuate({ mounts: ['/ws/a', '/ws'] })).describe()).mounts).toEqual({
    '/ws': 'rw',
    '/ws/a': 'ro',
  });
});

test('the same holds over a wire', async () => {
  const { folder, cap } = await nest();
  const sh = await shell({ mounts: { '/ws': cap, '/ws/a': await readOnly(cap, 'a') } });
  for (const dialect of ['hob.1', 'captp'] as const) {
    const [here, there] = memoryPair();
    const server = captp(here, { bootstrap: driverOf<ShellCap>(sh), dialect });
    const client = captp<ShellCap>(there, { dialect });
    onTestFinished(() => client.close());
    const less = (await E(client.bootstrap).attenuate({ mounts: ['/ws'] })) as unknown as Far<ShellCap>;
    expect(await E(less).run('echo x > a/new || echo refused')).toMatchObject({ stdout: 'refused\n' });
    client.close();
    await server.closed;
  }
  expect(existsSync(join(folder, 'a', 'new'))).toBe(false);
});

test('a directory that a mount hides stays hidden, also if only the outer mount is kept', async () => {
  const { cap } = await nest();
  const sh = await shell({ mounts: { '/ws': cap, '/ws/a': await directory() } });
  const less = await (await sh.attenuate({ mounts: ['/ws'] })).attenuate({ mounts: ['/ws'], readOnly: true });
  expect((await less.run('cat a/f a/b/f; ls a')).stdout).toBe('');
});

test('a job cannot move a directory that contains another mount, so it cannot put its own there', async () => {
  const { folder, cap } = await nest();
  const sh = await shell({ mounts: { '/ws': cap, '/ws/a/b/c': await readOnly(cap, 'a/b/c') } });
  const attack = `
    mv a moved && mkdir -p a/b/c && echo evil > a/b/c/f && mv moved a
    mv a/b moved && mkdir -p a/b/c && echo evil > a/b/c/f
    mv a/b/c moved; rm -rf a; rmdir a/b; mkdir x; mv -T --exchange x a; mv -T x a/b
    echo evil > a/b/c/f; echo fine > a/b/new; echo fine > a/new; mv a/b/new a/b/renamed; mv a/new moved.to`;
  const inodes = (): bigint[] =>
    ['a', 'a/b', 'a/b/c'].map((path) => statSync(join(folder, path), { bigint: true }).ino);
  const before = inodes();
  for (const how of [{}, { mounts: ['/ws'] }]) {
    await (await sh.attenuate(how)).run(attack);
    expect(inodes()).toEqual(before);
    expect(readFileSync(join(folder, 'a/b/c/f'), 'utf8')).toBe('in a/b/c\n');
    expect(readdirSync(join(folder, 'a/b/c'))).toEqual(['f']);
    // The directories beside it are unchanged.
    expect(readFileSync(join(folder, 'a/b/renamed'), 'utf8')).toBe('fine\n');
    expect(readFileSync(join(folder, 'moved.to'), 'utf8')).toBe('fine\n');
  }
});

test('beside a nested mount a program renames and links between directories as usual', async () => {
  const { cap } = await nest();
  const sh = await shell({ mounts: { '/ws': cap, '/ws/a/b/c': await readOnly(cap, 'a/b/c') } });
  const node = `
    const fs = require('node:fs');
    fs.renameSync('/ws/f', '/ws/a/b/g');
    fs.linkSync('/ws/a/b/g', '/ws/h');
    fs.renameSync('/ws/a/f', '/ws/a/b/f');`;
  expect(await sh.run(`node -e "${node}"; ls a/b`)).toMatchObject({ stderr: '', stdout: 'c\nf\ng\n' });
});

test('if somebody moves the covered directory away between two jobs, the next job does not start until it is back', async () => {
  const { folder, cap } = await nest();
  const world = { '/ws': cap, '/ws/a/b/c': await readOnly(cap, 'a/b/c'), '/ws/a/b/hidden': await directory() };
  mkdirSync(join(folder, 'a/b/hidden'));
  writeFileSync(join(folder, 'a/b/hidden/f'), 'hidden\n');
  const sh = await shell({ mounts: world });
  const less = await sh.attenuate({ mounts: ['/ws'] });
  const without = await shell({ mounts: { '/ws': cap } });
  const probe = 'find . -name f | xargs cat; for d in $(find . -name c); do echo evil > $d/f; done';
  const moves: readonly (readonly [from: string, to: string, by: (from: string, to: string) => Promise<unknown>])[] = [
    ['a', 'z', (from, to) => cap.rename(from, to)],
    ['a/b', 'a/z', (from, to) => without.run(`mv ${from} ${to}`)],
    ['a/b/hidden', 'hidden', async (from, to) => renameSync(join(folder, from), join(folder, to))],
    ['a/b/c', 'a/b/d', (from, to) => cap.rename(from, to)],
  ];
  for (const [from, to, move] of moves) {
    await move(from, to);
    for (const one of [sh, less]) expect([from, await code(one.run(probe))]).toEqual([from, 'E_MOUNT_CONFLICT']);
    // Also with another directory in its place.
    mkdirSync(join(folder, from, from === 'a' ? 'b/c' : from === 'a/b' ? 'c' : ''), { recursive: true });
    if (from === 'a') mkdirSync(join(folder, 'a/b/hidden'));
    if (from === 'a/b') mkdirSync(join(folder, 'a/b/hidden'));
    for (const one of [sh, less]) expect([from, await code(one.run(probe))]).toEqual([from, 'E_MOUNT_STALE']);
    await cap.remove(from, { recursive: true });
    await move(to, from);
    const { stdout } = await less.run(probe);
    expect(stdout).not.toContain('hidden');
    expect(readFileSync(join(folder, 'a/b/c/f'), 'utf8')).toBe('in a/b/c\n');
  }
});

test('a covered directory that somebody moves while a job runs takes its mount along', async () => {
  const { folder, cap } = await nest();
  const sh = await shell({
    mounts: { '/ws': cap, '/ws/a/b': await readOnly(cap, 'a/b'), '/ws/a/b/c': await directory() },
  });
  const job = await sh.spawn('while read d; do echo x > $d/f || cat $d/c/f || echo held; done 2> /dev/null');
  const said = async (line: string): Promise<string> => {
    await job.write(`${line}\n`);
    return Buffer.from((await job.stdout.next()) ?? []).toString();
  };
  expect(await said('a/b')).toBe('held\n');
  await cap.rename('a', 'z');
  expect(await said('z/b')).toBe('held\n');
  await cap.rename('z/b', 'y');
  expect(await said('y')).toBe('held\n');
  expect(readFileSync(join(folder, 'y/f'), 'utf8')).toBe('in a/b\n');
  await job.end();
  await job.wait();
});

test('a directory that is made after the shell is covered from then on, and no other in its place', async () => {
  const { folder, cap } = await nest();
  const sh = await shell({ mounts: { '/ws': cap, '/ws/later': await directory() } });
  expect(await code(sh.run('true'))).toBe('E_MOUNT_CONFLICT');
  await cap.mkdir('later');
  await cap.write('later/f', 'hidden');
  const less = await sh.attenuate({ mounts: ['/ws'] });
  expect((await less.run('cat later/f')).stdout).toBe('');
  renameSync(join(folder, 'later'), join(folder, 'moved'));
  mkdirSync(join(folder, 'later'));
  expect(await code(sh.run('cat moved/f'))).toBe('E_MOUNT_STALE');
});

test('a link in the way of a mount is not followed', async () => {
  const { folder, cap } = await nest();
  const sh = await shell({ mounts: { '/ws': cap, '/ws/l/b': await readOnly(cap, 'a/b') } });
  symlinkSync('a', join(folder, 'l'));
  expect(await code(sh.run('true'))).toBe('E_MOUNT_CONFLICT');
});

test('a command has the same mounts', async () => {
  const { folder, cap } = await nest();
  const mounts = { '/ws': cap, '/ws/a/b': await readOnly(cap, 'a/b') };
  const mv = await makeCommandCap('/usr/bin/mv', { mounts, args: ['-T', { rest: 'path' }] });
  onTestFinished(() => mv.close());
  expect((await mv.run(['-T', 'a', 'z'])).status).not.toBe(0);
  renameSync(join(folder, 'a'), join(folder, 'z'));
  expect(await code(mv.run(['-T', 'z/b/f', 'f']))).toBe('E_MOUNT_CONFLICT');
});
