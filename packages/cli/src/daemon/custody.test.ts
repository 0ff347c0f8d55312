/** Secrets by the real command line: what is on the disk, what is shown, and what is left after a kill. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { type HobHome, hobHome, type Ran } from '../../test/hob.ts';
import { Terminal } from '../../test/screen.ts';
import { keyIn, keyText, newSecretsKey, seal, unseal } from '../secrets/drivers/seal.ts';
import { openSecrets, rotateSecrets, type SecretStore, setSecret } from './custody.ts';
import { keyRingAt } from './drivers/secrets-key.ts';

const VALUE = 'INTIMATE-p4ss/w+rd';

async function typed(hob: HobHome, value: string, ...args: readonly string[]): Promise<Ran> {
  const running = hob.start(...args);
  running.child.stdin?.end(value);
  return { code: await running.ended, out: running.out, err: running.err };
}
const stateOf = (hob: HobHome): string => join(hob.folder, 'home/.local/state/hob/state');
/** All bytes of a folder. */
const bytesIn = (folder: string): string =>
  readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('\n'); // biome-ignore format: one line

test('a secret is set, listed and removed, with and without a host; its value is nowhere on the disk, in no output and in no ledger', async () => {
  const hob = hobHome();
  const shown: string[] = [];
  const keep = ({ code, out, err }: Ran): number | string => {
    shown.push(out, err);
    return code;
  };
  expect(keep(await typed(hob, `${VALUE}\n`, 'secret', 'set', 'GH_TOKEN'))).toBe(0);
  const key = `${stateOf(hob)}.secrets.key`;
  expect(statSync(key).mode & 0o777).toBe(0o600);
  const host = await hob.serve();
  expect(keep(await typed(hob, `${VALUE}-2`, 'secret', 'set', 'OTHER', '--json'))).toBe(0);
  const rows = await hob.json<readonly { readonly name: string; readonly opens: boolean }[]>('secret', 'list');
  expect(rows.map(({ name, opens }) => [name, opens])).toEqual([
    ['GH_TOKEN', true],
    ['OTHER', true],
  ]);
  expect(keep(await hob.run('ledger', 'show'))).toBe(0);
  expect(shown.at(-2)).toMatch(/ {2}secret {2}.*what=set {2}name=OTHER/);
  expect(keep(await hob.run('secret', 'remove', 'OTHER'))).toBe(0);
  expect(keep(await hob.run('secret', 'remove', 'OTHER'))).toBe(1);
  host.child.kill('SIGTERM');
  await host.ended;
  const copy = join(hob.folder, 'copy.db');
  expect(keep(await hob.run('backup', copy))).toBe(0);
  for (const text of [bytesIn(join(hob.folder, 'home')), readFileSync(copy, 'latin1'), host.out, host.err, ...shown]) {
    expect(text).not.toContain('INTIMATE');
    expect(text).not.toContain(Buffer.from(VALUE).toString('base64').slice(0, 20));
  }
  // A backup has the ciphertext. It opens beside the key, and not without it.
  const other = join(hob.folder, 'other');
  expect((await hob.run('restore', '--state', other, copy)).code).toBe(0);
  expect((await hob.run('secret', 'list', '--state', other)).out).toMatch(/^GH_TOKEN\t\S+\tcannot be opened\n$/);
  expect((await hob.run('secret', 'list', '--state', other, '--secrets-key', key)).out).toMatch(
    /^GH_TOKEN\t\S+\tok\n$/,
  );
}, 120_000);

test('a short value, a name of other letters, a key that others may read and a lost key are refused with a remedy', async () => {
  const hob = hobHome();
  const key = `${stateOf(hob)}.secrets.key`;
  const refused = async (value: string, ...args: readonly string[]): Promise<string> => {
    const { code, out, err } = await typed(hob, value, 'secret', ...args);
    expect([code, out, err]).toEqual([expect.any(Number), '', expect.stringMatching(/^hob: [^\n]+\n$/)]);
    expect(code).not.toBe(0);
    return err;
  };
  expect(await refused('hunter2', 'set', 'A')).toMatch(/fewer than 8 characters/);
  expect(await refused('', 'set', 'A')).toMatch(/fewer than 8 characters/);
  expect(await refused(VALUE, 'set', 'a b')).toMatch(/the name of a secret/);
  expect(await refused(VALUE, 'set', 'A', '--secrets-key', 'fd:99')).toMatch(/fd:N names a descriptor/);
  expect(existsSync(key)).toBe(false);
  expect(await refused('', 'rotate')).toMatch(/there is no secret yet/);
  expect((await typed(hob, VALUE, 'secret', 'set', 'A')).code).toBe(0);
  chmodSync(key, 0o644);
  expect(await refused(VALUE, 'set', 'B')).toMatch(/others may read the key of the secrets: chmod 600/);
  chmodSync(key, 0o600);
  renameSync(key, `${key}.lost`);
  expect(await refused(VALUE, 'set', 'B')).toMatch(/is not there: restore its file/);
  writeFileSync(key, 'junk', { mode: 0o600 });
  expect(await refused(VALUE, 'set', 'B')).toMatch(/is damaged/);
  // Without the key a secret can still be removed, and a new one begins with a new key.
  rmSync(key);
  expect((await hob.run('secret', 'remove', 'A')).code).toBe(0);
  expect((await typed(hob, VALUE, 'secret', 'set', 'B')).code).toBe(0);
  expect((await hob.run('secret', 'list')).out).toMatch(/^B\t\S+\tok\n$/);
}, 120_000);

requires('linux', 'pty')(
  'at a terminal the value is asked and not shown',
  async () => {
    const hob = hobHome();
    const terminal = new Terminal(hob, ['secret', 'set', 'GH_TOKEN']);
    await terminal.until(/The value of GH_TOKEN/);
    terminal.type(`${VALUE}\r`);
    expect(await terminal.ended).toBe(0);
    expect(terminal.out).toMatch(/stored the secret GH_TOKEN/);
    expect(terminal.out).not.toContain('INTIMATE');
  },
  120_000,
);

test('a key may come on a descriptor; its file can be rotated, and a descriptor cannot', async () => {
  const hob = hobHome();
  const key = newSecretsKey();
  const withKey = async (...args: readonly string[]): Promise<number | null> => {
    const child = spawn(hob.words[0] as string, [...hob.words.slice(1), ...args, '--secrets-key', 'fd:3'], { env: hob.env, cwd: hob.folder, stdio: ['pipe', 'ignore', 'ignore', 'pipe'] }); // biome-ignore format: one line
    (child.stdio[3] as NodeJS.WritableStream).end(keyText(key));
    child.stdin?.end(VALUE);
    return await new Promise((resolve) => child.once('close', resolve));
  };
  expect(await withKey('secret', 'set', 'A')).toBe(0);
  expect(existsSync(`${stateOf(hob)}.secrets.key`)).toBe(false);
  expect(await withKey('secret', 'rotate')).toBe(1);
  const file = join(hob.folder, 'key');
  writeFileSync(file, keyText(key), { mode: 0o600 });
  const { key: next, count } = await hob.json<{ readonly key: string; readonly count: number }>('secret', 'rotate', '--secrets-key', file); // biome-ignore format: one line
  expect([count, next === key.id, keyIn(readFileSync(file, 'utf8'))?.id]).toEqual([1, false, next]);
  expect((await hob.run('secret', 'list', '--secrets-key', file)).out).toMatch(/\tok\n$/);
}, 120_000);

test('a rotation that is killed at any moment leaves every secret with its key, and the next one ends it', async () => {
  const hob = hobHome();
  for (const name of ['A', 'B']) expect((await typed(hob, `${VALUE}-${name}`, 'secret', 'set', name)).code).toBe(0);
  const opens = async (): Promise<readonly boolean[]> =>
    (await hob.json<readonly { readonly opens: boolean }[]>('secret', 'list')).map((row) => row.opens);
  // The times are a guess at the moments that matter. The promise holds at all of them.
  for (const ms of [400, 600, 800, 1000]) {
    const rotation = hob.start('secret', 'rotate');
    const timer = setTimeout(() => rotation.child.kill('SIGKILL'), ms);
    await rotation.ended;
    clearTimeout(timer);
    expect([ms, await opens()]).toEqual([ms, [true, true]]);
  }
  expect((await hob.run('secret', 'rotate')).code).toBe(0);
  expect(await opens()).toEqual([true, true]);
  expect(existsSync(`${stateOf(hob)}.secrets.key.next`)).toBe(false);
}, 120_000);

test('a rotation that stops between any two of its steps leaves every secret with its key', async () => {
  const hob = hobHome();
  const place = join(hob.folder, 'key');
  let kept: { under?: string; texts: Record<string, string> } = { texts: {} };
  const store: SecretStore = {
    read: async () => kept,
    change: async ({ set = {}, under, was }) => {
      if (kept.under !== was) throw Object.assign(new Error('changed'), { code: 'STALE' });
      kept = { ...(under === undefined ? {} : { under }), texts: { ...kept.texts, ...set } };
      return kept;
    },
  };
  const ring = keyRingAt(place);
  await setSecret(store, ring, 'A', VALUE);
  const stops = (): never => {
    throw new Error('killed');
  };
  for (const killed of [
    {
      ...ring,
      next() {
        ring.next();
        return stops();
      },
    },
    { ...ring, settle: stops },
    { ...ring, settle: stops },
    ring,
  ]) {
    await rotateSecrets(store, killed).catch(() => {});
    const { values, closed } = await openSecrets(store, keyRingAt(place));
    expect([values.get('A'), closed]).toEqual([VALUE, []]);
    await setSecret(store, ring, 'B', `${VALUE}-2`);
  }
  expect(existsSync(`${place}.next`)).toBe(false);
  // Two rotations at once.
  await Promise.all([rotateSecrets(store, ring), rotateSecrets(store, ring)]);
  expect((await openSecrets(store, keyRingAt(place))).closed).toEqual([]);
});

test('a sealed value opens under its name and its key only, and every change of it is seen', () => {
  const [key, other] = [newSecretsKey(), newSecretsKey()];
  const sealed = seal(key, 'A', VALUE);
  expect(unseal(key, 'A', sealed)).toBe(VALUE);
  expect(seal(key, 'A', VALUE)).not.toBe(sealed);
  expect(seal(key, 'A', 'x').length).toBe(sealed.length);
  const [version, id, nonce, box = ''] = sealed.split('.');
  const bytes = Buffer.from(box, 'base64url');
  const wrong = [
    [other, 'A', sealed],
    [key, 'B', sealed],
    [key, 'A', ''],
    [key, 'A', `${version}.${id}.${nonce}.`],
    [key, 'A', sealed.replace(key.id, other.id)],
    [{ ...other, id: key.id }, 'A', sealed],
    ...[...bytes.keys()].map((at) => {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 1;
      return [key, 'A', `${version}.${id}.${nonce}.${changed.toString('base64url')}`] as const;
    }),
  ] as const;
  for (const [by, name, text] of wrong)
    expect(() => unseal(by, name, text)).toThrow(/^the secret [AB] cannot be opened/);
});
