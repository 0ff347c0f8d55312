/** Files that a session made itself. Other people on the same disk, and other sessions, are the attackers. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'; // biome-ignore format: one line
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { connect, driver, E, type Far } from '@hob/vat';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { type Scene, scene } from '../../../test/asking.ts';
import { outcome } from '../../../test/outcome.ts';
import { code, held } from '../../../test/test-host.ts';
import type { GrantTerms, SessionFace } from '../../index.ts';

const TERMS: GrantTerms = { gated: ['edit', 'remove', 'rename', 'append'], own: true };

const granted = async (at: Scene, terms: GrantTerms = TERMS, petname = 'work'): Promise<Far<FsCap>> => {
  await E(at.owner).grant(at.session.id, petname, 'notes', terms);
  return held<FsCap>(at.agent, petname);
};

const edits = [{ oldText: 'mine', newText: 'more' }];

test('a session changes and removes what it made without a question, and what others made still asks', async () => {
  const at = await scene();
  at.write('theirs.txt', 'mine\n');
  const cap = await granted(at);
  expect(await outcome(at, E(cap).write('a.txt', 'mine\n'))).toBe('ok');
  expect(await outcome(at, E(cap).edit('a.txt', edits))).toBe('ok');
  expect(await outcome(at, E(cap).write('a.txt', 'mine again\n'))).toBe('ok');
  expect(await outcome(at, E(cap).edit('a.txt', edits))).toBe('ok');
  expect(at.file('a.txt')).toBe('more again\n');
  expect(await outcome(at, E(cap).remove('a.txt'))).toBe('ok');
  for (const call of [() => E(cap).edit('theirs.txt', edits), () => E(cap).remove('theirs.txt')])
    expect(await outcome(at, call())).toBe('asked');
  // A call without a question that changes it does not make it the session's own.
  expect(await outcome(at, E(cap).write('theirs.txt', 'mine now\n'))).toBe('ok');
  expect(await outcome(at, E(cap).remove('theirs.txt'))).toBe('asked');
  expect(at.file('theirs.txt')).toBe('mine now\n');
});

test('a file that another one changed, replaced, made anew, linked or hid behind a link still asks, and stays as it is', async () => {
  const at = await scene();
  const cap = await granted(at);
  const root = join(at.folder, 'root');
  const place = (name: string): string => join(root, name);
  const attacks: Readonly<Record<string, (path: string) => void>> = {
    'changed in its place': (path) => writeFileSync(path, 'theirs, and longer\n'),
    'their file renamed onto mine': (path) => {
      writeFileSync(`${path}.theirs`, 'mine\n');
      renameSync(`${path}.theirs`, path);
    },
    'removed and made anew': (path) => {
      writeFileSync(`${path}.keeps-the-inode`, '');
      rmSync(path);
      writeFileSync(path, 'mine\n');
    },
    'a hard link to theirs': (path) => {
      writeFileSync(`${path}.theirs`, 'mine\n');
      rmSync(path);
      linkSync(`${path}.theirs`, path);
    },
    'a link to theirs': (path) => {
      writeFileSync(`${path}.theirs`, 'mine\n');
      rmSync(path);
      symlinkSync(`${path}.theirs`.slice(root.length + 1), path);
    },
    'a folder': (path) => {
      rmSync(path);
      mkdirSync(path);
    },
  };
  for (const [n, [what, attack]] of Object.entries(attacks).entries()) {
    const name = `file-${n}`;
    expect(await outcome(at, E(cap).write(name, 'mine\n'))).toBe('ok');
    attack(place(name));
    expect([what, await outcome(at, E(cap).remove(name))]).toEqual([what, 'asked']);
    expect([what, existsSync(place(name))]).toEqual([what, true]);
  }
  // Two of the session's own that somebody swapped are in other places than it knows.
  for (const name of ['one', 'two']) await E(cap).write(name, `mine ${name}\n`);
  renameSync(place('one'), place('three'));
  renameSync(place('two'), place('one'));
  expect(await outcome(at, E(cap).remove('one'))).toBe('asked');
  expect(at.file('one')).toBe('mine two\n');
});

test('between the look and the change nobody swaps the file: the change names the version, and asks if it is another', async () => {
  const at = await scene();
  const root = join(at.folder, 'root');
  const dir = await openFsCap(root);
  onTestFinished(() => dir.close());
  let swap = (): void => {};
  // As late as another process can be: when the call is on its way to the directory.
  const late = driver<FsCap>({
    stat: ([path]: readonly unknown[]) => dir.stat(path as string),
    write: ([path, data, options]: readonly unknown[]) => dir.write(path as string, data as string, options as object),
    readText: ([path]: readonly unknown[]) => dir.readText(path as string),
    list: ([path]: readonly unknown[]) => dir.list(path as string),
    tree: ([path]: readonly unknown[]) => dir.tree(path as string) as never,
    edit: ([path, changes, options]: readonly unknown[]) =>
      dir.edit(path as string, changes as never, options as object) as never,
    remove: async ([path, options]: readonly unknown[]) => {
      swap();
      await dir.remove(path as string, options as object);
    },
  } as never);
  await at.host.offer('late', late);
  await E(at.owner).grant(at.session.id, 'late', 'late', TERMS);
  const cap = held<FsCap>(at.agent, 'late');
  expect(await outcome(at, E(cap).write('a.txt', 'mine\n'))).toBe('ok');
  swap = () => {
    at.write('theirs.txt', 'mine\n');
    renameSync(join(root, 'theirs.txt'), join(root, 'a.txt'));
  };
  expect(await outcome(at, E(cap).remove('a.txt'))).toBe('asked');
  expect(at.file('a.txt')).toBe('mine\n');
});

test('nothing is inherited: another session, a child, another grant and a directory that came out of it own nothing; no other method counts', async () => {
  const at = await scene();
  const cap = await granted(at);
  await E(cap).write('a.txt', 'mine\n');
  const other = await at.host.openSession({ name: 'other', granters: ['owner'] });
  await E(at.owner).grant(other.id, 'work', 'notes', TERMS);
  const stranger = held<FsCap>(await at.enterAs<SessionFace>(other.secret), 'work');
  const { secret } = await at.child('low', { work: 'work' });
  const child = held<FsCap>(await at.enterAs<SessionFace>(secret), 'work');
  const again = await granted(at, TERMS, 'again');
  const below = E(cap).subdir('.') as unknown as Far<FsCap>;
  for (const one of [stranger, child, again, below, E(cap).only(['remove', 'stat']) as unknown as Far<FsCap>])
    expect(await outcome(at, E(one).remove('a.txt'))).toBe('asked');
  // A child makes nothing its own, nor its parent's.
  expect(await outcome(at, E(child).write('b.txt', 'mine\n'))).toBe('ok');
  expect(await outcome(at, E(child).remove('b.txt'))).toBe('asked');
  expect(await outcome(at, E(cap).remove('b.txt'))).toBe('asked');
  for (const call of [() => E(cap).rename('a.txt', 'c.txt'), () => E(cap).append('a.txt', 'x'), () => E(cap).remove('a.txt', { recursive: true })]) // biome-ignore format: one line
    expect(await outcome(at, call())).toBe('asked');
  expect(await outcome(at, E(cap).remove('a.txt'))).toBe('ok');
});

test('where making asks, a person says yes once and the session goes on with its file; a lie about the version does not help', async () => {
  const at = await scene();
  at.write('theirs.txt', 'theirs\n');
  const cap = await granted(at, { gated: true, own: true });
  const making = E(cap).write('a.txt', 'mine\n');
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: {} });
  await making;
  expect(await outcome(at, E(cap).edit('a.txt', edits))).toBe('ok');
  expect(await outcome(at, E(cap).remove('a.txt'))).toBe('ok');
  const { version } = (await dirStat(at, 'theirs.txt')) as { readonly version: string };
  for (const call of [() => E(cap).remove('theirs.txt', { version } as never), () => E(cap).write('theirs.txt', 'x', { version }), () => E(cap).write('theirs.txt', 'x', { create: 'new' })]) // biome-ignore format: one line
    expect(await outcome(at, call())).toBe('asked');
  expect(at.file('theirs.txt')).toBe('theirs\n');
  for (const wrong of [{ own: 'yes' }, { own: true, asks: {} }])
    expect(await code(E(at.owner).grant(at.session.id, 'wrong', 'notes', wrong as never))).toBe('invalid');
});

const dirStat = async (at: Scene, name: string): Promise<unknown> => {
  await using dir = await openFsCap(join(at.folder, 'root'));
  return await dir.stat(name);
};

/** The acts of a session, and of others on the disk. */
const acts = fc.array(
  fc.record({
    act: fc.constantFrom('write', 'edit', 'remove', 'they append', 'they replace', 'they remove', 'they make anew'),
    path: fc.constantFrom('a', 'b'),
  }),
  { minLength: 4, maxLength: 14 },
);

test('over any acts of the session and of others, a question comes exactly where a model of whose file it is says so', async () => {
  const at = await scene();
  let run = 0;
  await fc.assert(
    fc.asyncProperty(acts, async (all) => {
      run += 1;
      const root = join(at.folder, `run-${run}`);
      mkdirSync(root);
      await using dir = await openFsCap(root);
      await at.host.offer(`run-${run}`, dir);
      const session = await at.host.openSession({ name: `run-${run}`, granters: ['owner'] });
      await E(at.owner).grant(session.id, 'work', `run-${run}`, { gated: ['edit', 'remove'], own: true });
      const cap = (await session.cap<FsCap>('work')) as Far<FsCap>;
      const files = new Map<string, 'mine' | 'theirs'>();
      for (const [n, { act, path }] of all.entries()) {
        const whose = files.get(path);
        const at0 = join(root, path);
        if (act === 'write') {
          expect(await outcome(at, E(cap).write(path, `mine ${n}\n`))).toBe('ok');
          if (whose === undefined) files.set(path, 'mine');
        } else if (act === 'edit' || act === 'remove') {
          const call = act === 'edit' ? E(cap).edit(path, [{ oldText: '\n', newText: `${n}\n` }]) : E(cap).remove(path);
          const how = await outcome(at, call);
          if (whose === 'mine') expect([act, how]).toEqual([act, 'ok']);
          else if (whose === 'theirs') expect([act, how]).toEqual([act, 'asked']);
          else expect([act, how]).not.toEqual([act, 'ok']);
          if (act === 'remove' && whose === 'mine') files.delete(path);
        } else if (act === 'they remove') {
          rmSync(at0, { force: true });
          files.delete(path);
        } else {
          if (act === 'they make anew') rmSync(at0, { force: true });
          if (act === 'they replace') {
            writeFileSync(join(root, 'theirs'), `theirs ${n}\n`);
            renameSync(join(root, 'theirs'), at0);
          } else writeFileSync(at0, `${existsSync(at0) ? readFileSync(at0, 'utf8') : ''}theirs ${n}\n`);
          files.set(path, 'theirs');
        }
      }
      await session.end();
    }),
    { numRuns: 12 },
  );
}, 120_000);

interface Child {
  readonly child: ChildProcess;
  readonly url: string;
  readonly secret: string | undefined;
}

async function start(state: string, root: string): Promise<Child> {
  const child = spawn(process.execPath, [new URL('../../../test/own-child.ts', import.meta.url).pathname, state, root], { stdio: ['pipe', 'pipe', 'inherit'] }); // biome-ignore format: one line
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).once('line', resolve);
    child.once('close', () => reject(new Error('the host ended')));
  });
  return { child, ...(JSON.parse(line) as { url: string; secret?: string }), secret: JSON.parse(line).secret };
}

test('own files outlive a restart of the host; one that kill -9 caught between its making and its note asks', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-own-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [state, root] = [join(folder, 'state'), join(folder, 'root')];
  for (const one of [state, root]) mkdirSync(one);
  const entered = async (secret: string, act: (cap: Far<FsCap>) => Promise<unknown>): Promise<Child> => {
    const host = await start(state, root);
    const agent = await connect<SessionFace>(host.url, { secret: host.secret ?? secret });
    await act(held<FsCap>(agent, 'work'));
    agent.close();
    await agent.closed;
    return { ...host, secret: host.secret ?? secret };
  };
  const kill = async ({ child }: Child): Promise<void> => {
    const gone = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await gone;
  };
  const first = await entered('', async (cap) => {
    await E(cap).write('kept.txt', 'mine\n');
    await E(cap).write('gone.txt', 'mine\n');
  });
  await kill(first);
  writeFileSync(`${root}.kill`, '');
  const second = await entered(first.secret as string, (cap) => code(E(cap).write('caught.txt', 'mine\n')));
  await kill(second);
  rmSync(`${root}.kill`);
  expect(readFileSync(join(root, 'caught.txt'), 'utf8')).toBe('mine\n');
  rmSync(join(root, 'gone.txt'));
  writeFileSync(join(root, 'gone.txt'), 'mine\n');
  const third = await entered(first.secret as string, async (cap) => {
    expect(await code(E(cap).remove('kept.txt'))).toBe('ok');
    for (const name of ['caught.txt', 'gone.txt']) {
      const how = await Promise.race([code(E(cap).remove(name)), code(E(cap).readText(name)).then(() => 'waits')]);
      expect([name, how, existsSync(join(root, name))]).toEqual([name, 'waits', true]);
    }
  });
  await kill(third);
});
