/** Sessions of a real host from a plan. The agent is the attacker, over a real connection. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { changingMethods, type FsCap } from '@hob/caps-fs';
import type { CommandCap, ShellCap } from '@hob/caps-shell';
import type { Grant, Request, SessionFace } from '@hob/host';
import { check } from '@hob/manifest';
import { E, type Far } from '@hob/vat';
import { expect, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { code, planScene } from '../../test/plan.ts';
import { hiddenName } from './rights.ts';

const head = 'version: 1\nroots: { project: project }\nsession:\n';
const fs = (agent: Far<SessionFace>, name: string): Far<FsCap> => E(agent).cap<FsCap>(name) as unknown as Far<FsCap>;
const confined = requires('linux', 'cc', 'userns');

test('caps are there when the session starts, with the rights of the manifest, and nothing else exists', async () => {
  const at = await planScene();
  const { agent } = await at.open(`${head}  caps:
    src: { fs: project/src, can: [read, list] }
    docs: { fs: project, can: [read, list], except: [".env*"] }
    inbox: { fs: project/src, can: [write] }
    gone: { fs: project, can: [read] }
  deny: [gone]
`);
  expect(await E(agent).caps()).toEqual(['docs', 'inbox', 'src']);
  expect(await E(fs(agent, 'src')).readText('a.txt')).toBe('one\n');
  expect(await E(fs(agent, 'docs')).list('.')).toEqual(['notes.txt', 'src']);
  expect(await code(E(fs(agent, 'docs')).readText('.env'))).toBe('NOT_PERMITTED');
  for (const call of [
    () => E(fs(agent, 'src')).write('a.txt', 'x'),
    () => E(fs(agent, 'src')).remove('a.txt'),
    () => E(fs(agent, 'inbox')).readText('a.txt'),
    () => E(fs(agent, 'inbox')).edit('a.txt', [{ oldText: 'one', newText: 'x' }]),
    () => E(fs(agent, 'src')).readText('../.env'),
  ])
    expect(await code(call())).not.toBe('ok');
  for (const name of ['gone', 'shell', 'code', 'project'])
    expect(await code(E(agent).cap(name) as never)).toBe('no-such-object');
  expect(await code(E(agent).request({ asks: 'gone', terms: {}, why: '' }) as never)).toBe('no-such-object');
  expect(readFileSync(join(at.folder, 'project/src/a.txt'), 'utf8')).toBe('one\n');
});

test('the mode decides which effects wait for a person: reads never, writes and removals as the table says', async () => {
  const at = await planScene();
  const waits = {
    plan: ['drafts', true],
    supervised: [true, true],
    cautious: [false, true],
    autonomous: [false, false],
  };
  for (const [mode, [write, remove]] of Object.entries(waits)) {
    const { agent, session } = await at.open(`${head}  mode: ${mode}
  caps: { src: { fs: project/src, can: [read, list, write, remove] } }
`);
    const src = fs(agent, 'src');
    expect(await E(src).readText('a.txt'), mode).toBe('one\n');
    for (const [asks, call] of [
      [write, () => E(src).write('b.txt', mode)],
      [remove, () => E(src).remove('b.txt')],
    ] as const) {
      const done = code(call());
      if (asks !== false) {
        const isDraft = asks === 'drafts' ? { draft: true } : {};
        expect((await at.inbox())[0], mode).toMatchObject({ kind: 'call', ...isDraft });
        await at.grantAll();
      }
      expect(await done, mode).toBe(asks === 'drafts' ? 'drafted' : 'ok');
      expect(await E(at.granter).inbox()).toEqual([]);
      // A draft is made after the yes, and nobody waits for it.
      while (asks === 'drafts' && !existsSync(join(at.folder, 'project/src/b.txt'))) await new Promise(setImmediate);
    }
    await session.end();
  }
});

test('needs: passkey is asked for each yes, also where another cap leads to the same object without it', async () => {
  const at = await planScene();
  const { agent } = await at.open(`${head}  mode: autonomous
  caps:
    src: { fs: project/src, can: [read, write] }
    safe: { fs: project/src, can: [read, write], needs: passkey }
  ask:
    edit: { fs: project/src, can: [read, write], needs: passkey, offer: { uses: 9 } }
`);
  await E(fs(agent, 'src')).write('b.txt', 'free');
  for (const cap of ['safe', 'edit']) {
    const asked = code(E(fs(agent, cap)).write('b.txt', cap));
    const [request] = (await at.inbox()) as readonly Request[];
    expect([cap, request?.needs, request?.challenge]).toEqual([cap, 'passkey', `yes ${request?.digest} ${request?.id}`]); // biome-ignore format: one line
    expect(await code(E(at.granter).answer(request?.id as string, { grant: {} }) as never)).toBe('denied');
    await E(at.granter).answer(request?.id as string, { refuse: 'no' });
    expect(await asked).toBe('denied');
  }
  expect(readFileSync(join(at.folder, 'project/src/b.txt'), 'utf8')).toBe('free');
});

test('ask waits for a person with the proposed terms; always_human asks in every mode', async () => {
  const at = await planScene();
  const { agent } = await at.open(`${head}  mode: autonomous
  caps: { src: { fs: project/src, can: [read, write], always_human: true } }
  ask: { docs: { fs: project, can: [read], offer: { uses: 2, for: 15m } } }
`);
  expect(await E(agent).caps()).toEqual(['docs', 'src']);
  const text = E(fs(agent, 'docs')).readText('notes.txt');
  const [asked] = await at.inbox();
  expect(asked).toMatchObject({ kind: 'grant', asks: 'docs', terms: { uses: 2, for: 900_000 } });
  await at.grantAll();
  expect(await text).toBe('notes\n');
  const read = code(E(fs(agent, 'src')).readText('a.txt'));
  expect((await at.inbox())[0]).toMatchObject({ kind: 'call', asks: 'src' });
  await at.grantAll();
  expect(await read).toBe('ok');
});

test('uses, for, until and the deadline of the session limit a grant: the strictest holds', async () => {
  const at = await planScene();
  const { session } = await at.open(`${head}  deadline: 8h
  caps:
    a: { fs: project, can: [read] }
    b: { fs: project, can: [read], for: 15m, uses: 3 }
    c: { fs: project, can: [read], until: 2099-01-31 }
    d: { fs: project, can: [read], for: 30d }
`);
  const grants = (await E(at.granter).list({ session: session.id })) as readonly Grant[];
  const hours = Object.fromEntries(grants.map(({ petname, until }) => [petname, (until - Date.now()) / 3_600_000]));
  for (const name of ['a', 'c', 'd']) expect(hours[name], name).toBeLessThanOrEqual(8);
  expect(hours['a']).toBeGreaterThan(7);
  expect(hours['b']).toBeLessThanOrEqual(0.25);
  expect(grants.find(({ petname }) => petname === 'b')?.usesLeft).toBe(3);
});

confined(
  'a command takes the arguments of its rows and no others, in a sandbox that holds what it mounts',
  async () => {
    const at = await planScene();
    const { agent } = await at.open(
      `${head}  caps:
    src: { fs: project/src, can: [read, list] }
    cat:
      command: cat
      cwd: project/src
      argv: [[a.txt, path(src)]]
    show: { command: cat, cwd: project/src, argv: [[a.txt, flags(cat)]], mounts: [src] }
flags: { cat: [-n] }
`.replace('[[-n, path(src)], [=--, path(src)]]', '[[a.txt, path(src)]]'),
    );
    const cat = E(agent).cap<CommandCap>('cat') as unknown as Far<CommandCap>;
    expect(await E(cat).run(['a.txt', 'a.txt'])).toMatchObject({ status: 0, stdout: 'one\none\n' });
    for (const args of [[], ['a.txt'], ['a.txt', '-n'], ['a.txt', '../notes.txt'], ['a.txt', '/etc/passwd'], ['a.txt', '/project/src/a.txt'], ['a.txt', 'a.txt', 'a.txt']]) // biome-ignore format: one line
      expect([args, await code(E(cat).run(args))]).toEqual([args, 'E_ARGV']);
    const show = E(agent).cap<CommandCap>('show') as unknown as Far<CommandCap>;
    expect(await E(show).run(['a.txt', '-n'])).toMatchObject({ status: 0, stdout: '     1\tone\n' });
    expect(await code(E(show).run(['a.txt', '-A']))).toBe('E_ARGV');
  },
);

confined('a command sees its cwd, to read only if the manifest says so or its rows are known to read', async () => {
  const at = await planScene();
  const { agent } = await at.open(
    `${head}  caps:
    make: { command: touch, cwd: project, argv: [[made]] }
    look: { command: touch, cwd: project, reads: true, argv: [[other]] }
    count: { command: wc, cwd: project/src, argv: [[a.txt, flags(wc.read)]] }
`.replace('[a.txt, flags', '[=a.txt, flags'),
  );
  const run = (name: string, args: readonly string[]): Promise<unknown> =>
    E(E(agent).cap<CommandCap>(name) as unknown as Far<CommandCap>).run(args);
  expect(await run('make', ['made'])).toMatchObject({ status: 0 });
  expect(readFileSync(join(at.folder, 'project/made'), 'utf8')).toBe('');
  expect(await run('look', ['other'])).toMatchObject({ status: 1, stderr: expect.stringContaining('Read-only') });
  expect(await run('count', ['a.txt', '-c'])).toMatchObject({ status: 0, stdout: '4 a.txt\n' });
});

confined(
  'a shell sees the directories that it mounts, as their rights say, and nothing else of the machine',
  async () => {
    const at = await planScene();
    const { agent } = await at.open(`${head}  mode: autonomous
  caps:
    docs: { fs: project, can: [read, list] }
    src: { fs: project/src, can: [read, list, write] }
    sh: { shell: sandbox, mounts: [docs, src], cwd: project }
`);
    const shell = E(agent).cap<ShellCap>('sh') as unknown as Far<ShellCap>;
    const { stdout } = await E(shell).run(
      'pwd; cat notes.txt; echo new > src/b.txt; (echo no > notes.txt) 2> /dev/null || echo refused',
    );
    expect(stdout).toBe('/project\nnotes\nrefused\n');
    expect(readFileSync(join(at.folder, 'project/src/b.txt'), 'utf8')).toBe('new\n');
    expect((await E(shell).run(`ls ${at.folder}`)).status).not.toBe(0);
  },
);

test('a child holds what the manifest gives it, and loses it with its parent', async () => {
  const at = await planScene();
  const { children, session } = await at.open(`${head}  caps:
    src: { fs: project/src, can: [read] }
    docs: { fs: project, can: [read] }
children: { Reviewer: { give: [docs] } }
`);
  const { bootstrap: child } = await at.enter(children['Reviewer']!.secret);
  expect(await E(child).caps()).toEqual(['docs']);
  const docs = fs(child, 'docs');
  expect(await E(docs).readText('notes.txt')).toBe('notes\n');
  await E(at.granter).revoke({ session: session.id });
  expect(await code(E(docs).readText('notes.txt'))).toBe('revoked');
});

test('a child that gets NAME.readonly reads and lists, finds no way to change anything, and loses it with its parent', async () => {
  const at = await planScene({ 'src/deep/b.txt': 'two\n' });
  const { children, session } = await at.open(`${head}  mode: autonomous
  caps:
    src: { fs: project/src, can: [read, list, search, write, remove] }
    log: { fs: project/src, can: [read, write] }
children: { reviewer: { give: [src.readonly, log.readonly] } }
`);
  const { bootstrap: child } = await at.enter(children['reviewer']!.secret);
  expect(await E(child).caps()).toEqual(['log', 'src']);
  const src = fs(child, 'src');
  expect(await E(src).readText('a.txt')).toBe('one\n');
  expect(await E(src).list('deep')).toEqual(['b.txt']);
  expect((await E(src).search('two')).length).toBe(1);
  expect(await E(E(src).openRead('a.txt')).next()).toEqual(new TextEncoder().encode('one\n'));
  expect(await code(E(fs(child, 'log')).list('.'))).not.toBe('ok');
  const readOnly = E(src).readOnly() as unknown as Far<FsCap>;
  expect(await E(readOnly).readText('deep/b.txt')).toBe('two\n');
  type Anything = Far<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;
  for (const [from, cap] of Object.entries({ src, readOnly, log: fs(child, 'log') }))
    for (const method of changingMethods)
      expect(await code(E(cap as unknown as Anything)[method]!('x', 'y')), `${from}.${method}`).not.toBe('ok');
  // Ways around: a directory with all rights, made of the one that only reads.
  for (const made of [E(src).subdir('deep'), E(src).only(['write']), E(src).except(['x']), E(readOnly).only(['write'])])
    expect(await code(E(made as unknown as Far<FsCap>).write('x', 'y'))).not.toBe('ok');
  expect(readdirSync(join(at.folder, 'project/src')).sort()).toEqual(['a.txt', 'deep']);
  const [grant] = (await E(at.granter).list({ session: session.id })) as readonly Grant[];
  expect(grant!.petname).toBe('src');
  await E(at.granter).revoke({ grant: grant!.id });
  for (const cap of [src, readOnly]) expect(await code(E(cap).list('.'))).toBe('revoked');
});

test('NAME.readonly of a program is the program if all of it reads, and is refused by name if it writes', async () => {
  const at = await planScene();
  const text = (reads: string): string => `${head}  caps:
    show: { command: cat, cwd: project/src, ${reads}argv: [[a.txt]] }
children: { reviewer: { give: [show.readonly] } }
`;
  await expect(at.open(text(''))).rejects.toThrow(/^children\.reviewer: show\.readonly: no part of a program/);
  expect(await at.host.sessions()).toEqual([]);
  const { children } = await at.open(text('reads: true, '));
  expect(await E((await at.enter(children['reviewer']!.secret)).bootstrap).caps()).toEqual(['show']);
});

test('a changed manifest never changes what an earlier grant leads to', async () => {
  const at = await planScene();
  const first = await at.open(`${head}  caps: { notes: { fs: project/src, can: [read] } }\n`, 'one');
  const second = await at.open(`${head}  caps: { notes: { fs: project, can: [read, write] } }\n`, 'two');
  expect(await E(fs(first.agent, 'notes')).readText('a.txt')).toBe('one\n');
  expect(await code(E(fs(first.agent, 'notes')).readText('notes.txt'))).toBe('NOT_FOUND');
  expect(await code(E(fs(first.agent, 'notes')).write('a.txt', 'x'))).not.toBe('ok');
  expect(await E(fs(second.agent, 'notes')).readText('notes.txt')).toBe('notes\n');
});

test('a scratch folder is made for each session and goes with it', async () => {
  const at = await planScene();
  const sessions = await at.sessions(`version: 1
roots: { scratch: { temp: true } }
session: { caps: { scratch: { fs: scratch, can: [read, list, write] } } }
`);
  const [one, two] = [await sessions.open('one'), await sessions.open('two')];
  const first = (await at.enter(one.session.secret)).bootstrap;
  await E(fs(first, 'scratch')).write('a.txt', 'one');
  const second = (await at.enter(two.session.secret)).bootstrap;
  expect(await E(fs(second, 'scratch')).list('.')).toEqual([]);
  const place = ((await E(at.granter).list({ session: one.session.id })) as readonly Grant[])[0]!.where!;
  const folder = /“(.*?)”/.exec(place)![1]!;
  writeFileSync(join(folder, 'b.txt'), '');
  await one.session.end();
  while (await here(folder)) await new Promise((resolve) => setTimeout(resolve, 10));
});

const here = async (path: string): Promise<boolean> => {
  const { existsSync } = await import('node:fs');
  return existsSync(path);
};

test('what cannot be started is refused by name, and no session is left', async () => {
  const at = await planScene();
  const refused: Readonly<Record<string, RegExp>> = {
    'src: { fs: project/none, can: [read] }': /^project\/none: there is no such folder beneath the root/,
    'src: { fs: project, can: [read], except: ["a/b"] }': /^src\.except: "a\/b" names a path/,
    'x: { command: no-such-program-here, argv: [[a]] }': /^x: there is no program no-such-program-here/,
  };
  for (const [cap, why] of Object.entries(refused))
    await expect(at.open(`${head}  caps: { ${cap} }\n`), cap).rejects.toThrow(why);
  const mounts = `${head}  caps:
    docs: { fs: project, can: [read, list], except: [.env] }
    sh: { shell: sandbox, mounts: [docs] }
`;
  await expect(at.open(mounts)).rejects.toThrow(/a program that sees docs also sees what except hides/);
  await expect(at.open(mounts.replace(', except: [.env]', '').replace('list]', 'search]'))).rejects.toThrow(
    /a program that sees docs reads and lists it/,
  );
  await expect(
    at.open(mounts.replace(', except: [.env]', '').replace('fs: project', 'fs: project/src').replace('[docs]', '[docs], cwd: project')), // biome-ignore format: one line
  ).rejects.toThrow(/sh\.cwd: this lies in none of the mounts/);
  expect(await at.host.sessions()).toEqual([]);
});

test('a pattern of except for one place hides the name at every depth, and never less than was written', () => {
  const names: Readonly<Record<string, string | undefined>> = {
    '.env*': '.env*',
    '.git/**': '.git',
    '/dist/': 'dist',
    '**/secret': 'secret',
    'a/b': undefined,
    '!keep': undefined,
    '[ab]': undefined,
    '**': undefined,
  };
  for (const [pattern, name] of Object.entries(names)) expect(hiddenName(pattern), pattern).toBe(name);
});

test('own: true lets a session remove what it made in the mode cautious; what was there asks, and no lower layer adds it', async () => {
  const at = await planScene();
  const cap = 'src: { fs: project/src, can: [read, list, write, remove], own: true }';
  const { agent } = await at.open(`${head}  caps: { ${cap} }\n`);
  const src = fs(agent, 'src');
  await E(src).write('mine.txt', 'mine\n');
  expect(await code(E(src).remove('mine.txt'))).toBe('ok');
  const asking = code(E(src).remove('a.txt'));
  expect((await at.inbox())[0]).toMatchObject({ kind: 'call', asks: 'src' });
  await at.grantAll();
  expect(await asking).toBe('ok');
  const layers = (upper: string, lower: string) =>
    check([{ layer: 'user', file: 'u', text: `${head}  caps: { ${upper} }\n` }, { layer: 'flags', file: 'f', text: `version: 1\nsession: { caps: { ${lower} } }\n` }], { now: 0 }).plan?.caps['src']; // biome-ignore format: one line
  const without = cap.replace(', own: true', '');
  expect(layers(cap, cap)).toMatchObject({ own: true });
  expect(layers(cap, without)).toMatchObject({ own: true });
  for (const [
    upper,
    lower,
  ] of [[without, cap], [cap, cap.replace('own: true', 'own: false')], [cap, `${without.slice(0, -2)}, always_human: true }`]] as const) // biome-ignore format: one line
    expect(layers(upper, lower)).not.toHaveProperty('own', true);
  for (const wrong of [`${head}  ask: { ${cap} }\n`, `${head}  caps: { ${cap.slice(0, -2)}, always_human: true } }\n`])
    expect(check([{ layer: 'user', file: 'u', text: wrong }], { now: 0 }).mistakes[0]?.wrong).toMatch(/asked about each call/); // biome-ignore format: one line
});
