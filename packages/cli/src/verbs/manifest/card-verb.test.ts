/** `hob card`, and the card that a host serves. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { cardKey, isSignedBy, knowPeers, validateAgentCard } from '@hob/a2a';
import { expect, test } from 'vitest';
import { type HobHome, hobHome, MANIFEST } from '../../../test/hob.ts';

const URL_OF = 'https://timmy.local:9443/a2a';
const withCard = (card: string): string => `${MANIFEST}a2a: ${card}\n`;
const pem = (): string => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

/** `hob card` of the manifest of this home. */
const cardOf = async (hob: HobHome, ...args: readonly string[]): Promise<Record<string, unknown>> =>
  await hob.json('card', join(hob.folder, 'config/hob.yaml'), ...args);

function skill(hob: HobHome, name: string, record: string): void {
  mkdirSync(join(hob.folder, 'config/skills', name), { recursive: true });
  writeFileSync(join(hob.folder, 'config/skills', name, 'SKILL.md'), `---\n${record}\n---\n# ${name}\n`);
}

test('the card has its name from the flag, the environment, the manifest, the machine, in this order', async () => {
  const manifest = withCard(`{ name: Timmy, url: "${URL_OF}" }`);
  const [named, alone] = [hobHome(manifest, { HOB_AGENT_NAME: 'Allegro' }), hobHome(manifest)];
  expect((await cardOf(named, '--name', 'Ezra'))['name']).toBe('Ezra');
  expect((await cardOf(named))['name']).toBe('Allegro');
  expect((await cardOf(alone))['name']).toBe('Timmy');
  const bare = hobHome(withCard(`{ url: "${URL_OF}" }`), { AGENT_NAME: ' ' });
  expect((await cardOf(bare))['name']).toBe(hostname().split('.')[0]);
});

test('the card has the skills of the manifest; it prints the same with and without --json, and is valid', async () => {
  const hob = hobHome(withCard(`{ name: Timmy, url: "${URL_OF}", skills: [./skills], disabled: [old] }`));
  skill(hob, 'tests', 'description: Mends tests\ntags: [ci]\ncategory: code');
  skill(hob, 'old', 'name: old');
  const card = await cardOf(hob);
  expect(card['skills']).toEqual([{ id: 'tests', name: 'tests', description: 'Mends tests', tags: ['ci', 'code'] }]);
  expect(validateAgentCard(card, { fleet: true })).toEqual([]);
  const { code, out, err } = await hob.run('card', join(hob.folder, 'config/hob.yaml'), '--validate');
  expect([code, JSON.parse(out), err]).toEqual([0, card, 'this is a card of A2A 1.0\n']);
});

test('a card that cannot be built ends with 1 and the remedy, and prints no card', async () => {
  const hob = hobHome(withCard('{ name: Timmy, skills: [./skills] }'));
  const at = join(hob.folder, 'config/hob.yaml');
  mkdirSync(join(hob.folder, 'config/skills'));
  expect(await hob.run('card', at)).toMatchObject({ code: 1, out: '', err: expect.stringMatching(/^hob: .*--url/) });
  expect(await hob.run('card', at, '--url', 'timmy')).toMatchObject({ code: 1, out: '', err: expect.stringContaining('absolute http/https URL') }); // biome-ignore format: one line
  skill(hob, 'broken', 'name: [');
  const broken = await hob.run('card', at, '--url', URL_OF);
  expect(broken).toMatchObject({ code: 1, out: '', err: expect.stringContaining('"broken"') });
  expect(broken.err).not.toContain(hob.folder);
  expect(await hob.run('card', at, '--public-key')).toMatchObject({ code: 1, out: '' });
});

test('--token prints a token that the agent at the address takes once, and needs the key and the address', async () => {
  const hob = hobHome();
  const file = join(hob.folder, 'card.pem');
  const key = pem();
  writeFileSync(file, key);
  const since = Date.now();
  const { token } = await hob.json<{ readonly token: string }>('card', '--sign-with', file, '--token', '--url', URL_OF);
  const know = await knowPeers({ keys: { ezra: await cardKey(key) }, audience: URL_OF, now: () => since });
  expect([await know(`Bearer ${token}`), await know(`Bearer ${token}`)]).toEqual(['ezra', undefined]);
  for (const args of [['--token'], ['--token', '--sign-with', file], ['--token', '--url', URL_OF]])
    expect(await hob.run('card', ...args)).toMatchObject({ code: 1, out: '', err: expect.stringContaining('give --sign-with FILE and --url') }); // biome-ignore format: one line
});

test('--validate FILE says each error of anybody’s card, and ends with 1', async () => {
  const hob = hobHome();
  const file = join(hob.folder, 'card.json');
  writeFileSync(file, JSON.stringify({ name: 'Timmy', url: URL_OF }));
  const { code, out } = await hob.run('card', '--validate', file);
  expect([code, out.includes('url is of A2A 0.x: write supportedInterfaces\n')]).toEqual([1, true]);
  writeFileSync(file, '{');
  expect(await hob.run('card', '--validate', file)).toMatchObject({ code: 1, out: 'this is no JSON\n' });
});

test('--sign-with signs the card with the key whose public part --public-key prints', async () => {
  const hob = hobHome(withCard(`{ name: Timmy, url: "${URL_OF}" }`));
  const key = pem();
  writeFileSync(join(hob.folder, 'card.pem'), key);
  const jwk = await cardKey(key);
  expect(await hob.json('card', '--sign-with', join(hob.folder, 'card.pem'), '--public-key')).toEqual(jwk);
  expect(await isSignedBy(await cardOf(hob, '--sign-with', join(hob.folder, 'card.pem')), jwk)).toBe(true);
});

/** Asks the door of a served home for the card. */
async function served(
  hob: HobHome,
): Promise<{ readonly status: number; readonly text: string; readonly type: string }> {
  const { url } = await hob.json<{ url: string }>('status');
  const { port } = new URL(url);
  const answer = await fetch(`http://localhost:${port}/.well-known/agent-card.json`, {
    headers: { connection: 'close' },
  });
  return { status: answer.status, text: await answer.text(), type: answer.headers.get('content-type') ?? '' };
}

test('a host serves the signed card if its manifest says so', async () => {
  const hob = hobHome(withCard(`{ name: Timmy, url: "${URL_OF}", serve: true, key: CARD_KEY }`));
  const key = pem();
  const start = hob.start('serve', '--manifest', join(hob.folder, 'config/hob.yaml'));
  expect(await start.ended).toBe(1);
  expect(start.err).toContain('hob secret set CARD_KEY');
  const storing = hob.start('secret', 'set', 'CARD_KEY');
  storing.child.stdin?.end(key);
  expect([await storing.ended, storing.err]).toEqual([0, '']);
  await hob.serve();
  const { status, text, type } = await served(hob);
  expect([status, type]).toEqual([200, 'application/json']);
  expect(await isSignedBy(JSON.parse(text), await cardKey(key))).toBe(true);
  expect(text).not.toContain(hob.folder);
});

test('a host whose manifest does not say so serves no card', async () => {
  const hob = hobHome(withCard(`{ name: Timmy, url: "${URL_OF}" }`));
  await hob.serve();
  expect((await served(hob)).status).not.toBe(200);
});
