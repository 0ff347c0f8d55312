/** Tokens of peers. The attacker has tokens of others, keys of its own, and a pen. */
import { generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { deep } from '../../../../test/depth.ts';
import { cardKey, type Know, knowPeers, peerToken } from '../index.ts';

const AUDIENCE = 'https://timmy.example.com/a2a';
const START = Date.parse('2026-11-26T12:00:00.400Z');

const newKey = (kind: 'ed25519' | 'P-256' | 'P-384' = 'ed25519'): string => {
  const { privateKey } = kind === 'ed25519' ? generateKeyPairSync(kind) : generateKeyPairSync('ec', { namedCurve: kind }); // biome-ignore format: one line
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
};

/** A door that knows ezra and allegro, on a clock that a test sets. */
async function door(): Promise<{ readonly know: Know; readonly clock: { at: number }; readonly ezra: string; readonly allegro: string }> {
  const clock = { at: START };
  const [ezra, allegro] = [newKey(), newKey('P-256')];
  const keys = { ezra: await cardKey(ezra), allegro: await cardKey(allegro) };
  return { know: await knowPeers({ keys, audience: AUDIENCE, now: () => clock.at }), clock, ezra, allegro };
} // biome-ignore format: one line

const signed = (pem: string, at: number, audience = AUDIENCE): Promise<string> => peerToken({ pem, audience, now: () => at }); // biome-ignore format: one line

test('a token tells whose key signed it, for each kind of key', async () => {
  const { know, ezra, allegro } = await door();
  expect(await know(`Bearer ${await signed(ezra, START)}`)).toBe('ezra');
  expect(await know(`bearer ${await signed(allegro, START)}`)).toBe('allegro');
  const third = newKey('P-384');
  const also = await knowPeers({ keys: { third: await cardKey(third) }, audience: AUDIENCE, now: () => START });
  expect(await also(`Bearer ${await signed(third, START)}`)).toBe('third');
  expect(await also(`Bearer ${await signed(ezra, START)}`)).toBe(undefined);
});

test('a token is taken once, also when many came after it and the clock was set forth and back', async () => {
  const { know, clock, ezra, allegro } = await door();
  const token = `Bearer ${await signed(ezra, START)}`;
  expect([await know(token), await know(token)]).toEqual(['ezra', undefined]);
  for (let n = 0; n < 200; n += 1) await know(`Bearer ${await signed(ezra, START + n)}`);
  clock.at = START + 86_400_000;
  expect(await know(`Bearer ${await signed(ezra, clock.at)}`)).toBe('ezra');
  clock.at = START + 10;
  expect([await know(token), await know(`Bearer ${await signed(allegro, START)}`)]).toEqual([undefined, 'allegro']);
});

test('a token holds from the beginning of the host on, at its address, for a minute', async () => {
  const { know, clock, ezra } = await door();
  const at = async (signedAt: number, now: number, audience?: string): Promise<string | undefined> => {
    clock.at = now;
    return await know(`Bearer ${await signed(ezra, signedAt, audience)}`);
  };
  expect(await at(START - 1, START)).toBe(undefined);
  expect(await at(START + 60_000, START + 60_000)).toBe('ezra');
  expect(await at(START, START + 59_000)).toBe('ezra');
  expect(await at(START, START + 66_000)).toBe(undefined);
  expect(await at(START + 10_000, START)).toBe(undefined);
  expect(await at(START, START, `${AUDIENCE}/`)).toBe(undefined);
  expect(await at(START, START, '')).toBe(undefined);
});

test('whatever is changed in a token, nobody is known by it', async () => {
  const { know, ezra, allegro } = await door();
  const eve = newKey();
  const texts = await Promise.all([signed(ezra, START), signed(allegro, START), signed(eve, START)]);
  const [one = '', other = '', foreign = ''] = texts;
  const parts = [one, other, foreign].flatMap((text) => text.split('.'));
  const head = (claims: object): string => Buffer.from(JSON.stringify(claims)).toString('base64url');
  const { kid } = JSON.parse(Buffer.from(one.split('.')[0] ?? '', 'base64url').toString()) as { readonly kid: string };
  // A key that a token brings along, another algorithm, a header that must be understood.
  const heads = [
    { alg: 'none', kid },
    { alg: 'HS256', kid },
    { alg: 'ES256', kid },
    { alg: 'EdDSA', kid, jwk: { kty: 'OKP' } },
    { alg: 'EdDSA', kid, jku: 'http://127.0.0.1/' },
    { alg: 'EdDSA', kid, crit: ['exp'] },
    { alg: 'EdDSA', kid: '__proto__' },
    { alg: 'EdDSA' },
  ].map(head);
  const mixed = fc.tuple(...[0, 1, 2].map(() => fc.constantFrom('', ...parts, ...heads))).map((three) => three.join('.')); // biome-ignore format: one line
  const bitten = fc
    .tuple(fc.constantFrom(one, other), fc.nat(), fc.constantFrom('', 'A', 'AA', '.', '=', ' ', '\n'))
    .map(([text, at, put]) => text.slice(0, at % text.length) + put + text.slice((at % text.length) + 1));
  const whole = new Set([one, other]);
  await fc.assert(
    fc.asyncProperty(fc.oneof(mixed, bitten, fc.string()), async (text) => {
      if (whole.has(text.trim())) return;
      // The last letter of a signature has bits that mean nothing: such a text is the same token.
      const same = [...whole].some((token) => text.slice(0, -1) === token.slice(0, -1) && text.length === token.length);
      if (!same) expect(await know(`Bearer ${text}`)).toBe(undefined);
    }),
    { numRuns: deep ? 20_000 : 1_000 },
  );
  expect([await know(null), await know(''), await know(`Bearer ${'x'.repeat(9000)}.y.z`)]).toEqual([undefined, undefined, undefined]); // biome-ignore format: one line
  // None of that has used the tokens up.
  expect([await know(`Bearer ${one}`), await know(`Bearer ${other}`)]).toEqual(['ezra', 'allegro']);
});

test('the claims of a token are all there', async () => {
  const { know, ezra } = await door();
  const { SignJWT } = await import('jose');
  const { createPrivateKey } = await import('node:crypto');
  const { kid } = await cardKey(ezra);
  const iat = START / 1000;
  const made = (claims: object): Promise<string> =>
    new SignJWT({ ...claims } as never)
      .setProtectedHeader({ alg: 'EdDSA', kid: kid as string })
      .sign(createPrivateKey(ezra));
  const whole = { aud: AUDIENCE, iat, exp: iat + 60, jti: 'a' };
  expect(await know(`Bearer ${await made(whole)}`)).toBe('ezra');
  for (const claim of ['aud', 'iat', 'exp', 'jti'] as const) {
    const { [claim]: _, ...rest } = { ...whole, jti: `without ${claim}` };
    expect([claim, await know(`Bearer ${await made(rest)}`)]).toEqual([claim, undefined]);
  }
  for (const jti of ['', 7, {}, 'x'.repeat(300)]) expect(await know(`Bearer ${await made({ ...whole, jti })}`)).toBe(undefined); // biome-ignore format: one line
  // It ends a minute after its signing, whatever it says.
  const long = await made({ ...whole, iat: iat - 120, exp: iat + 86_400, jti: 'long' });
  expect(await know(`Bearer ${long}`)).toBe(undefined);
});

test('a key that is none is refused with its remedy', async () => {
  const point = 'A'.repeat(43);
  for (const key of [{}, { kty: 'OKP', crv: 'Ed25519', x: 'short' }, { kty: 'EC', crv: 'P-256', x: point, y: point }]) {
    const taken = knowPeers({ keys: { ezra: key }, audience: AUDIENCE, now: () => START });
    await expect(taken).rejects.toThrow(/a2a\.peers\.ezra\.key is no public key: .*hob card --public-key/);
  }
});
