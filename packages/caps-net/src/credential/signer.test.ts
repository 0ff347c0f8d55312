/** Keys that are used and never read. The attacker holds the cap. */
import { createHmac, generateKeyPairSync, verify } from 'node:crypto';
import { captp, driverOf, E, memoryPair } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { codeOf } from '../../test/web.ts';
import { makeSecret } from '../secret/secret.ts';
import { makeSignerCap } from './signer.ts';
import type { SignerCap } from './signer-cap.ts';

const newKey = (): string =>
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

test('signatures verify with the public key that the cap tells, over a wire too, and a rotation needs no new cap', async () => {
  let key = newKey();
  const cap = makeSignerCap({ key: makeSecret(() => key), algorithm: 'ed25519', context: 'hob release\n' });
  const [here, there] = memoryPair();
  const server = captp(here, { bootstrap: driverOf<SignerCap>(cap), dialect: 'hob.1' });
  const client = captp<SignerCap>(there, { dialect: 'hob.1' });
  onTestFinished(async () => {
    client.close();
    await server.closed;
  });
  const first = (await E(client.bootstrap).describe()).publicKey;
  for (const data of ['text ü', new Uint8Array([0, 255, 10])]) {
    const { signature } = await E(client.bootstrap).sign(data);
    const signed = Buffer.concat([Buffer.from('hob release\n'), Buffer.from(data as string)]);
    const { publicKey } = await E(client.bootstrap).describe();
    expect(verify(null, signed, publicKey ?? '', Buffer.from(signature, 'base64url'))).toBe(true);
    expect(verify(null, Buffer.from(data as string), publicKey ?? '', Buffer.from(signature, 'base64url'))).toBe(false);
    key = newKey();
  }
  expect((await cap.describe()).publicKey).not.toBe(first);
});

test('an HMAC is that of the key, and a key that could be guessed is refused', async () => {
  const key = 'k3y-of-at-least-thirty-two-characters';
  const cap = makeSignerCap({ key: makeSecret(() => key), algorithm: 'hmac-sha256' });
  expect((await cap.sign('abc')).signature).toBe(createHmac('sha256', key).update('abc').digest('base64url'));
  expect((await cap.describe()).publicKey).toBe(undefined);
  const weak = makeSignerCap({ key: makeSecret(() => 'password-1234'), algorithm: 'hmac-sha256' });
  expect(await codeOf(() => weak.sign('abc'))).toBe('E_SECRET');
});

test('nothing that a holder gets has the key in it', async () => {
  const key = newKey();
  const inner = key.split('\n')[1] as string;
  let stored: string | undefined = key;
  const cap = makeSignerCap({ key: makeSecret(() => stored), algorithm: 'ed25519' });
  const said: unknown[] = [await cap.sign('x'), await cap.describe(), String(cap), Object.keys(cap)];
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  for (stored of [
    undefined,
    'no key at all, only text',
    key.slice(0, 80),
    rsa.export({ type: 'pkcs8', format: 'pem' }) as string,
  ]) {
    // biome-ignore format: one line
    const error = (await cap.sign('x').catch((thrown: unknown) => thrown)) as Error & { code: string };
    expect(error.code).toBe('E_SECRET');
    said.push(error.message, error.cause);
  }
  expect(JSON.stringify(said)).not.toContain(inner);
  expect(Object.keys(cap)).toEqual(['sign', 'describe']);
  for (const data of [undefined, 7, {}, '\ud800']) expect(await codeOf(() => cap.sign(data as never))).toBe('invalid');
  expect(await codeOf(() => cap.sign('x'.repeat(2 ** 20 + 1)))).toBe('limit');
  expect(await codeOf(() => makeSignerCap({ key: key as never, algorithm: 'ed25519' }))).toBe('invalid');
  expect(await codeOf(() => makeSignerCap({ key: makeSecret(() => key), algorithm: 'rsa' as never }))).toBe('invalid');
});
