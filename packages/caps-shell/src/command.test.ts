/** One program, with the arguments that were described. */
import { execFile } from 'node:child_process';
import { appendFileSync, chmodSync, copyFileSync, mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { revocable } from '@hob/revocable';
import { driverOf, E, type Far, openVats } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { code, directory, mark, processesWith, scratch } from '../test/shell.ts';
import { type ArgForms, type ArgSpec, type CommandCap, makeCommandCap, type World } from './index.ts';

const test = requires('linux', 'cc', 'userns');

async function command(
  program: string,
  world: Partial<World> & { readonly args?: readonly ArgSpec[] | ArgForms } = {},
): Promise<CommandCap> {
  const made = await makeCommandCap(program, { mounts: {}, ...world });
  onTestFinished(() => made.close());
  return made;
}

test('a program of the system runs with the described arguments only', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'a'), 'text\n');
  const mounts = { '/ws': await directory(folder) };
  const cat = await command('/usr/bin/cat', { mounts, args: ['-n', { oneOf: ['-s', '-v'] }, { rest: 'path' }] });
  expect(await cat.run(['-n', '-s', 'a', '/ws/a'])).toMatchObject({
    status: 0,
    stdout: '     1\ttext\n     2\ttext\n',
  });
  for (const args of [
    [],
    ['a'],
    ['-n'],
    ['-n', '-A', 'a'],
    ['-s', '-n', 'a'],
    ['-n', '-s', '-A'],
    ['-n', '-s', '--version'],
  ])
    expect([args, await code(cat.run(args))]).toEqual([args, 'E_ARGV']);
  // Lexically in a mount. The sandbox confines where a link leads.
  for (const path of ['/etc/passwd', '../etc/passwd', '/ws/../etc/passwd', '', '/', '/wsx'])
    expect([path, await code(cat.run(['-n', '-s', path]))]).toEqual([path, 'E_ARGV']);
  expect(await code(cat.run(['-n', '-s', 'a\0b']))).toBe('E_ARGV');
  expect(await code(cat.run('-n' as never))).toBe('E_ARGV');
  expect(await code(cat.run(['-n', 3 as never]))).toBe('E_ARGV');
  expect(await code(cat.run(['-n', '-s', ...Array.from({ length: 5000 }, () => 'a')]))).toBe('E_ARGV');
  expect(await code(cat.run(['-n', '-s', 'x'.repeat(140_000)]))).toBe('E_ARGV');
});

test('forms decide about whole lists of arguments, with the same idea of a path, and are shown when they refuse', async () => {
  const folder = scratch();
  for (const name of ['a', '@file']) writeFileSync(join(folder, name), 'text\n');
  const args: ArgForms = {
    forms: ['-n PATH', '-s PATH PATH'],
    takes: ([flag, ...paths], isPath) =>
      ((flag === '-n' && paths.length === 1) || (flag === '-s' && paths.length === 2)) && paths.every(isPath),
  };
  const cat = await command('/usr/bin/cat', { mounts: { '/ws': await directory(folder) }, args });
  expect((await cat.run(['-n', 'a'])).stdout).toBe('     1\ttext\n');
  expect((await cat.run(['-s', 'a', '/ws/a'])).stdout).toBe('text\ntext\n');
  for (const wrong of [['-n'], ['-n', 'a', 'a'], ['-n', '@file'], ['-n', '/etc/passwd'], ['-n', '-s'], ['-n', '']])
    expect([wrong, await code(cat.run(wrong))]).toEqual([wrong, 'E_ARGV']);
  await expect(cat.run([])).rejects.toThrow('the arguments have to be one of: -n PATH; -s PATH PATH');
});

test('no path can be taken for an option, a file of options, an assignment or another machine', async () => {
  const folder = scratch();
  const names = ['-n', '@file', '+1', '|id', '!id', '~', '<in', '>out', ':(top)', '%x', '=x', '(', ',a', '{a}', '*', '"a"', ' a']; // biome-ignore format: one line
  const parts = ['a=b', 'PATH=/tmp', 'host:file', 'http://example.org/', 'msl:x', 'a=b/c'];
  for (const name of [...names, ...parts.map((part) => part.replaceAll('/', '_'))])
    writeFileSync(join(folder, name), '');
  const cat = await command('/usr/bin/cat', { mounts: { '/ws': await directory(folder) }, args: [{ rest: 'path' }] });
  for (const name of [...names, ...parts]) expect([name, await code(cat.run([name]))]).toEqual([name, 'E_ARGV']);
  // Spelled so that it can only be a path it is one.
  for (const name of names) expect([name, (await cat.run([`./${name}`, `/ws/${name}`])).stderr]).toEqual([name, '']);
  const plain = ['a', '.a', '_a', '9', 'ä', 'a-b', 'a@b', 'a+b', 'a b', 'b/a=b', 'b/c:d'];
  for (const name of plain) expect([name, await code(cat.run([name]))]).toEqual([name, 'ok']);
});

test('a compiler reads no file of options', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'x.c'), 'int main(void) { return 0; }');
  writeFileSync(join(folder, 'options'), '-v');
  const mounts = { '/ws': await directory(folder) };
  const cc = await command('/usr/bin/cc', { mounts, args: ['-fsyntax-only', { rest: 'path' }] });
  for (const name of ['@options', '@/ws/options', '@/etc/passwd'])
    expect([name, await code(cc.run(['-fsyntax-only', 'x.c', name]))]).toEqual([name, 'E_ARGV']);
});

test('without a description no arguments are allowed; no shell reads any', async () => {
  const id = await command('/usr/bin/id');
  expect(await id.run([])).toMatchObject({ status: 0, stdout: expect.stringContaining('uid=1000(hob)') });
  expect(await code(id.run(['-u']))).toBe('E_ARGV');
  const echo = await command('/usr/bin/echo', { args: [{ rest: 'any' }] });
  const hostile = ['$(id)', '; id', '`id`', '| cat /etc/passwd', '* ', "'", '"'];
  expect(await echo.run(hostile)).toMatchObject({ stdout: `${hostile.join(' ')}\n` });
});

test('it reads stdin, has a time limit, and runs in the sandbox', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'secret'), 'canary');
  const sh = await command('/bin/sh', { args: ['-c', { rest: 'any' }] });
  expect(await sh.run(['-c', 'cat'], { stdin: 'given' })).toMatchObject({ stdout: 'given' });
  expect(await sh.run(['-c', 'sleep 60'], { timeoutMs: 50 })).toMatchObject({ ended: 'timeout' });
  expect(await sh.run(['-c', `cat ${folder}/secret`])).toMatchObject({ status: 1, stdout: '' });
});

test('a program outside the system image runs by its descriptor, even if its path now leads elsewhere', async () => {
  const folder = scratch();
  const [mine, other] = [join(folder, 'tool'), join(folder, 'other')];
  copyFileSync('/usr/bin/echo', mine);
  copyFileSync('/usr/bin/id', other);
  for (const file of [mine, other]) chmodSync(file, 0o755);
  const tool = await command(mine, { args: [{ rest: 'any' }] });
  expect(await tool.run(['one'])).toMatchObject({ status: 0, stdout: 'one\n' });
  renameSync(mine, join(folder, 'moved'));
  renameSync(other, mine);
  // It is still there under another name, so it is still the granted file.
  expect(await tool.run(['two'])).toMatchObject({ status: 0, stdout: 'two\n' });
});

test('a program that was replaced or changed since it was granted does not run', async () => {
  const folder = scratch();
  const [mine, changed] = [join(folder, 'tool'), join(folder, 'changed')];
  for (const file of [mine, changed]) {
    copyFileSync('/usr/bin/echo', file);
    chmodSync(file, 0o755);
  }
  const [one, two] = [await command(mine), await command(changed)];
  copyFileSync('/usr/bin/id', join(folder, 'new'));
  renameSync(join(folder, 'new'), mine);
  appendFileSync(changed, 'x');
  for (const tool of [one, two]) expect(await code(tool.run([]))).toBe('E_EXEC_CHANGED');
});

test('a file that is not a program cannot be granted', async () => {
  const folder = scratch();
  writeFileSync(join(folder, 'text'), 'text');
  mkdirSync(join(folder, 'folder'));
  for (const path of ['/usr/bin/nosuchprogram', join(folder, 'text'), join(folder, 'folder')])
    expect(await code(command(path))).toBe('E_EXEC_NOT_FOUND');
  expect(await code(command('cat'))).toBe('invalid');
  for (const args of ['-n', [3], [{}], [{ rest: 'all' }], [{ rest: 'any' }, 'x'], [{ oneOf: [] }]])
    expect(await code(command('/usr/bin/cat', { args: args as never }))).toBe('invalid');
});

test('a host without descriptors does not say that a program is not there', async () => {
  const [module, hook] = ['./drivers/executable.ts', '../../../scripts/resolve.mjs'].map(
    (file) => new URL(file, import.meta.url).href,
  );
  const script = `
    import { openSync } from 'node:fs';
    import { openExecutable } from '${module}';
    const tried = (path) => { try { openExecutable(path); return 'ok'; } catch ({ code }) { return code; } };
    const before = tried('/usr/bin/nosuchprogram');
    try { for (;;) openSync('/dev/null'); } catch {}
    console.log(before, tried('/usr/bin/id'));
  `;
  const command = 'ulimit -n 256; exec "$0" --import "$1" --input-type=module -e "$2"';
  const { stdout } = await promisify(execFile)('sh', ['-c', command, process.execPath, hook ?? '', script]);
  expect(stdout).toBe('E_EXEC_NOT_FOUND unavailable\n');
});

test('behind a grant: the end of the grant kills it', async () => {
  const vats = await openVats();
  onTestFinished(() => vats.close());
  const sleep = driverOf<CommandCap>(await command('/usr/bin/sleep', { args: [{ rest: 'any' }] }));
  const { cap, revoker } = (await vats.vat('a').turn(() => revocable(sleep, { for: 60_000 }) as never)) as {
    cap: Far<CommandCap>;
    revoker: Far<{ revoke(): void }>;
  };
  expect(await E(cap).run(['0'])).toMatchObject({ status: 0 });
  const run = code(E(cap).run([mark('931.6227')]));
  while (processesWith(mark('931.6227')).length === 0) await new Promise((resolve) => setImmediate(resolve));
  await E(revoker).revoke();
  expect(processesWith(mark('931.6227'))).toEqual([]);
  expect(await run).toBe('revoked');
});
