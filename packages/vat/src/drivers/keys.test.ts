import { generateKeyPairSync } from 'node:crypto';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { folderSigner, memorySigner, verifier } from './keys.ts';

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-keys-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
const message = new TextEncoder().encode('message');

test('what it signed, and nothing else, is vouched for', () => {
  const signer = memorySigner();
  const good = verifier(signer.publicKey);
  const signature = signer.sign(message);
  expect(good(message, signature)).toBe(true);
  for (let at = 0; at < 64; at += 1) {
    const bad = signature.slice();
    bad[at] = bad[at]! ^ 1;
    expect(good(message, bad)).toBe(false);
  }
  expect(good(new TextEncoder().encode('massage'), signature)).toBe(false);
  expect(good(message, signature.subarray(1))).toBe(false);
  expect(verifier(memorySigner().publicKey)(message, signature)).toBe(false);
  for (const key of [new Uint8Array(0), new Uint8Array(31), new Uint8Array(33)])
    expect(verifier(key)(message, signature)).toBe(false);
});

test('a signer gives nothing away but the public key', () => {
  const signer = memorySigner();
  expect(Reflect.ownKeys(signer).sort()).toEqual(['publicKey', 'seal', 'sign']);
  expect(Object.isFrozen(signer)).toBe(true);
});

test('a folder has one key, for its owner only, the same at each opening, also found wider', () => {
  const folder = scratch();
  const first = folderSigner(folder);
  expect(readdirSync(folder)).toEqual(['ledger.key']);
  const mode = () => (statSync(join(folder, 'ledger.key')).mode & 0o777).toString(8);
  expect(mode()).toBe('600');
  chmodSync(join(folder, 'ledger.key'), 0o644);
  expect(Buffer.from(folderSigner(folder).publicKey).equals(Buffer.from(first.publicKey))).toBe(true);
  expect(mode()).toBe('600');
  expect(readFileSync(join(folder, 'ledger.key'), 'utf8')).toMatch(/^-----BEGIN PRIVATE KEY-----/);
});

test('one left half made by a crash is made anew', () => {
  const folder = scratch();
  writeFileSync(join(folder, 'ledger.key.new'), '-----BEGIN');
  folderSigner(folder);
  expect(readdirSync(folder)).toEqual(['ledger.key']);
});

test('what is no key of ours is refused and left as it is, without a path in the message', () => {
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
  const cases: Record<string, (file: string) => void> = {
    nothing: (file) => writeFileSync(file, ''),
    'half a key': (file) => writeFileSync(file, '-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2Vw'),
    'a key of another sort': (file) => writeFileSync(file, rsa),
    'a link': (file) => symlinkSync('/etc/hostname', file),
    'a folder': (file) => mkdirSync(file),
  };
  for (const [name, put] of Object.entries(cases)) {
    const folder = scratch();
    put(join(folder, 'ledger.key'));
    expect(() => folderSigner(folder), name).toThrow(
      expect.objectContaining({ code: 'invalid', message: expect.not.stringContaining(folder) }),
    );
    expect(readdirSync(folder)).toEqual(['ledger.key']);
  }
  expect(() => folderSigner('/proc/nowhere')).toThrow(
    expect.objectContaining({ code: 'unavailable', message: expect.not.stringContaining('nowhere') }),
  );
});
