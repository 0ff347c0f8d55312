/** The rules of the page that need no browser. */
import type { GrantTerms } from '@hob/host';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../../../test/any-character.ts';
import { answeredText, answersIn } from './answered.ts';
import { ARM_MS, type Arming, type ArmingEvent, arm, isArmed, unseen } from './arming.ts';
import { chainOf } from './chain.ts';
import { changesOf } from './changes.ts';
import { choicesOf, givenTo } from './choices.ts';
import { linesOf, pairsOf } from './diff.ts';
import { freeName, matches, petnamesIn, rowOf } from './ledger.ts';
import { partsOf } from './visible.ts';
import { leftText, shortId, timeText } from './words.ts';

describe('texts of others', () => {
  const whole = (text: string): string => partsOf(text).map((part) => (part.kind === 'cut' ? '' : part.text)).join(''); // biome-ignore format: one line

  test('the parts of a text are the whole text, and no plain part has a character that hides or reorders', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), (text) => {
        expect(whole(text)).toBe(text);
        for (const part of partsOf(text))
          if (part.kind === 'text') expect(part.text).not.toMatch(/[\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|[^\P{Cc}\n\t]/u);
      }),
    );
  });

  test('a cut text shows its head and its tail, and how many characters are between', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter, minLength: 30, maxLength: 200 }), (text) => {
        const parts = partsOf(text, 20);
        const cut = parts.flatMap((part) => (part.kind === 'cut' ? [part.count] : []));
        const shown = [...parts.map((part) => (part.kind === 'cut' ? '' : part.text)).join('')].length;
        expect(shown + (cut[0] ?? 0)).toBe([...text].length);
        expect(cut).toHaveLength([...text].length > 20 ? 1 : 0);
      }),
    );
  });

  test('a letter that looks like one of ASCII is marked in a word with ASCII, and not in a word of its own script', () => {
    const marked = (text: string): readonly string[] =>
      partsOf(text).flatMap((part) => (part.kind === 'alike' ? [part.name] : []));
    expect(marked('pаypal')).toEqual(['U+0430']);
    expect(marked('ａdmin')).toEqual(['U+FF41']);
    expect(marked('привет, мир')).toEqual([]);
    expect(marked('καλημέρα')).toEqual([]);
  });
});

describe('arming', () => {
  const run = (events: readonly ArmingEvent[]): Arming => events.reduce(arm, unseen);
  const seen = (part: 'start' | 'end', now: number): ArmingEvent => ({ type: 'seen', part, now });

  test('a card is approved only 700 ms after both of its ends were seen', () => {
    expect(isArmed(run([seen('start', 0)]), 9999)).toBe(false);
    expect(isArmed(run([seen('end', 0)]), 9999)).toBe(false);
    expect(isArmed(run([seen('start', 0), seen('end', 100)]), 100 + ARM_MS - 1)).toBe(false);
    expect(isArmed(run([seen('start', 0), seen('end', 100)]), 100 + ARM_MS)).toBe(true);
  });

  test('whatever happens, an armed card was seen whole for 700 ms in a tab that was seen', () => {
    const event = fc.oneof(
      fc.record({ type: fc.constant('seen' as const), part: fc.constantFrom('start' as const, 'end' as const), wait: fc.nat(3000) }), // biome-ignore format: one line
      fc.constant({ type: 'hidden' as const }),
    );
    fc.assert(
      fc.property(fc.array(event, { maxLength: 12 }), fc.nat(5000), (some, later) => {
        let time = 0;
        const events = some.map((each): ArmingEvent => {
          if (each.type === 'hidden') return each;
          time += each.wait;
          return seen(each.part, time);
        });
        const since = events.slice(events.map(({ type }) => type).lastIndexOf('hidden') + 1);
        const firstSeen = (part: 'start' | 'end'): number =>
          Math.min(...since.flatMap((each) => (each.type === 'seen' && each.part === part ? [each.now] : [])));
        const whole = Math.max(firstSeen('start'), firstSeen('end'));
        expect(isArmed(run(events), time + later)).toBe(time + later - whole >= ARM_MS);
      }),
    );
  });
});

describe('answers', () => {
  const wall = 1_800_000_000_000;
  const day = 86_400_000;
  const timeOf = (typed: string): number => new Date(typed).getTime();
  /** The time of a grant on these terms, as the host reads them. */
  const most = ({ for: ms, until, scope, uses }: GrantTerms): number =>
    ms ?? (until === undefined ? (scope === undefined && uses === undefined ? 900_000 : 90 * day) : until - wall);
  const ids = (terms: GrantTerms): readonly string[] => choicesOf({ kind: 'grant', terms }, wall).map(({ id }) => id);

  test('no choice is wider than what was asked, as the host reads both, and a call has one yes', () => {
    expect(choicesOf({ kind: 'call' }, wall).map(({ id }) => id)).toEqual(['asked']);
    const some = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(value, { nil: undefined });
    const uses = some(fc.integer({ min: 1, max: 5000 }));
    const ends = fc.oneof(
      fc.record({ for: fc.integer({ min: 1, max: 90 * day }) }),
      fc.record({ until: fc.integer({ min: wall + 1, max: wall + 90 * day }) }),
      fc.record({ scope: fc.constantFrom('session' as const, 'permanent' as const) }),
      fc.constant({}),
    );
    fc.assert(
      fc.property(uses, ends, fc.nat(20_000), fc.nat(100 * day), (count, end, number, later) => {
        const asked: GrantTerms = { ...end, ...(count === undefined ? {} : { uses: count }) };
        for (const choice of choicesOf({ kind: 'grant', terms: asked }, wall)) {
          const typed = choice.takes === 'time' ? new Date(wall + later).toISOString() : String(number);
          const given = givenTo(choice, typed, timeOf);
          if (given === undefined) continue;
          const terms = choice.terms(given);
          expect(terms.uses ?? 1).toBeLessThanOrEqual(count ?? Number.POSITIVE_INFINITY);
          // One that names no time has the time that was asked.
          if (terms.for !== undefined || terms.until !== undefined || terms.scope !== undefined)
            expect(most(terms)).toBeLessThanOrEqual(most(asked));
        }
      }),
    );
  });

  test('a session, and the longest date, are offered for what was asked as long', () => {
    for (const terms of [{ scope: 'session' }, { scope: 'permanent' }, { uses: 4 }] as const)
      expect(ids(terms)).toEqual(expect.arrayContaining(['session', 'until']));
    for (const terms of [{ for: 600_000 }, { until: wall + 5 * day }, {}]) {
      expect(ids(terms)).toContain('until');
      expect(ids(terms)).not.toContain('session');
    }
    expect(ids({ for: 60_000 })).toEqual(['asked', 'once', 'uses']);
    expect(ids({ scope: 'once', for: 60_000 })).toEqual(['asked']);
  });

  test('an answer for a session or until a date is audited and has an end', () => {
    for (const choice of choicesOf({ kind: 'grant', terms: { scope: 'permanent', mount: true } }, wall)) {
      if (choice.id === 'session') expect(choice.terms(0)).toEqual({ scope: 'session', audited: true, mount: true });
      if (choice.id === 'until')
        expect(choice.terms(wall + 5)).toEqual({ until: wall + 5, audited: true, mount: true });
    }
  });

  test('only a whole number in its range, or a time before the latest one, is taken', () => {
    const choices = choicesOf({ kind: 'grant', terms: { uses: 50, for: day } }, wall);
    const of = (id: string, typed: string): number | undefined =>
      givenTo(choices.find((each) => each.id === id)!, typed, timeOf);
    for (const typed of ['', '0', '-1', '1.5', '1e3', '١', '99999', '51', 'Infinity']) expect(of('uses', typed)).toBe(undefined); // biome-ignore format: one line
    expect(of('uses', ' 50 ')).toBe(50);
    const at = (ms: number): string => new Date(wall + ms).toISOString();
    for (const typed of ['', 'tomorrow', at(-1), at(0), at(day + 1)]) expect(of('until', typed)).toBe(undefined);
    expect(of('until', at(day))).toBe(wall + day);
  });
});

test('a diff has every line once in both views', () => {
  const diff = '--- a\n+++ b\n@@ -1,3 +1,3 @@\n same\n-old\n-older\n+new\n end';
  const lines = linesOf(diff);
  expect(lines.map(({ kind }) => kind)).toEqual(['head', 'head', 'head', 'same', 'out', 'out', 'in', 'same']);
  const pairs = pairsOf(lines);
  expect(pairs.slice(4, 6)).toEqual([
    { left: { kind: 'out', text: 'old' }, right: { kind: 'in', text: 'new' } },
    { left: { kind: 'out', text: 'older' } },
  ]);
  expect(pairs.flatMap(({ left, right }) => [left, right === left ? undefined : right]).filter(Boolean)).toHaveLength(lines.length); // biome-ignore format: one line
});

describe('what changed since a request was shown', () => {
  const card = {
    kind: 'call' as const,
    session: 's-abcd1',
    asker: ['work'],
    asks: 'notes',
    why: '',
    effect: 'replaces “a.txt”',
    permits: ['this call'],
    flags: [] as string[],
  };
  const text = fc.constantFrom('a', 'b', 'c', 'd');
  const rows = fc.array(fc.tuple(fc.constantFrom('path', 'data'), text), { maxLength: 5 });
  const anyCard = fc.record({
    ...{ kind: fc.constantFrom('call' as const, 'grant' as const), session: text, asker: fc.array(text), asks: text },
    ...{ why: text, effect: text, permits: fc.array(text), flags: fc.array(text), table: rows },
    diff: fc.array(text).map((lines) => lines.join('\n')),
    terms: fc.record({ uses: fc.nat(2) }),
  });

  test('two cards have no change only if they show the same', () => {
    fc.assert(
      fc.property(anyCard, anyCard, (before, after) => {
        expect(changesOf(before, before)).toEqual([]);
        for (const part of Object.keys(before) as (keyof typeof before)[]) {
          const other = { ...before, [part]: after[part] };
          const inRows = (card: typeof before): string => JSON.stringify([card, ...['path', 'data'].map((name) => card.table.filter(([each]) => each === name))].slice(part === 'table' ? 1 : 0)); // biome-ignore format: one line
          expect(changesOf(before, other).length === 0).toBe(inRows(before) === inRows(other));
        }
      }),
    );
  });

  test('the old lines of the change and the new ones are all there, once, and in their order', () => {
    const some = fc.array(text, { minLength: 1, maxLength: 12 });
    fc.assert(
      fc.property(some, some, (old, now) => {
        const changes = changesOf({ ...card, table: [], diff: old.join('\n') }, { ...card, table: [], diff: now.join('\n') }); // biome-ignore format: one line
        const [went, came] = [
          changes.flatMap(({ before }) => before ?? []),
          changes.flatMap(({ after }) => after ?? []),
        ];
        const isPartOf = (part: readonly string[], whole: readonly string[]): boolean => {
          let at = 0;
          for (const line of whole) if (line === part[at]) at += 1;
          return at === part.length;
        };
        expect(isPartOf(went, old) && isPartOf(came, now)).toBe(true);
        expect(old.length - went.length).toBe(now.length - came.length);
      }),
    );
    const [path, more] = changesOf(
      { ...card, table: [['path', '“a”'], ['path', '“b”']] },
      { ...card, table: [['path', '“a”'], ['path', '“c”'], ['mode', '1']] },
    ); // biome-ignore format: three rows
    expect([path, more]).toEqual([{ what: 'path', before: '“b”', after: '“c”' }, { what: 'mode', after: '1' }]); // biome-ignore format: one line
  });
});

test('the filter of the ledger finds rows that have all its words, and a line that is no JSON is a row', () => {
  const row = rowOf('{"seq":7,"k":"grant","t":5,"grant":"g003-abcd","session":"s-abcd1"}');
  expect(row).toMatchObject({ seq: 7, kind: 'grant', grant: 'g003-abcd' });
  expect(matches(row, 'GRANT g003')).toBe(true);
  expect(matches(row, 'grant g004')).toBe(false);
  expect(rowOf('nonsense').kind).toBe('?');
});

test('a name that was bound in the session is not given again, and one of another session is free', () => {
  const bound = (session: string, petname: string, k = 'grant') =>
    rowOf(JSON.stringify({ seq: 1, k, session, petname }));
  const lines = [bound('a', 'notes'), bound('a', 'notes-2'), bound('b', 'notes-3'), bound('a', 'notes-3', 'revoke')];
  expect(['a', 'b', 'c'].map((session) => freeName('notes', session, lines))).toEqual(['notes-3', 'notes', 'notes']);
});

test('a call is named by the petname of its grant, which only the line of the grant says', () => {
  const line = (k: string, grant: string, petname?: string) => rowOf(JSON.stringify({ seq: 1, k, grant, session: 's', petname })); // biome-ignore format: one line
  const lines = [
    line('grant', 'g1', 'notes'),
    line('call', 'g2', 'forged'),
    line('grant', 'g3'),
    line('narrow', 'g1', 'x'),
  ];
  expect([...petnamesIn(lines)]).toEqual([['g1', { petname: 'notes', session: 's' }]]);
});

test('only an answer in the ledger says who answered, not another line about the request', () => {
  const line = (k: string, more: object): string => JSON.stringify({ seq: 1, k, ...more });
  const answers = answersIn([
    line('approve', { request: 'q1', by: 'bob', surface: 'console' }),
    line('deny', { request: 'q2', by: 'owner', why: '"k":"approve"' }),
    line('request', { request: 'q3', by: 'eve' }),
    line('withdrawn', { request: 'q4', by: 'eve' }),
    line('approve', { by: 'eve' }),
    line('call', { request: 'q1', by: 'eve' }),
  ]);
  expect([...answers]).toEqual([
    ['q1', { by: 'bob', how: 'approved' }],
    ['q2', { by: 'owner', how: 'refused' }],
  ]);
  expect(answeredText({ by: 'bob', how: 'approved' }, 'lists notes')).toBe('bob approved the request that lists notes');
});

describe('the chain', () => {
  const hash = async (text: string): Promise<string> =>
    Buffer.from(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text))).toString('base64url');
  const chained = async (count: number): Promise<string[]> => {
    const lines: string[] = [];
    for (let seq = 1; seq <= count; seq += 1)
      lines.push(JSON.stringify({ seq, k: 'call', prev: seq === 1 ? '' : await hash(lines.at(-1)!) }));
    return lines;
  };

  test('a whole chain is linked, a gap is counted, and a changed, moved or repeated line is found', async () => {
    const lines = await chained(6);
    expect(await chainOf(lines, hash)).toEqual({ linked: 5, gaps: 0, broken: undefined });
    expect(await chainOf(lines.toSpliced(2, 1), hash)).toEqual({ linked: 3, gaps: 1, broken: undefined });
    expect((await chainOf(lines.with(2, lines[2]!.replace('call', 'cell')), hash)).broken).toBe(4);
    expect((await chainOf([lines[1]!, lines[0]!], hash)).broken).toBe(1);
    expect((await chainOf([lines[0]!, lines[0]!], hash)).broken).toBe(1);
    expect((await chainOf([lines[0]!, 'nonsense'], hash)).broken).toBe(2);
  });
});

test('times and ids read as the command line writes them', () => {
  expect(leftText({ usesLeft: 1, asks: true, waits: 'some', drafts: true })).toBe('1 use; asks first; some calls wait; keeps drafts'); // biome-ignore format: one line
  expect([leftText({ waits: 'every' }), leftText({})]).toEqual(['any number of uses; every call waits', 'any number of uses']); // biome-ignore format: one line
  expect([200, 40_000, 180_000, 7_200_000, 5 * 86_400_000].map(timeText)).toEqual(['less than a second', '40 s', '3 min', '2 h', '5 days']); // biome-ignore format: one line
  expect(['q012-ab2c', 'g003-ab2c', 'work-ab2c1', 'x'].map(shortId)).toEqual(['R12', 'G3', 'S1', 'x']);
});
