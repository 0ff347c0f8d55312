/** How an offer is called where a person reads it. The attackers: an agent that wants a path, and a label that wants to be more. */
import { mkdirSync, realpathSync } from 'node:fs';
import { createServer, connect as dial, type Socket } from 'node:net';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { makeCommandCap, makeShellCap } from '@hob/caps-shell';
import { connect, E, type Far } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { anyCharacter } from '../../../../test/any-character.ts';
import { requires } from '../../../../test/needs.ts';
import { later, type Scene, scene } from '../../test/asking.ts';
import { code, held } from '../../test/test-host.ts';
import type { Grant, Judge, SessionFace } from '../index.ts';
import { card } from './card.ts';
import { offerText, placeText } from './offer-text.ts';

const rootOf = (at: Scene): string => realpathSync(join(at.folder, 'root'));
const grants = (at: Scene): Promise<readonly Grant[]> => E(at.owner).list() as unknown as Promise<readonly Grant[]>;

/** Offers the directory of the scene once more, with a label, and asks for it. */
async function labelled(label: string): Promise<Scene & { readonly dir: FsCap }> {
  const at = await scene();
  const dir = await openFsCap(join(at.folder, 'root'));
  onTestFinished(() => dir.close());
  await at.host.offer('directory-hyldxrqnn7ed', dir, { label });
  return { ...at, dir };
}

test('a card and the list say which directory it is: the label of the host, and to granters the place', async () => {
  const at = await labelled('notes of the team');
  at.request({ asks: 'directory-hyldxrqnn7ed', terms: { uses: 2 } });
  const [asked] = await at.inbox();
  expect(asked?.effect).toBe(
    `lets session “${at.session.id}” use “notes of the team”: 2 calls, until the session ends`,
  );
  expect(asked?.table.slice(0, 3)).toEqual([
    ['what', '“notes of the team”'],
    ['where', `the directory “${rootOf(at)}”`],
    ['offered as', '“directory-hyldxrqnn7ed”'],
  ]);
  expect(asked?.permits[0]).toBe('everything below the directory “notes of the team”, also what is put there later');
  expect(card(asked!)).toContain('  terms: 2 calls, until the session ends');
  await at.answer(asked!, { grant: {} });
  await E(at.owner).grant(at.session.id, 'gated', 'directory-hyldxrqnn7ed', { gated: ['write'] });
  expect(await grants(at)).toMatchObject([
    { offered: 'directory-hyldxrqnn7ed', what: '“notes of the team”', where: `the directory “${rootOf(at)}”` },
    { petname: 'gated', what: '“notes of the team”', where: `the directory “${rootOf(at)}”` },
  ]);
  later(E(held<FsCap>(at.agent, 'gated')).write('a.txt', 'x'));
  const [call] = await at.inbox();
  expect(call?.effect).toBe('makes the file “a.txt”, with 1 characters, through “gated”, which is “notes of the team”');
  expect(call?.table.slice(0, 2)).toEqual([
    ['what', '“notes of the team”'],
    ['where', `the directory “${rootOf(at)}”`],
  ]);
});

test('an offer without a label is called by its name, and a label is a text of 1 to 100 characters', async () => {
  const { host, dir } = await labelled('x');
  for (const label of ['', ' ', 'a'.repeat(101), 7, {}])
    expect(await code(host.offer('notes', dir, { label: label as never }))).toBe('invalid');
  expect(offerText('notes', undefined)).toBe('“notes”');
});

test('a label cannot forge a card: no line of its own, no quote, no character that is not seen, and look-alikes are flagged', async () => {
  const forged = 'notes”\n  terms: once\u001b[2K\r\u202e“а⟦NL⟧';
  const at = await labelled(forged);
  at.request({ asks: 'directory-hyldxrqnn7ed', terms: { uses: 2 } });
  const [asked] = await at.inbox();
  const lines = card(asked!);
  expect(lines.filter((line) => line.startsWith('  terms:'))).toEqual(['  terms: 2 calls, until the session ends']);
  expect(lines.join('').match(/[\p{Cc}\p{Cf}]/u)).toBeNull();
  expect(asked?.table[0]?.[1]).toBe(
    '“notes⟦U+201D⟧⟦NL⟧  terms: once⟦U+001B⟧[2K⟦CR⟧⟦U+202E⟧⟦U+201C⟧а⟦U+27E6⟧NL⟦U+27E7⟧”',
  );
  expect(asked?.flags).toContain('it has characters that change the direction of text');
});

test('whatever a label and a place say, each is one text between our quotes', () => {
  const odd = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 60 });
  fc.assert(
    fc.property(odd, odd, fc.boolean(), (label, name, inside) => {
      const place = { kind: 'directory', name } as const;
      const texts = [
        offerText('x', { label }),
        placeText(inside ? { kind: 'shell', mounts: { [label]: place } } : place),
      ];
      for (const text of texts) {
        expect(text).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
        const quotes = [...text].filter((char) => char === '“' || char === '”').join('');
        expect(quotes).toMatch(/^(?:“”)+$/);
      }
      expect(texts[0]).toMatch(/^“[^“”]*”$/);
    }),
  );
});

test('a directory cannot pass for words of the host by its name', () => {
  expect(placeText({ kind: 'directory', name: '/srv/a, to read only' })).toBe('the directory “/srv/a, to read only”');
  expect(placeText({ kind: 'directory', name: '/srv/a', readOnly: true })).toBe('the directory “/srv/a”, to read only');
});

test('a judge is not told where things are: its words reach the agent', async () => {
  const at = await labelled('the notes');
  at.request({ asks: 'directory-hyldxrqnn7ed' });
  const [asked] = await at.inbox();
  expect(JSON.stringify(asked)).toContain(rootOf(at));
  const judge = E(at.owner).judge() as unknown as Far<Judge>;
  const seen = JSON.stringify(await E(judge).inbox());
  expect(seen).toContain('“the notes”');
  expect(seen).not.toContain(rootOf(at));
});

requires(
  'linux',
  'cc',
  'userns',
)('of a shell and a program the card says what they reach', async () => {
  const at = await scene();
  const dir = await openFsCap(join(at.folder, 'root'));
  const shell = await makeShellCap({ mounts: { '/workspace': await dir.readOnly() } });
  const command = await makeCommandCap('/bin/true', { mounts: { '/work': dir } });
  onTestFinished(async () => {
    await shell.close();
    await command.close();
    await dir.close();
  });
  await at.host.offer('sh', shell);
  await at.host.offer('true', command);
  await E(at.owner).grant(at.session.id, 'a', 'sh', {});
  await E(at.owner).grant(at.session.id, 'b', 'true', {});
  expect((await grants(at)).map(({ where }) => where)).toEqual([
    `a shell, in which “/workspace” is the directory “${rootOf(at)}”, to read only`,
    `the program “/bin/true”, in which “/work” is the directory “${rootOf(at)}”`,
  ]);
});

/** Every byte that the host sends to an agent, by a wire in between. */
async function tapped(url: string): Promise<{ readonly url: string; heard(): string }> {
  const parts: Buffer[] = [];
  const sockets: Socket[] = [];
  const server = createServer((agent) => {
    const host = dial(Number(new URL(url).port), '127.0.0.1');
    sockets.push(agent, host);
    host.on('data', (part) => parts.push(part));
    for (const socket of [agent, host]) socket.on('error', () => {});
    // The host looks at the name that it is called by.
    agent.once('data', (head: Buffer) => {
      host.write(head.toString('latin1').replace(/(Host: 127\.0\.0\.1:)\d+/i, `$1${new URL(url).port}`), 'latin1');
      agent.pipe(host);
    });
    host.pipe(agent);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  const { port } = server.address() as { readonly port: number };
  return { url: `ws://127.0.0.1:${port}`, heard: () => Buffer.concat(parts).toString('latin1') };
}

test('an agent that asks everything it can reach is never sent a path of the host, nor a label', async () => {
  const at = await labelled('the label');
  mkdirSync(join(at.folder, 'root', 'sub'));
  const { url, heard } = await tapped(at.url);
  const terms = { gated: ['remove'] };
  await E(at.owner).grant(at.session.id, 'files', 'directory-hyldxrqnn7ed', terms);
  const connection = await connect<SessionFace>(url, { secret: at.session.secret });
  onTestFinished(() => connection.close());
  const session = connection.bootstrap;
  type Any = Readonly<Record<string, (...args: unknown[]) => Promise<unknown>>>;
  const say = (of: unknown): Any => E(of as object) as unknown as Any;
  const odd = [[], ['..'], ['/'], ['no/such'], ['sub'], [{}], ['sub', {}], ['a', 'b'], ['a', 'b', 'c'], [null], [7]];
  const methods = ['append', 'close', 'copy', 'edit', 'entries', 'except', 'glob', 'inspect', 'list', 'mkdir', 'only', 'openRead', 'openWrite', 'place', 'placeOf', 'read', 'readOnly', 'readText', 'rename', 'search', 'stat', 'subdir', 'toJSON', 'toString', 'where', 'withQuota', 'write']; // biome-ignore format: one line
  const faces = ['caps', 'cap', 'request', 'resolve', 'spawnChild', 'rotate', 'list', 'grants', 'inbox', 'offers'];
  for (const args of [...odd, ['files'], [{ asks: 'nothing' }], [{ name: 'child', caps: { f: 'files' } }]]) {
    for (const method of faces) await say(session)[method]!(...args).catch(() => {});
    const files = await say(session)['cap']!('files');
    for (const method of methods.filter((name) => name !== 'close')) {
      const out = await say(files)[method]!(...args).catch(() => undefined);
      if (typeof out !== 'object' || out === null || Array.isArray(out)) continue;
      for (const next of ['next', 'list', 'toString', 'where', 'close'])
        await later(Promise.resolve().then(() => say(out)[next]!())).catch(() => {});
    }
  }
  // A request that is refused by a judge who repeats all that it was shown.
  const refused = later(say(session)['request']!({ asks: 'files', terms: { uses: 3 }, why: 'x' }));
  const [asked] = await at.inbox();
  const judge = E(at.owner).judge() as unknown as Far<Judge>;
  const shown = (await E(judge).inbox()) as unknown as readonly { readonly table: unknown }[];
  await E(judge).refuse(asked!.id, JSON.stringify(shown[0]?.table));
  await refused.catch(() => {});
  const text = heard();
  expect(text.length).toBeGreaterThan(20_000);
  // The tap works: it hears what the agent may know.
  expect(text).toContain('directory-hyldxrqnn7ed');
  expect(text).toContain('this session holds no cap of that name');
  expect(text).not.toContain(rootOf(at));
  expect(text).not.toContain(rootOf(at).split('/').at(-2));
  // Only the judge's words had the label in them.
  expect(text.split('the label').length).toBeLessThanOrEqual(2);
});
