/** Drafts: a change that is kept, shown, and made at a person's yes. Over real CapTP; the agent is the attacker. */
import type { FsCap } from '@hob/caps-fs';
import { E, type Far } from '@hob/vat';
import { expect, test } from 'vitest';
import { type Scene, scene } from '../../test/asking.ts';
import { code, held, lines } from '../../test/test-host.ts';
import type { Grant } from '../index.ts';

const drafting = async (at: Scene, petname: string, terms: object = {}): Promise<Far<FsCap>> => {
  await E(at.owner).grant(at.session.id, petname, 'notes', { drafts: ['write', 'edit', 'append', 'rename'], ...terms });
  return held<FsCap>(at.agent, petname);
};
const grantsOf = async (at: Scene): Promise<readonly Grant[]> =>
  (await E(at.owner).list({ session: at.session.id })) as readonly Grant[];
/** Waits until the file has this text. */
async function becomes(at: Scene, name: string, text: string): Promise<void> {
  const now = (): string | undefined => {
    try {
      return at.file(name);
    } catch {
      return undefined;
    }
  };
  while (now() !== text) await new Promise((resolve) => setTimeout(resolve, 5));
}

test('a write becomes a draft: its caller is told at once, nothing changes before a yes, and then exactly what was shown', async () => {
  const at = await scene();
  at.write('a.txt', 'one\n');
  const cap = await drafting(at, 'work');
  expect(await E(cap).readText('a.txt')).toBe('one\n');
  const told = await E(cap)
    .write('a.txt', 'two\n')
    .then(
      () => undefined,
      (error: { readonly code: string; readonly message: string }) => error,
    );
  const [asked] = await at.inbox();
  expect(told).toMatchObject({ code: 'drafted', message: expect.stringContaining(asked!.id) });
  expect(asked).toMatchObject({
    kind: 'call',
    draft: true,
    effect: 'replaces the file “a.txt” by 4 characters, through “work”',
    diff: expect.stringContaining('-one\n+two'),
    permits: ['this one change, which is made at your yes'],
  });
  expect(at.file('a.txt')).toBe('one\n');
  await at.answer(asked!, { grant: {} });
  await becomes(at, 'a.txt', 'two\n');
  expect(await at.inbox(0)).toEqual([]);
  expect(await lines(at.host, 'draft')).toMatchObject([{ request: asked!.id, method: 'write', what: 'begin' }]);
  expect(await lines(at.host, 'request')).toMatchObject([{ request: asked!.id, draft: true }]);
});

test('a refused draft changes nothing, and the same draft twice is one request', async () => {
  const at = await scene();
  at.write('a.txt', 'one\n');
  const cap = await drafting(at, 'work');
  for (const _ of [1, 2]) expect(await code(E(cap).write('a.txt', 'two\n'))).toBe('drafted');
  const [asked] = await at.inbox();
  expect(asked).toMatchObject({ count: 2 });
  await at.answer(asked!, { refuse: 'no' });
  expect(await at.inbox(0)).toEqual([]);
  for (const _ of [1, 2]) expect(await code(E(cap).write('a.txt', 'two\n'))).toBe('drafted');
  const [again] = await at.inbox();
  await at.answer(again!, { grant: {} });
  await becomes(at, 'a.txt', 'two\n');
  // One yes is for one change.
  at.write('a.txt', 'three\n');
  expect(await at.inbox(0)).toEqual([]);
  expect(at.file('a.txt')).toBe('three\n');
});

test('a file that changes after the draft is never overwritten: the draft is shown anew, with another digest', async () => {
  const at = await scene();
  at.write('a.txt', 'one\n');
  const cap = await drafting(at, 'work');
  expect(await code(E(cap).write('a.txt', 'two\n'))).toBe('drafted');
  expect(await code(E(cap).append('a.txt', 'more\n'))).toBe('drafted');
  const [first, second] = await at.inbox(2);
  await at.answer(first!, { grant: {} });
  await becomes(at, 'a.txt', 'two\n');
  expect(await code(at.answer(second!, { grant: {} }))).toBe('STALE');
  const [anew] = await at.inbox();
  expect(anew).toMatchObject({ draft: true, stale: second!.id, diff: expect.stringContaining(' two\n+more') });
  expect(at.file('a.txt')).toBe('two\n');
  await at.answer(anew!, { grant: {} });
  await becomes(at, 'a.txt', 'two\nmore\n');
});

test('a draft ends with its grant and with its session, and no yes makes it afterwards', async () => {
  const at = await scene();
  at.write('a.txt', 'one\n');
  const cap = await drafting(at, 'work');
  expect(await code(E(cap).write('a.txt', 'two\n'))).toBe('drafted');
  const [asked] = await at.inbox();
  await E(at.owner).revoke({ grant: (await grantsOf(at))[0]!.id });
  expect(await at.inbox(0)).toEqual([]);
  expect(await code(at.answer(asked!, { grant: {} }))).toBe('no-such-object');
  const other = await drafting(at, 'other');
  expect(await code(E(other).write('a.txt', 'two\n'))).toBe('drafted');
  const [left] = await at.inbox();
  await at.session.end();
  expect(await code(at.answer(left!, { grant: {} }))).toBe('no-such-object');
  expect(at.file('a.txt')).toBe('one\n');
});

test('a draft spends a use, is limited like a request, and nothing is drafted beneath a gate that waits', async () => {
  const at = await scene();
  const cap = await drafting(at, 'work', { uses: 2 });
  expect(await code(E(cap).write('a.txt', '1'))).toBe('drafted');
  expect(await code(E(cap).write('b.txt', '2'))).toBe('drafted');
  expect(await code(E(cap).write('c.txt', '3'))).toBe('exhausted');
  const [first] = await at.inbox(2);
  await at.answer(first!, { grant: {} });
  await becomes(at, 'a.txt', '1');
  const flood = await drafting(at, 'flood');
  const codes = new Set<string>();
  for (let n = 0; n < 20; n += 1) codes.add(await code(E(flood).write(`${n}.txt`, 'x')));
  expect([...codes].sort()).toEqual(['drafted', 'limit']);
  expect(await code(E(at.owner).grant(at.session.id, 'both', 'notes', { gated: true, drafts: ['write'] }) as never)).toBe('invalid'); // biome-ignore format: one line
});

test('a draft of a directory beneath it, and of a moved file, goes where it was shown', async () => {
  const at = await scene();
  at.write('src/a.txt', 'one\n');
  const cap = await drafting(at, 'work');
  expect(await code(E(E(cap).subdir('src')).write('a.txt', 'two\n'))).toBe('drafted');
  expect(await code(E(cap).rename('src/a.txt', 'src/b.txt'))).toBe('drafted');
  const [write, move] = await at.inbox(2);
  expect(write).toMatchObject({ draft: true, diff: expect.stringContaining('-one\n+two') });
  await at.answer(move!, { grant: {} });
  await becomes(at, 'src/b.txt', 'one\n');
  // The file that the other one would replace is gone, so it is shown anew, as a new file.
  expect(await code(at.answer(write!, { grant: {} }))).toBe('STALE');
  const [anew] = await at.inbox();
  expect(anew).toMatchObject({ stale: write!.id, effect: expect.stringContaining('makes the file “a.txt”') });
});
