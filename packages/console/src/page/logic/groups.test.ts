/** Which requests one answer may settle together. */
import type { Request, RequestedCall } from '@hob/host';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { alikeText, candidates, exactText, groupsOf } from './groups.ts';

const call = (session: string, more: Partial<Request> = {}): Request => ({
  ...{ id: `q001-${session}`, kind: 'call', session, asker: [session], asks: 'notes', why: '', digest: `d-${session}` },
  ...{ effect: 'writes “a.txt”, through “notes”', permits: ['this one call'], flags: [] },
  table: [
    ['cap', `“notes” of session “${session}”`],
    ['method', 'append'],
  ],
  ...{ ageMs: 5, leftMs: 100, waiting: true, count: 1, proposals: [] },
  ...more,
});
const grant = (session: string, more: Partial<Request> = {}): Request =>
  call(session, {
    ...{ kind: 'grant', effect: `lets session “${session}” use “notes”: 1 use`, terms: { uses: 1 } },
    table: [['what', '“notes”']],
    ...more,
  });
const asked = ({ digest }: Request, args: readonly unknown[]): RequestedCall => ({ method: 'append', args, digest });

describe('requests that ask for the same', () => {
  test('ids, names and times of the askers are no difference', () => {
    const [one, two] = [call('work-ab2c1'), call('work-ab2c2', { ageMs: 9000, leftMs: 7, waiting: false, count: 3 })];
    expect(alikeText(one, asked(one, ['a.txt', 'x']))).toBe(alikeText(two, asked(two, ['a.txt', 'x'])));
    expect(alikeText(grant('work-ab2c1'), undefined)).toBe(alikeText(grant('other-ab2c2'), undefined));
  });

  test('calls that are shown alike stand apart if an argument differs', () => {
    const [one, two] = [call('work-ab2c1'), call('work-ab2c2')];
    const text = alikeText(one, asked(one, [new Uint8Array([1])]));
    expect(alikeText(two, asked(two, [new Uint8Array([1])]))).toBe(text);
    expect(alikeText(two, asked(two, [new Uint8Array([2])]))).not.toBe(text);
    expect(alikeText(two, { ...asked(two, [new Uint8Array([1])]), method: 'write' })).not.toBe(text);
  });

  test('whatever else differs, they stand apart', () => {
    const other: Partial<Request>[] = [
      { asks: 'other' },
      { why: 'the agent says: “now”' },
      { effect: 'writes “b.txt”, through “notes”' },
      { permits: ['this call, and another'] },
      { flags: ['odd characters'] },
      { table: [['method', 'append']] },
      { diff: '+x' },
      { draft: true },
      { terms: { uses: 2 } },
      { proposals: [{ by: 'j', means: 'refuse', why: 'bad' }] as never },
    ];
    const one = call('work-ab2c1');
    const text = alikeText(one, asked(one, ['x']));
    for (const more of other) {
      const two = call('work-ab2c2', more);
      expect(alikeText(two, asked(two, ['x'])), JSON.stringify(more)).not.toBe(text);
      const bare = grant('work-ab2c2', more);
      expect(alikeText(bare, undefined), JSON.stringify(more)).not.toBe(alikeText(grant('work-ab2c1'), undefined));
    }
  });

  test('one that a person alone answers, that was cut, that is stale or whose arguments are unknown stands alone', () => {
    const one = call('work-ab2c1');
    expect(alikeText(one, asked(one, ['x']))).not.toBe(undefined);
    const hidden: Partial<Request>[] = [{ personOnly: true }, { stale: 'q000-ab2c' }, { diff: '+x\n⟦cut: 4 more lines⟧' }, { table: [['data', '“x” ⟦cut: 9 more characters⟧']] }]; // biome-ignore format: one line
    for (const more of hidden) expect(alikeText(call('work-ab2c1', more), asked(one, ['x']))).toBe(undefined);
    expect(alikeText(one, undefined)).toBe(undefined);
    expect(alikeText(one, { method: 'append', digest: one.digest })).toBe(undefined);
    expect(alikeText(one, { ...asked(one, ['x']), digest: 'of another request' })).toBe(undefined);
  });

  test('an agent that writes the id of its session into a path hides no difference by it', () => {
    const named = (session: string): Request => {
      const name = ` of session “${session}”`;
      return call(session, {
        effect: `removes “${name}”, through “notes”`,
        table: [
          ['cap', `“notes”${name}`],
          ['path', `“${name}”`],
        ],
      });
    };
    const [one, two] = [named('work-ab2c1'), named('work-ab2c2')];
    expect(alikeText(one, asked(one, ['x']))).not.toBe(alikeText(two, asked(two, ['x'])));
  });

  test('different arguments have different texts', () => {
    const data = fc.anything({ withBigInt: true, withTypedArray: true, maxDepth: 3 });
    fc.assert(
      fc.property(data, (value) => {
        const text = exactText(value);
        // The same data has the same text, and its place in a list is part of it.
        if (text !== undefined) expect(exactText([value])).toBe(`[${text}]`);
      }),
    );
    const all = ['1', 1, 1n, -0, 0, null, undefined, true, 'true', [], {}, [[]], ['1,2'], ['1', '2'], [1, 2], { a: 1 }, { a: '1' }, { 'a":1,"b': 2 }, { a: 1, b: 2 }, new Uint8Array([1]), new Uint8Array([2]), 'b[1]', '']; // biome-ignore format: one line
    expect(new Set(all.map(exactText)).size).toBe(all.length);
    expect(exactText({ b: 1, a: [2] })).toBe(exactText({ a: [2], b: 1 }));
    for (const live of [() => 1, Promise.resolve(), new Date(0), [Symbol('x')]])
      expect(exactText(live)).toBe(undefined);
  });

  test('a group stands where its first request stands, and each request is in one group', () => {
    const ids = fc.array(fc.constantFrom('a', 'b', 'c', undefined), { maxLength: 12 });
    fc.assert(
      fc.property(ids, (texts) => {
        const shown = texts.map((_, n) => ({ request: call(`${n}`) }));
        const alike = new Map(shown.flatMap(({ request }, n) => (texts[n] === undefined ? [] : [[request.id, texts[n]] as const]))); // biome-ignore format: one line
        const groups = groupsOf(shown, alike);
        expect([groups.flat().length, new Set(groups.flat())]).toEqual([shown.length, new Set(shown)]);
        const firsts = groups.map(([first]) => shown.indexOf(first));
        expect(firsts).toEqual(firsts.toSorted((a, b) => a - b));
        for (const group of groups) expect(new Set(group.map(({ request }) => alike.get(request.id) ?? request.id)).size).toBe(1); // biome-ignore format: one line
      }),
    );
    expect(candidates(new Map([['1', 'a'], ['2', undefined], ['3', 'a'], ['4', 'b'], ['5', undefined]]))).toEqual(['1', '3']); // biome-ignore format: one line
  });
});
