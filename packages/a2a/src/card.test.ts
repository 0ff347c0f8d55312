/** The card: who it names, which skills are on it, and what is no card. */
import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentCard as Message, verifyAgentCardSignature } from '@a2a-js/sdk';
import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { CARD_OF_0X, FLEET, SKILL } from '../test/fleet.ts';
import {
  buildAgentCard,
  cardKey,
  firstOf,
  isSignedBy,
  mergeSkills,
  readSkills,
  signAgentCard,
  skillsOf,
  validateAgentCard,
} from './index.ts';

const [timmy] = FLEET as [(typeof FLEET)[0]];
const on = { disabled: [], platform: 'linux' };
const skill = (record: string): string => `---\n${record}\n---\n`;
const pem = (type: 'ed25519' | 'ec' | 'rsa', options: object = {}): string =>
  generateKeyPairSync(type as 'ec', options as { namedCurve: string })
    .privateKey.export({ type: 'pkcs8', format: 'pem' })
    .toString();

test.for(FLEET)(
  'the card of $name is one of A2A 1.0, by our check, by the rules of the fleet, and for the SDK',
  (parts) => {
    const card = buildAgentCard(parts);
    expect(card).toMatchObject({
      name: parts.name,
      supportedInterfaces: [{ url: parts.url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }],
      capabilities: { streaming: false, pushNotifications: false },
      defaultInputModes: ['text/plain', 'application/json'],
      defaultOutputModes: ['text/plain', 'application/json'],
    });
    expect(validateAgentCard(JSON.parse(JSON.stringify(card)), { fleet: true })).toEqual([]);
    const read = Message.fromJSON(JSON.parse(JSON.stringify(card)));
    expect([read.name, read.supportedInterfaces[0]?.url]).toEqual([parts.name, parts.url]);
  },
);

test('a skill has its tags and its category; names make ids', () => {
  expect(skillsOf([{ folder: 'code-implementation', text: SKILL }], on)).toEqual([
    {
      id: 'code-implementation',
      name: 'Code Implementation',
      description: 'Implement and patch code',
      tags: ['python', 'gitea', 'discovery'],
    },
  ]);
  const made = skillsOf(
    [
      { folder: 'a', text: skill('tags: "x, y, x,"\ncategory: x\ntitle: Shown') },
      { folder: 'b', text: skill('description: |\n  two\n  lines') },
    ],
    on,
  );
  expect(made).toEqual([
    { id: 'a', name: 'Shown', description: 'Shown', tags: ['x', 'y'] },
    { id: 'b', name: 'b', description: 'two\nlines', tags: ['b'] },
  ]);
  expect(validateAgentCard(buildAgentCard({ ...timmy, skills: made }))).toEqual([]);
});

test('disabled skills, and those of other platforms, are left out; of two with one id the first one stays, in order', () => {
  const files = [
    { folder: 'z', text: skill('name: Zeta') },
    { folder: 'off', text: skill('name: Off') },
    { folder: 'by-id', text: skill('name: By Id') },
    { folder: 'mac', text: skill('name: Mac\nplatforms: [macos]') },
    { folder: 'both', text: skill('name: Both\nplatforms: [macOS, Linux]') },
    { folder: 'again', text: skill('name: zeta\ndescription: another') },
  ];
  const skills = skillsOf(files, { disabled: ['off', 'by-id'], platform: 'linux' });
  expect(buildAgentCard({ ...timmy, skills }).skills.map(({ id, description }) => [id, description])).toEqual([
    ['both', 'Both'],
    ['zeta', 'Zeta'],
  ]);
  const onMac = skillsOf(files, { disabled: [], platform: 'darwin' }).map(({ id }) => id);
  expect(onMac).toContain('mac');
});

test('whatever skills are given, the card has each id once, in order', () => {
  const any = fc.record({ id: fc.stringMatching(/^[a-c]{1,2}$/), name: fc.constant('n'), description: fc.string(), tags: fc.constant(['t']) }); // biome-ignore format: one line
  fc.assert(
    fc.property(fc.array(any), (skills) => {
      const merged = mergeSkills(skills);
      const ids = merged.map(({ id }) => id);
      expect(ids).toEqual([...new Set(skills.map(({ id }) => id))].sort());
      for (const one of merged) expect(skills.find(({ id }) => id === one.id)).toBe(one);
    }),
  );
});

test.for([
  ['no record', '# A skill\n', 'does not begin with a record'],
  ['a record that never ends', '---\nname: x\n', 'does not begin with a record'],
  ['no YAML', skill('name: [x'), 'no YAML'],
  ['a key twice', skill('name: x\nname: y'), 'no YAML'],
  ['a list as its name', skill('name: [x]'), 'name is wrong'],
  ['a text', skill('just words'), 'shape is wrong'],
  ['an alias that unfolds', skill('a: &a [x, x]\nb: [*a, *a]'), undefined],
] as const)('a SKILL.md with %s is an error that names the folder, never a skill that is missing', ([, text, what]) => {
  const read = (): unknown => skillsOf([{ folder: 'broken', text }], on);
  if (what === undefined) return expect(read).toThrow();
  expect(read).toThrow(what);
  expect(read).toThrow('"broken"');
});

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

test('skills are found three levels deep, and no link is followed', () => {
  const top = mkdtempSync(join(tmpdir(), 'hob-skills-'));
  const elsewhere = mkdtempSync(join(tmpdir(), 'hob-skills-'));
  folders.push(top, elsewhere);
  for (const path of ['one', 'group/two', 'group/sub/three', 'group/sub/deep/four', '.git/five']) {
    mkdirSync(join(top, path), { recursive: true });
    writeFileSync(join(top, path, 'SKILL.md'), SKILL);
  }
  mkdirSync(join(elsewhere, 'six'));
  writeFileSync(join(elsewhere, 'six', 'SKILL.md'), SKILL);
  symlinkSync(join(elsewhere, 'six'), join(top, 'six'));
  mkdirSync(join(top, 'seven'));
  symlinkSync(join(elsewhere, 'six', 'SKILL.md'), join(top, 'seven', 'SKILL.md'));
  expect(readSkills(top).map(({ folder }) => folder)).toEqual(['three', 'two', 'one']);
  expect(() => readSkills(join(top, 'nothing'))).toThrow('"nothing"');
});

// The proposal for Hermes tests its validator for these errors. Here they have the words of 1.0.
test('each error of the validator for A2A 0.x is found in a card of 1.0', () => {
  const errors = validateAgentCard({
    name: '',
    description: ' ',
    version: 1,
    supportedInterfaces: [
      { url: 'timmy.local', protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: 'ftp://timmy.local/a2a', protocolBinding: '', protocolVersion: '1.0' },
    ],
    capabilities: { streaming: true, pushNotifications: 'no' },
    skills: [
      { id: '', name: '', description: 'x', tags: 'python' },
      'no skill',
      { id: 'a', name: 'a', description: 'a', tags: [''] },
    ],
    defaultInputModes: [],
    defaultOutputModes: ['plain'],
    metadata: [],
  });
  expect(errors).toEqual([
    'name must be a non-empty string',
    'description must be a non-empty string',
    'version must be a non-empty string',
    'supportedInterfaces[0].url must be an absolute http/https URL',
    'supportedInterfaces[1].url must be an absolute http/https URL',
    'supportedInterfaces[1].protocolBinding must be a non-empty string',
    'capabilities.pushNotifications must be a boolean',
    'defaultInputModes must be a non-empty list of MIME types',
    'defaultOutputModes[0] entries must be MIME types',
    'skills[0].id missing id',
    'skills[0].name missing name',
    'skills[0].tags must be a list',
    'skills[1] must be an object',
    'skills[2].tags[0] must be a non-empty string',
    'metadata is not of A2A 1.0: write an extension in capabilities.extensions',
  ]);
});

test('a card of A2A 0.x is told where each thing is in 1.0', () => {
  expect(validateAgentCard(CARD_OF_0X)).toEqual([
    'supportedInterfaces must be a non-empty list of {url, protocolBinding, protocolVersion}',
    'url is of A2A 0.x: write supportedInterfaces',
    'metadata is not of A2A 1.0: write an extension in capabilities.extensions',
    'capabilities.stateTransitionHistory is of A2A 0.x: remove it',
  ]);
});

test('the rules of the fleet are asked for: another path and fewer modes are a card of 1.0', () => {
  const card = { ...buildAgentCard({ ...timmy, url: 'https://timmy.local/' }), defaultOutputModes: ['text/plain'] };
  expect(validateAgentCard(card)).toEqual([]);
  expect(validateAgentCard(card, { fleet: true })).toEqual([
    'defaultOutputModes must include application/json',
    'supportedInterfaces[0].url must point to the /a2a endpoint',
  ]);
});

test('whatever is given, the check returns errors or none, and never throws', () => {
  fc.assert(
    fc.property(fc.oneof(fc.anything(), fc.object()), (given) => {
      const errors = validateAgentCard(given, { fleet: true });
      expect(errors.length).toBeGreaterThan(0);
    }),
  );
});

test('a card that cannot be made is an error with every reason, and no other card in its place', () => {
  expect(() => buildAgentCard({ ...timmy, name: ' ', url: 'timmy' })).toThrow(
    'name must be a non-empty string; supportedInterfaces[0].url must be an absolute http/https URL',
  );
});

test('the name is that of the first place that has one', () => {
  expect(firstOf(undefined, '  ', ' Timmy ', 'Ezra')).toBe('Timmy');
  expect(firstOf(undefined, '')).toBe(undefined);
});

test.for([
  ['ed25519', pem('ed25519'), 'EdDSA'],
  ['P-256', pem('ec', { namedCurve: 'P-256' }), 'ES256'],
  ['P-384', pem('ec', { namedCurve: 'P-384' }), 'ES384'],
] as const)('a card signed with %s is found valid, and no other card, key or field is', async ([, key, alg]) => {
  const card = buildAgentCard({ ...timmy, skills: skillsOf([{ folder: 'x', text: SKILL }], on) });
  const signed = JSON.parse(JSON.stringify(await signAgentCard(card, key)));
  const jwk = await cardKey(key);
  expect(jwk).toMatchObject({ alg, use: 'sig' });
  expect(jwk).not.toHaveProperty('d');
  expect(await isSignedBy(signed, jwk)).toBe(true);
  await verifyAgentCardSignature(async () => jwk)(Message.fromJSON(signed));
  const other = await cardKey(pem('ed25519'));
  const changes: readonly unknown[] = [
    { ...signed, name: 'Ezra' },
    { ...signed, supportedInterfaces: [{ ...signed.supportedInterfaces[0], url: 'https://eve.example/a2a' }] },
    { ...signed, skills: [] },
    { ...signed, signatures: [] },
    { ...signed, signatures: [{ ...signed.signatures[0], signature: 'AAAA' }] },
    // The library leaves out of the signature what 1.0 does not know; the check refuses what 0.x knew.
    { ...signed, url: 'https://eve.example/a2a' },
  ];
  for (const changed of changes) expect(await isSignedBy(changed, jwk)).toBe(false);
  expect(await isSignedBy(signed, other)).toBe(false);
  expect(await isSignedBy(signed, { ...other, kid: jwk.kid as string })).toBe(false);
  // The order of keys is nothing.
  expect(await isSignedBy(Object.fromEntries(Object.entries(signed).reverse()), jwk)).toBe(true);
});

test('a key that is none of the three kinds is refused, and no word of it is told', async () => {
  const card = buildAgentCard(timmy);
  for (const bad of [pem('rsa', { modulusLength: 2048 }), 'SECRET-WORD', ''])
    await expect(signAgentCard(card, bad)).rejects.toThrow(
      /^the key of a card is a private key in PEM: ed25519, or EC on P-256 or P-384$/,
    );
});
