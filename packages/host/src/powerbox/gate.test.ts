/**
 * Calls that wait for a granter: what is shown, and that it is what goes on. Over real CapTP; the agent and
 * the clock are the attackers.
 */
import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { driver, E, type Far, promise } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { expect, test } from 'vitest';
import { later, type Scene, scene } from '../../test/asking.ts';
import { code, held, lines } from '../../test/test-host.ts';
import type { Granter, Request, RequestAnswer, SessionFace } from '../index.ts';
import { askingLimits } from './pending.ts';

const gated = async (at: Scene, petname: string, terms: object = {}): Promise<Far<FsCap>> => {
  await E(at.owner).grant(at.session.id, petname, 'notes', { gated: true, ...terms });
  return held<FsCap>(at.agent, petname);
};

test('a gated write waits; a person sees the diff of the real file; after a yes exactly that is written, once', async () => {
  const at = await scene();
  at.write('a.txt', 'one\ntwo\nthree\n');
  const cap = await gated(at, 'work', { gated: ['write'] });
  expect(await E(cap).readText('a.txt')).toBe('one\ntwo\nthree\n');
  const written = E(cap).write('a.txt', 'one\n2\nthree\n');
  const [asked] = await at.inbox();
  expect(asked).toMatchObject({
    kind: 'call',
    session: at.session.id,
    asker: [at.session.id],
    asks: 'work',
    effect: 'replaces the file “a.txt” by 12 characters, through “work”',
    table: [
      ['what', '“notes”'],
      ['where', `the directory “${join(realpathSync(at.folder), 'root')}”`],
      ['cap', `“work” of session “${at.session.id}”`],
      ['method', 'write'],
      ['path', '“a.txt”'],
      ['data', '“one⟦NL⟧2⟦NL⟧three⟦NL⟧”'],
      ['it is now', 'a file of 14 bytes'],
    ],
    diff: '--- a.txt\n+++ a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three',
    permits: ['this one call, and nothing else'],
    why: '',
    waiting: true,
  });
  expect(at.file('a.txt')).toBe('one\ntwo\nthree\n');
  await at.answer(asked!, { grant: {} });
  expect(await written).toMatchObject({ version: expect.any(String) });
  expect(at.file('a.txt')).toBe('one\n2\nthree\n');
  // The same once more is another act.
  at.write('a.txt', 'one\ntwo\nthree\n');
  const again = later(E(cap).write('a.txt', 'one\n2\nthree\n'));
  const [second] = await at.inbox();
  expect(await code(E(at.owner).answer(asked!.id, { grant: {}, digest: second!.digest }))).toBe('no-such-object');
  expect(await code(E(at.owner).answer(second!.id, { grant: {}, digest: asked!.digest }))).toBe('denied');
  expect(at.file('a.txt')).toBe('one\ntwo\nthree\n');
  await at.answer(second!, { refuse: 'once was enough' });
  expect(await code(again)).toBe('denied');
  const { id, digest } = asked!;
  expect(await lines(at.host, 'approve')).toMatchObject([{ request: id, digest, by: 'owner', surface: 'wire', session: at.session.id, grant: expect.any(String) }]); // biome-ignore format: one line
  expect((await lines(at.host, 'request'))[0]).toMatchObject({ request: id, digest, method: 'write' });
});

test('edits, appends, new files, removals and binary files: the request shows what each would do', async () => {
  const at = await scene();
  at.write('a.txt', 'one\ntwo\n');
  at.write('odd.txt', 'x\u202ey\tz\u200b\n');
  const cap = await gated(at, 'work');
  const shown = async (call: Promise<unknown>): Promise<Request> => {
    later(call);
    const [asked] = await at.inbox();
    await at.answer(asked!, { refuse: 'only looking' });
    expect(await code(call)).toBe('denied');
    return asked!;
  };
  const edit = await shown(E(cap).edit('a.txt', [{ oldText: 'two', newText: '2' }]));
  expect(edit).toMatchObject({
    effect: 'changes text in the file “a.txt”, through “work”',
    diff: expect.stringContaining('-two\n+2'),
  });
  const append = await shown(E(cap).append('a.txt', 'three\n'));
  expect(append).toMatchObject({
    effect: 'adds 6 characters to the end of the file “a.txt”, through “work”',
    diff: expect.stringContaining('+three'),
  });
  const made = await shown(E(cap).write('new.txt', 'hello\n'));
  expect(made).toMatchObject({
    effect: 'makes the file “new.txt”, with 6 characters, through “work”',
    diff: expect.stringContaining('+hello'),
  });
  const gone = await shown(E(cap).remove('a.txt'));
  expect(gone).toMatchObject({
    effect: 'removes “a.txt”, through “work”',
    diff: expect.stringContaining('-one\n-two'),
  });
  const odd = await shown(E(cap).write('odd.txt', 'fine\n'));
  expect(odd.diff).toContain('-x⟦U+202E⟧y⟦TAB⟧z⟦U+200B⟧');
  const bytes = await shown(E(cap).write('a.txt', new Uint8Array([0, 1, 2])));
  expect(bytes.diff).toBeUndefined();
  expect(bytes.table).toContainEqual(['what it would change', 'cannot be shown: it is not text, or too long']);
  const moved = await shown(E(cap).rename('a.txt', 'b.txt'));
  expect(moved.effect).toBe('moves “a.txt” to “b.txt”, through “work”');
  const read = await shown(E(cap).readText('a.txt'));
  expect(read.effect).toBe('calls readText on “a.txt”, through “work”');
  expect(at.file('a.txt')).toBe('one\ntwo\n');
});

test('a request for an object from a gated directory shows the calls that it came from', async () => {
  const at = await scene();
  at.write('src/b.txt', 'b\n');
  const cap = await gated(at, 'work', { gated: ['write'] });
  const written = E(E(cap).subdir('src')).write('b.txt', 'B\n');
  const [asked] = await at.inbox();
  expect(asked?.effect).toBe(
    'replaces the file “b.txt” by 2 characters, through “work”, in what “subdir("src")” gave out',
  );
  expect(asked?.diff).toContain('-b\n+B');
  await at.answer(asked!, { grant: {} });
  await written;
  expect(at.file('src/b.txt')).toBe('B\n');
});

test('if the file changes after it was shown the yes does nothing, the granter gets STALE, and the request is filed again with the new diff', async () => {
  const at = await scene();
  at.write('a.txt', 'one\n');
  const cap = await gated(at, 'work');
  const written = E(cap).write('a.txt', 'mine\n');
  const [asked] = await at.inbox();
  at.write('a.txt', 'theirs, longer\n');
  expect(await code(at.answer(asked!, { grant: {} }))).toBe('STALE');
  const [anew] = await at.inbox();
  expect(anew).toMatchObject({ stale: asked!.id, diff: expect.stringContaining('-theirs, longer\n+mine') });
  expect(anew?.digest).not.toBe(asked!.digest);
  expect(at.file('a.txt')).toBe('theirs, longer\n');
  expect(await code(at.answer(asked!, { grant: {} }))).toBe('no-such-object');
  await at.answer(anew!, { grant: {} });
  await written;
  expect(at.file('a.txt')).toBe('mine\n');
  expect((await lines(at.host, 'request')).map(({ stale }) => stale)).toEqual([undefined, asked!.id]);
});

test('if the file changes between the yes and the write nothing is written, and the request is filed again', async () => {
  const at = await scene();
  // A directory that somebody else writes into as soon as a yes was looked up.
  const version = { now: 'v1', text: 'one\n' };
  let stats = 0;
  let writes: unknown[] = [];
  const folder = {
    stat: async () => {
      stats += 1;
      return { kind: 'file', size: version.text.length, version: version.now, mtime: 0 };
    },
    readText: async () => version.text,
    list: async () => ['a.txt'],
    edit: async () => ({}),
    append: async (...args: unknown[]) => void writes.push(['append', ...args]),
    write: async (...args: readonly unknown[]) => {
      const wanted = (args[2] as { version?: string } | undefined)?.version;
      // The attacker is faster than the answer.
      if (version.now === 'v1') Object.assign(version, { now: 'v2', text: 'theirs\n' });
      if (wanted !== undefined && wanted !== version.now) throw Object.assign(new Error('changed'), { code: 'STALE' });
      writes.push(args);
      return { version: 'v3' };
    },
  };
  await at.host.offer('racing', folder);
  await E(at.owner).grant(at.session.id, 'racing', 'racing', { gated: true });
  const cap = held<FsCap>(at.agent, 'racing');
  const written = E(cap).write('a.txt', 'mine\n');
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: {} });
  let anew = (await at.inbox())[0]!;
  expect(anew.diff).toContain('-theirs');
  expect(anew.stale).toBe(asked!.id);
  expect(writes).toEqual([]);
  await at.answer(anew, { grant: {} });
  await written;
  expect(writes).toEqual([['a.txt', 'mine\n', { version: 'v2' }]]);
  // A call that cannot be pinned is checked once more after the yes.
  writes = [];
  const appended = E(cap).append('a.txt', 'more\n');
  const [third] = await at.inbox();
  stats = 0;
  const real = folder.stat;
  Object.assign(folder, { stat: real });
  await at.answer(third!, { grant: {} });
  await appended;
  expect(stats).toBe(2); // before the yes counts, and after
  anew = third!;
  expect(writes).toEqual([['append', 'a.txt', 'more\n']]);
});

test('a file that appeared is not replaced by a write that was shown as a new one', async () => {
  const at = await scene();
  const cap = await gated(at, 'work');
  const written = later(E(cap).write('a.txt', 'mine\n'));
  const [asked] = await at.inbox();
  expect(asked?.effect).toMatch(/^makes the file/);
  at.write('a.txt', 'theirs\n');
  expect(await code(at.answer(asked!, { grant: {} }))).toBe('STALE');
  const [anew] = await at.inbox();
  expect(anew?.effect).toMatch(/^replaces the file/);
  await at.answer(anew!, { refuse: 'no' });
  expect(await code(written)).toBe('denied');
  expect(at.file('a.txt')).toBe('theirs\n');
});

test('arguments that could change after they were shown (promises, objects of the agent, streams, getters) are refused before anybody is asked', async () => {
  const at = await scene();
  const cap = await gated(at, 'work');
  const mine = driver<{ next(): Promise<Uint8Array> }>({ next: async () => new Uint8Array([1]) });
  const never = promise<string>();
  const say = cap as Far<{ write(...args: unknown[]): void }>;
  for (const args of [
    ['a.txt', mine],
    ['a.txt', { deep: [mine] }],
    ['a.txt', never.promise],
    [never.promise, 'x'],
    ['a.txt', 'x', { version: never.promise }],
    ['a.txt', new Error('x')],
    [E(at.agent.bootstrap).cap('work'), 'x'],
  ])
    expect(await code(E(say).write(...args))).toBe('invalid');
  // A getter never gets so far: data is copied where it is sent, and reading it runs nobody's code.
  let read = 0;
  const tricky = {
    get version() {
      read += 1;
      return 'v';
    },
  };
  expect(await code(E(say).write('a.txt', 'x', tricky))).toBe('invalid');
  const inside = await at.session.cap<{ write(...args: unknown[]): void }>('work');
  expect(await code(E(inside).write('a.txt', 'x', tricky))).toBe('invalid');
  expect(read).toBe(0);
  expect(await at.inbox(0)).toEqual([]);
  never.resolver.resolve('x');
});

test('a refusal does not reveal what the agent may not read: all attempts look alike until a person answers', async () => {
  const at = await scene();
  at.write('secret.txt', 'the PIN is 1234\n');
  const cap = await gated(at, 'work');
  const tries = [
    later(E(cap).edit('secret.txt', [{ oldText: '1234', newText: 'x' }])),
    later(E(cap).edit('secret.txt', [{ oldText: '9999', newText: 'x' }])),
    later(E(cap).edit('nothing.txt', [{ oldText: '9999', newText: 'x' }])),
    later(E(cap).write('../outside', 'x')),
    later(E(cap).write('secret.txt', 'x', { version: 'guess' })),
  ];
  const all = await at.inbox(5);
  expect(
    all.map(({ table }) => table.find(([name]) => name === 'what it would change')?.[1] ?? 'shown').sort(),
  ).toEqual([
    'cannot be shown: it says NOT_FOUND',
    'cannot be shown: it says NO_MATCH',
    'cannot be shown: it says PATH_ESCAPES',
    'shown',
    'shown',
  ]);
  for (const asked of all) await at.answer(asked, { refuse: 'no' });
  expect(new Set(await Promise.all(tries.map(code)))).toEqual(new Set(['denied']));
});

test('a request for a call through a child’s grant names both sessions, and waits for the granters of the gate', async () => {
  const at = await scene();
  at.write('a.txt', 'one\n');
  await gated(at, 'work', { uses: 5 });
  const { id, secret } = await at.child('helper', { mine: 'work' });
  const helper = await at.enterAs<SessionFace>(secret);
  const written = later(E(held<FsCap>(helper, 'mine')).write('a.txt', 'two\n'));
  const [asked] = await at.inbox();
  expect(asked).toMatchObject({ session: at.session.id, asker: [at.session.id, id], asks: 'mine', waiting: true });
  expect(asked?.effect).toContain('through “work”');
  // The child ends while it waits: a yes goes nowhere.
  await E(at.owner).end(id);
  expect(['revoked', 'disconnected']).toContain(await code(written));
  expect(await code(at.answer(asked!, { grant: {} }))).toBe('no-such-object');
  expect(at.file('a.txt')).toBe('one\n');
});

test('if a yes races the end of the grant, nothing is written after the end', async () => {
  const clock = testClock();
  const at = await scene({ clock });
  at.write('a.txt', 'one\n');
  const cap = await gated(at, 'work');
  const waits = code(E(cap).write('a.txt', 'two\n'));
  const [asked] = await at.inbox();
  const [grant] = await E(at.owner).list();
  await E(at.owner).revoke({ grant: grant!.id });
  expect(await waits).toBe('revoked');
  expect(['revoked', 'no-such-object']).toContain(await code(at.answer(asked!, { grant: {} })));
  await at.inbox(0);
  const short = await gated(at, 'short', { for: 10_000 });
  const late = code(E(short).write('a.txt', 'two\n'));
  const [second] = await at.inbox();
  // Its time is over, the grace for results is not: an answer is no result.
  clock.advance(10_001);
  expect(await code(at.answer(second!, { grant: {} }))).toBe('expired');
  clock.advance(10_000);
  expect(await late).toBe('expired');
  await at.inbox(0);
  expect(at.file('a.txt')).toBe('one\n');
  expect((await lines(at.host, 'approve')).length).toBe(0);
  // The two at once, again and again: at most one of them wins.
  for (let n = 0; n < 10; n += 1) {
    const petname = `race-${n}`;
    const racing = await gated(at, petname, {});
    const text = `written ${n}\n`;
    const result = code(E(racing).write('a.txt', text));
    const [third] = await at.inbox();
    const { id } = (await E(at.owner).list({ live: true })).at(-1)!;
    const [, said] = await Promise.all([E(at.owner).revoke({ grant: id }), code(at.answer(third!, { grant: {} }))]);
    await result;
    if (said !== 'ok') expect(at.file('a.txt')).not.toBe(text);
    await at.inbox(0);
  }
});

test('a gated grant for one use allows one request; a no spends it', async () => {
  const at = await scene();
  at.write('a.txt', 'one\n');
  const cap = await gated(at, 'work', { scope: 'once' });
  const written = E(cap).write('a.txt', 'two\n');
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: {} });
  await written;
  expect(at.file('a.txt')).toBe('two\n');
  expect(await code(E(cap).readText('a.txt'))).toBe('exhausted');
});

test('the same call several times is one request: one yes lets one call continue, and the others are asked again', async () => {
  const at = await scene();
  at.write('a.txt', 'one\n');
  const cap = await gated(at, 'work');
  const calls = Array.from({ length: 3 }, () => E(cap).append('a.txt', 'more\n'));
  const results = calls.map(code);
  let asked = (await at.inbox())[0]!;
  while (asked.count < 3) asked = (await at.inbox())[0]!;
  await at.answer(asked, { grant: {} });
  await Promise.race(results);
  // Asked anew, of the file as each of them finds it.
  let over = false;
  const all = Promise.all(results).finally(() => {
    over = true;
  });
  while (!over)
    for (const next of (await E(at.owner).inbox()) as readonly Request[]) {
      expect(next.id).not.toBe(asked.id);
      await code(at.answer(next, { refuse: 'enough' }));
    }
  expect((await all).sort()).toEqual(['denied', 'denied', 'ok']);
  expect(at.file('a.txt')).toBe('one\nmore\n');
});

test('a petname is not bound again while a call waits, and a request is filed again if the offer is another object', async () => {
  const at = await scene();
  at.write('a.txt', 'one\n');
  const cap = await gated(at, 'work');
  const written = code(E(cap).write('a.txt', 'two\n'));
  const [asked] = await at.inbox();
  expect(await code(E(at.owner).grant(at.session.id, 'work', 'notes', {}))).toBe('invalid');
  const calls: unknown[] = [];
  await at.host.offer('notes', { write: async (...args: unknown[]) => void calls.push(args) });
  expect(await code(at.answer(asked!, { grant: {} }))).toBe('STALE');
  const [anew] = await at.inbox();
  expect(anew?.diff).toBeUndefined();
  expect(calls).toEqual([]);
  await at.answer(anew!, { refuse: 'not that' });
  expect(await written).toBe('denied');
});

test('two granters on one session: the first answer counts, the other sees that it was answered', async () => {
  const at = await scene();
  const second = await at.host.addGranter('second');
  const both = await at.host.openSession({ name: 'both', granters: ['owner', 'second'] });
  const other = (await at.enterAs<Granter>(second.secret)).bootstrap;
  await E(at.owner).grant(both.id, 'work', 'notes', { gated: true });
  const agent = await at.enterAs<SessionFace>(both.secret);
  const read = later(E(held<FsCap>(agent, 'work')).list());
  const [mine] = await at.inbox();
  const [theirs] = await at.inbox(1, other);
  expect(theirs).toMatchObject({ id: mine?.id, digest: mine?.digest });
  await at.answer(theirs!, { grant: {} }, other);
  await read;
  expect(await code(at.answer(mine!, { refuse: 'no' }))).toBe('no-such-object');
  expect(await lines(at.host, 'approve')).toMatchObject([{ by: 'second', surface: 'wire' }]);
});

test('an approval of a call takes no terms', async () => {
  const at = await scene();
  const cap = await gated(at, 'work');
  later(E(cap).list());
  const [asked] = await at.inbox();
  for (const grant of [{ uses: 2 }, { for: 60_000 }, { scope: 'session' }, { methods: ['write'] }])
    expect(await code(E(at.owner).answer(asked!.id, { grant, digest: asked!.digest } as RequestAnswer))).toBe(
      'invalid',
    );
  await at.answer(asked!, { grant: { uses: 1 } });
});

test('names of methods, paths and keys from an agent are escaped and flagged wherever they are shown', async () => {
  const at = await scene();
  const cap = await gated(at, 'work');
  later(E(cap as never as Record<string, (...args: unknown[]) => void>)['wr\u202eite\n']?.('pаth', { '\u200bkey': '”\u0000' }) as never); // biome-ignore format: one line
  const [asked] = await at.inbox();
  const all = JSON.stringify(asked);
  for (const char of ['\u200b', '\u202e', '\\u0000', '\\n', '\\u202e']) expect(all).not.toContain(char);
  expect(asked?.table.slice(3)).toEqual([
    ['method', '“wr⟦U+202E⟧ite⟦NL⟧”'],
    ['argument 1', '“pаth”'],
    ['argument 2', '{“⟦U+200B⟧key”: “⟦U+201D⟧⟦U+0000⟧”}'],
  ]);
  expect(asked?.flags).toEqual([
    'it has characters that change the direction of text',
    '“pаth” mixes Latin and Cyrillic letters: U+0430 looks like a',
    'it has characters that are not seen',
  ]);
});

test('the number of gated calls that the host previews is limited; a session that asks too much gets limit', async () => {
  const at = await scene();
  let stats = 0;
  const folder = {
    stat: async () => {
      stats += 1;
      return { kind: 'file', size: 1, version: 'v', mtime: 0 };
    },
    readText: async () => 'x',
    list: async () => [],
    edit: async () => ({}),
    write: async () => ({}),
  };
  await at.host.offer('counting', folder);
  await E(at.owner).grant(at.session.id, 'counting', 'counting', { gated: true });
  const cap = held<FsCap>(at.agent, 'counting');
  const calls = Array.from({ length: 500 }, (_, n) => code(E(cap).write(`${n}.txt`, 'y')));
  let over = false;
  const all = Promise.all(calls).finally(() => {
    over = true;
  });
  while (!over)
    for (const asked of (await E(at.owner).inbox()) as readonly Request[])
      await code(at.answer(asked, { refuse: 'no' }));
  const said = await all;
  expect(new Set(said)).toEqual(new Set(['denied', 'limit']));
  expect(said.filter((one) => one === 'denied').length).toBeLessThanOrEqual(askingLimits['hourly']!);
  // Twice for each that was looked into.
  expect(stats).toBeLessThanOrEqual(2 * askingLimits['hourly']!);
});
