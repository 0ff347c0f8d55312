/** What the rooms of the page make of grants, sessions and lines. */
import type { Grant } from '@hob/host';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../../../test/any-character.ts';
import { tokensOf } from './colours.ts';
import { EVERYTHING, type Filter, filtered, lastUses, outcomeOf, refusedOf, rowOf, storyOf } from './ledger.ts';
import { pictureOf } from './picture.ts';
import { shortId } from './words.ts';

test('the coloured parts of a line are the whole line', () => {
  const code = fc.constantFrom('const ', '"a b"', '// rest', '/* in */', '12', '`', "'", '\\', '#', ' ', 'pаypal');
  fc.assert(
    fc.property(fc.array(fc.oneof(code, fc.string({ unit: anyCharacter, maxLength: 8 }))), (parts) => {
      const line = parts.join('');
      expect(tokensOf(line).map(({ text }) => text).join('')).toBe(line); // biome-ignore format: one line
    }),
  );
  expect(tokensOf('const a = "b"; // 1').map(({ kind }) => kind)).toEqual(['keyword', 'plain', 'string', 'plain', 'comment']); // biome-ignore format: one line
});

/** Two requests, one granted, used and revoked, the other refused; and a call of another grant. */
const lines = [
  { k: 'request', request: 'q001-aaaa', session: 'work-aaaa1', asks: 'notes' },
  { k: 'grant', request: 'q001-aaaa', session: 'work-aaaa1', grant: 'g001-aaaa', petname: 'n', offered: 'notes', by: 'o' },
  { k: 'approve', request: 'q001-aaaa', session: 'work-aaaa1', grant: 'g001-aaaa', by: 'o' },
  { k: 'call', grant: 'g001-aaaa', method: 'write' },
  { k: 'result', grant: 'g001-aaaa', method: 'write', code: 'NOT_FOUND' },
  { k: 'grant', session: 'work-aaaa1', grant: 'g002-aaaa', petname: 'web', offered: 'web', where: 'https://api.example.com/x' },
  { k: 'call', grant: 'g002-aaaa', method: 'get' },
  { k: 'revoke', grant: 'g001-aaaa', by: 'o' },
  { k: 'request', request: 'q002-aaaa', session: 'work-aaaa1', asks: 'mail' },
  { k: 'deny', request: 'q002-aaaa', session: 'work-aaaa1', by: 'o', why: 'not now' },
  { k: 'request', request: 'q003-aaaa', session: 'work-aaaa1', asks: 'n', method: 'remove' },
  { k: 'deny', request: 'q003-aaaa', session: 'work-aaaa1', by: 'o', why: 'no' },
].map((line, at) => rowOf(JSON.stringify({ seq: at + 1, t: 1000 * (at + 1), ...line }))); // biome-ignore format: one line

const found = (filter: Partial<Filter>): readonly number[] =>
  filtered(lines, { ...EVERYTHING, ...filter }, shortId).map(({ seq }) => seq);

test('the ledger is filtered by grant, cap, host, outcome and time, and by all of them together', () => {
  expect(found({})).toHaveLength(lines.length);
  expect(found({ grant: 'g1' })).toEqual([2, 3, 4, 5, 8]);
  expect(found({ grant: 'g001-aaaa' })).toEqual([2, 3, 4, 5, 8]);
  expect(found({ cap: 'web' })).toEqual([6, 7]);
  expect(found({ cap: 'NOTES' })).toEqual([1, 2, 3, 4, 5, 8]);
  expect(found({ host: 'example.com' })).toEqual([6]);
  expect(found({ host: 'ample.com' })).toEqual([]);
  expect(found({ outcome: 'refused' })).toEqual([10, 12]);
  expect(found({ outcome: 'failed' })).toEqual([5]);
  expect(found({ from: 3000, to: 4000 })).toEqual([3, 4]);
  expect(found({ grant: 'G1', outcome: 'allowed', to: 3000 })).toEqual([2, 3]);
  expect(lines.map(outcomeOf).filter((each) => each === undefined)).toHaveLength(3);
});

test('each line of a story opens the same way: asked, answered, granted, done', () => {
  const steps = (seq: number): unknown => {
    const { request, act, grant, effect } = storyOf(lines[seq - 1]!, lines);
    return [request, act, grant, effect].map((rows) => rows.map((row) => row.seq));
  };
  for (const seq of [1, 2, 3, 4, 5, 8]) expect(steps(seq), String(seq)).toEqual([[1], [3], [2, 8], [4, 5]]);
  expect(steps(10)).toEqual([[9], [10], [], []]);
  expect(steps(7)).toEqual([[], [], [6], [7]]);
});

test('refused are the requests for grants, the newest first, and the last use of a grant is its last call', () => {
  expect(refusedOf(lines)).toEqual([
    { request: 'q002-aaaa', session: 'work-aaaa1', asks: 'mail', at: 10_000, why: 'not now' },
  ]);
  expect([...lastUses(lines)]).toEqual([['g001-aaaa', 4000], ['g002-aaaa', 7000]]); // biome-ignore format: one line
});

test('the picture leads from the host over sessions and caps to roots, and what has ended is said to be', () => {
  const grant = (id: string, session: string, offered: string): Grant =>
    ({ id, session, offered, petname: `its ${offered}`, what: `“${offered}”` }) as Grant;
  const sessions = [{ id: 's1', name: 'work' }, { id: 's2', name: 'child', parent: 's1' }, { id: 's3', name: 'orphan', parent: 'gone' }]; // biome-ignore format: one line
  const nodes = pictureOf(sessions, [grant('g1', 's1', 'a'), grant('g2', 's2', 'a')], [grant('g3', 's1', 'b'), grant('g4', 'gone', 'b')]); // biome-ignore format: one line
  const node = (id: string) => nodes.find((each) => each.id === id);
  expect(node('host')?.to).toEqual(['s1', 's3']);
  expect(node('s1')?.to).toEqual(['s2', 'g1', 'g3']);
  expect(node('g2')?.to).toEqual(['root a']);
  expect(nodes.filter(({ ended }) => ended).map(({ id }) => id)).toEqual(['g3', 'root b']);
  expect(node('g4')).toBe(undefined);
  expect(new Set(nodes.map(({ column, row }) => `${column} ${row}`)).size).toBe(nodes.length);
  for (const { to, column } of nodes) for (const id of to) expect(node(id)!.column).toBeGreaterThan(column);
});
