/**
 * Names of people, and words of the host about them, are not for sessions and petnames; an agent chooses the
 * names of its children.
 */
import { rmSync } from 'node:fs';
import { E } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { scene } from '../../test/asking.ts';
import { facts, goldenState } from '../../test/golden.ts';
import { code, scratch, testHost } from '../../test/test-host.ts';
import { openHost, type Request } from '../index.ts';
import { card } from '../powerbox/card.ts';
import { skeletonOf } from './names.ts';
import { hostWords } from './reserved.ts';

const spellings = ['owner', '0wner', 'ovvner', 'own-er', 'o-w-n-e-r', 'owner-'];
const statements = ['approved-by-owner', 'approved', 'appr0ved-by-alice', 'app-roved-by-owner', 'granted-by-host', 'revoked-by-owner', 'hob', 'host-says', 'denied', 'judge-1', 'granter']; // biome-ignore format: one line
const free = [
  'helper',
  'hobby',
  'hostel',
  'owners-notes',
  'agent',
  'workspace',
  'notes-2',
  'grants-overview',
  'revoked',
];

test('the name of a child cannot be a granter’s, nor begin with a word of the host, in any spelling; other names are free', async () => {
  const { agent, host, session } = await scene();
  const child = (name: string): Promise<string> => code(E(agent.bootstrap).spawnChild({ name, caps: {} }));
  for (const name of [...spellings, ...statements, 'Owner', 'owner ', 'оwner', 'ｏwner', 'Approved-By-Owner'])
    expect(await child(name), name).toBe('invalid');
  for (const name of free) expect(await child(name), name).toBe('ok');
  expect((await host.sessions()).filter(({ parent }) => parent === session.id).map(({ name }) => name).sort()).toEqual([...free].sort()); // biome-ignore format: one line
});

test('the same rule holds for sessions of the program, petnames of a granter, and names that a child gives its caps', async () => {
  const { agent, host, owner, session } = await scene();
  const grant = (petname: string): Promise<string> => code(E(owner).grant(session.id, petname, 'notes', {}));
  expect(await grant('notes')).toBe('ok');
  for (const name of [...spellings, ...statements]) {
    expect(await code(host.openSession({ name, granters: ['owner'] })), name).toBe('invalid');
    expect(await grant(name), name).toBe('invalid');
    expect(await code(E(agent.bootstrap).spawnChild({ name: 'kid', caps: { [name]: 'notes' } })), name).toBe('invalid');
  }
  expect((await host.sessions()).map(({ id }) => id)).toEqual([session.id]);
});

test('no name made of host words and dashes is free, nor one that looks like it', async () => {
  const home = await testHost();
  onTestFinished(() => home.close());
  const looks: Readonly<Record<string, string>> = { o: '0', l: '1', i: '1', s: '5', z: '2', w: 'vv', m: 'rn' };
  const disguised = (word: string, at: readonly boolean[]): string =>
    [...word].map((char, n) => (at[n] === true ? (looks[char] ?? char) : char)).join('');
  const name = fc
    .tuple(
      fc.constantFrom(...hostWords),
      fc.array(fc.boolean(), { maxLength: 12 }),
      fc.constantFrom('', '-by-owner', '-1'),
    )
    .map(([word, at, rest]) => `${disguised(word, at)}${rest}`);
  await fc.assert(
    fc.asyncProperty(name, async (each) => {
      expect(await code(home.host.openSession({ name: each })), each).toBe('invalid');
    }),
    { numRuns: 60 },
  );
  expect(skeletonOf('0wner')).toBe(skeletonOf('owner'));
});

test('a granter may take the name of an existing session, which is flagged from then on', async () => {
  const { agent, host, child, enterAs, owner, inbox, request } = await scene();
  const made = await child('alice');
  expect(await code(host.addGranter('alice'))).toBe('ok');
  expect(await code(E(agent.bootstrap).spawnChild({ name: 'a1ice', caps: {} }))).toBe('invalid');
  const kid = await enterAs<never>(made.secret);
  request({}, kid as never).catch(() => {});
  const [asked] = await inbox(1, owner);
  expect(card(asked as Request).join('\n')).toContain(`asked by session “${(asked as Request).asker[0]}” > session “${made.id}”`); // biome-ignore format: one line
  expect(asked?.flags).toContain(`the session “${made.id}” has a name that is reserved: it is not a person, and its name is no statement of the host`); // biome-ignore format: one line
  // Nor may a granter be called like a statement.
  for (const name of ['approved-by-owner', 'host', 'hob']) expect(await code(host.addGranter(name))).toBe('invalid');
});

test('the name of the asker is quoted wherever a person reads it, also in the effect of a yes', async () => {
  const { session, request, inbox } = await scene();
  request({}).catch(() => {});
  const [asked] = await inbox();
  expect(asked?.effect).toMatch(new RegExp(`^lets session “${session.id}” use “notes”`));
  expect(card(asked as Request).join('\n')).toContain(`asked by session “${session.id}”,`);
});

test('sessions of earlier versions keep their names, and are flagged', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  goldenState(folder);
  const host = await openHost({ stateDir: folder });
  onTestFinished(() => host.close());
  const names = (await host.sessions()).map(({ name }) => name);
  expect(names).toContain('owner');
  expect(names).toContain('approved-by-owner');
  expect(await (await host.session(facts.ids.child)).caps()).toEqual(['owner']);
});
