/** Which directories are refused as roots, however they are spelt. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { scratch } from '../../test/test-host.ts';
import { checkRoot } from './roots.ts';

let folder: string;
beforeEach(() => {
  folder = realpathSync(scratch());
  for (const name of ['root/sub', 'state/sub', 'code/packages/host', 'other'])
    mkdirSync(join(folder, name), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const at = (...names: string[]): string => join(folder, ...names);
const check = (root: string, ...own: string[]): string => {
  try {
    checkRoot(root, own.length > 0 ? own : [at('state'), at('code/packages')]);
    return 'granted';
  } catch (error) {
    return (error as { code: string }).code;
  }
};
const refused = 'E_ROOT_CONTAINS_HOST_STATE';

test('a directory beside state and code may be granted', () => {
  expect(check(at('root'))).toBe('granted');
  expect(check(at('root/sub'))).toBe('granted');
});

test('a directory that equals, contains or is inside the state or the code is refused', () => {
  for (const root of ['state', 'state/sub', 'code/packages', 'code/packages/host', 'code', ''])
    expect(check(at(root)), root).toBe(refused);
  expect(check('/')).toBe(refused);
});

test('a link counts as the directory that it leads to, for the root and for the state', () => {
  symlinkSync(at('state'), at('root/to-state'));
  symlinkSync(at('code'), at('to-code'));
  symlinkSync('to-code/packages/host', at('chain'));
  for (const root of ['root/to-state', 'to-code', 'to-code/packages', 'chain'])
    expect(check(at(root)), root).toBe(refused);
  symlinkSync(at('root/sub'), at('state-link'));
  expect(check(at('root'), at('state-link'))).toBe(refused);
});

test('attack: a root is refused if it has a link on the way to a file of the host: an agent could lead the link elsewhere', () => {
  symlinkSync('../other', at('root/sub/relative'));
  symlinkSync(at('other'), at('root/whole'));
  symlinkSync('../root/whole', at('other/chain'));
  for (const own of ['root/sub/relative', 'root/whole', 'root/whole/new/file', 'other/chain', 'other/chain/key'])
    expect(check(at('root'), at(own)), own).toBe(refused);
  symlinkSync('../state', at('other/beside'));
  symlinkSync('round', at('other/round'));
  for (const own of ['other/beside', 'other/beside/sub']) expect(check(at('root'), at(own)), own).toBe('granted');
  expect(() => checkRoot(at('root'), [at('other/round')])).toThrowError(/ELOOP/);
});

test('`..` and doubled slashes do not make another directory', () => {
  for (const root of ['root/../state', 'state/.', 'other/../code//packages/', 'root/sub/../../state/sub'])
    expect(check(`${folder}/${root}`), root).toBe(refused);
});

test('a state that does not exist yet is judged by the place where it would be made', () => {
  expect(check(at('root'), at('root/.hob'))).toBe(refused);
  expect(check(at('root'), at('root/sub/new/.hob'))).toBe(refused);
  expect(check(at('root'), at('new/.hob'))).toBe('granted');
  expect(existsSync(at('new'))).toBe(false);
  symlinkSync(at('root'), at('alias'));
  expect(check(at('root'), at('alias/.hob'))).toBe(refused);
});

test('a root that is missing or not a directory is invalid, and the error does not repeat its path', () => {
  writeFileSync(at('file'), '');
  for (const root of ['file', 'missing', 'file/below']) {
    expect(check(at(root))).toBe('invalid');
    expect(() => checkRoot(at(root), [])).not.toThrowError(new RegExp(folder));
  }
});

test('a directory whose name only begins like that of the state is another directory', () => {
  mkdirSync(at('state-of-mind'));
  expect(check(at('state-of-mind'))).toBe('granted');
});

test('the file system decides whether case matters', () => {
  const other = at('STATE');
  expect(check(existsSync(other) ? other : at('root'))).toBe(existsSync(other) ? refused : 'granted');
});

requires('userns', 'unshare')(
  'a bind mount is what is mounted, also where only a part of the state or the code is',
  () => {
    const script = `
    import { registerHooks } from 'node:module';
    const { checkRoot } = await import(${JSON.stringify(resolve(import.meta.dirname, 'roots.ts'))});
    const answers = process.argv.slice(1).map((root) => {
      try { checkRoot(root, [process.env.STATE, process.env.CODE]); return 'granted'; } catch (error) { return error.code; }
    });
    process.stdout.write(JSON.stringify(answers));
  `;
    const names = ['whole', 'part', 'host', 'above', 'fine'];
    for (const name of names) mkdirSync(at('other', name));
    const mount = [
      `mount --bind ${at('state')} ${at('other/whole')}`,
      `mount --bind ${at('state/sub')} ${at('other/part')}`,
      `mount --bind ${at('code/packages/host')} ${at('other/host')}`,
      `mount --bind ${folder} ${at('other/above')}`,
      `mount --bind ${at('root')} ${at('other/fine')}`,
      `exec "$NODE" --import "$HOOK" --input-type=module -e "$SCRIPT" ${names.map((name) => at('other', name)).join(' ')}`,
    ].join(' && ');
    const said = execFileSync('unshare', ['--user', '--map-root-user', '--mount', 'sh', '-c', mount], {
      env: {
        PATH: process.env['PATH'] ?? '',
        NODE: process.execPath,
        HOOK: resolve(import.meta.dirname, '../../../../scripts/resolve.mjs'),
        SCRIPT: script,
        STATE: at('state'),
        CODE: at('code/packages'),
      },
      encoding: 'utf8',
    });
    expect(JSON.parse(said)).toEqual([refused, refused, refused, refused, 'granted']);
  },
);
