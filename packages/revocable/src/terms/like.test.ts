/** Templates of text. The attacker writes the text, and sometimes the template. */
import { type CapError, type Definition, define, E } from '@hob/vat';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { volume } from '../../../../test/depth.ts';
import { code, world } from '../../test/world.ts';
import { revocable } from '../index.ts';
import { boundText, checkBounds, readBounds } from './bounds.ts';

const like = (template: string) => readBounds({ say: { 0: { like: template } } });
const taken = (template: string, text: unknown): boolean => {
  try {
    checkBounds(like(template), 'say', [text]);
    return true;
  } catch (error) {
    expect((error as CapError).code).toBe('denied');
    return false;
  }
};

test('a hole takes characters of one line; everything else stands for itself', () => {
  const dinner = 'Dinner at {restaurant}';
  for (const good of ['Dinner at Luigi', 'Dinner at Chez Étienne (2nd floor), 8 pm', 'Dinner at 寿司'])
    expect([good, taken(dinner, good)]).toEqual([good, true]);
  for (const bad of [
    ...[
      'Dinner at ',
      'dinner at Luigi',
      ' Dinner at Luigi',
      'Dinner  at Luigi',
      'Lunch. Dinner at Luigi',
      '',
      'Dinner at',
    ],
    ...[
      'Dinner at Luigi\nBcc: eve@example.org',
      'Dinner at Luigi\r',
      'Dinner at a\u2028b',
      'Dinner at a\u2029b',
      'Dinner at a\0',
    ],
    // Text that a person does not see: directions, widths of zero, tags, half a pair.
    ...[
      'Dinner at \u202eigiuL',
      'Dinner at Lu\u200bigi',
      'Dinner at \u{e0041}',
      'Dinner at \ud83d',
      'Dinner at Lu\u00adigi',
    ],
    ...[['Dinner at Luigi'], { text: 'Dinner at Luigi' }, Object('Dinner at Luigi'), 5, null, undefined],
  ])
    expect([bad, taken(dinner, bad)]).toEqual([bad, false]);
  expect(taken('{a}, {b}!', 'x, y!')).toBe(true);
  expect(taken('{a}, {b}!', 'x; y!')).toBe(false);
  expect(taken('{{{name}}}', '{x}')).toBe(true);
  expect(taken('a.c{x}', 'abcd')).toBe(false);
});

test('a hole may have a pattern of its own, and the pattern stays within its hole', () => {
  const day = 'Report of {day:[0-9]{4}-[0-9]{2}-[0-9]{2}}.';
  expect(taken(day, 'Report of 2026-11-27.')).toBe(true);
  for (const bad of [
    'Report of 27.11.2026.',
    'Report of 2026-11-27',
    'Report of 2026-11-27.\n',
    'x\nReport of 2026-11-27.',
  ])
    expect([bad, taken(day, bad)]).toEqual([bad, false]);
  expect(taken('to {who:ann|bob} only', 'to bob only')).toBe(true);
  expect(taken('to {who:ann|bob} only', 'to ann')).toBe(false);
  expect(taken('to {who:(?i)ann} Only', 'to ANN only')).toBe(false);
});

test.each([
  ...[
    'no hole',
    '',
    '{',
    '}',
    '{}',
    '{1}',
    '{a b}',
    '{a',
    'a}',
    '{a:}',
    '{a:[}',
    '{a:(}',
    '{a:x)|(?:y}',
    '{a:(?=x)}',
    '{a:\\1}',
  ],
  ...[`{a}${'x'.repeat(1_000)}`, 5, null, { is: 'x' }],
])('%j is no template', (template) => {
  expect(() => like(template as string)).toThrowError(expect.objectContaining({ code: 'invalid' }));
});

test('a text that would take another engine for ever is refused at once', () => {
  const text = `${'a'.repeat(50_000)}!`;
  expect(taken('{x:(a+)+}', text)).toBe(false);
  expect(taken('{x:(a|aa)*}b', text)).toBe(false);
  expect(taken('{x}', 'a'.repeat(100_001))).toBe(false);
});

test('what is written into the holes is found again, whatever it is; a changed fixed part is not', () => {
  const safe = fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 12 });
  const fixed = fc.string({ unit: 'grapheme', maxLength: 8 }).filter((text) => text.isWellFormed());
  const escaped = (text: string): string => text.replaceAll('{', '{{').replaceAll('}', '}}');
  fc.assert(
    fc.property(fixed, safe, fixed, safe, fixed, (a, one, b, two, c) => {
      const template = `${escaped(a)}{one}${escaped(b)}{two}${escaped(c)}`;
      expect(taken(template, `${a}${one}${b}${two}${c}`)).toBe(true);
      expect(taken(template, `\n${a}${one}${b}${two}${c}`)).toBe(false);
      if (c !== '')
        expect(taken(template, `${a}${one}${b}${two}`)).toBe(
          `${one}${b}${two}`.endsWith(c) && taken(template, `${a}${one}${b}${two}`),
        );
    }),
    { numRuns: volume(200, 1_000) },
  );
});

test('an argument may be left out where its bound is optional', () => {
  const bounds = readBounds({ say: { 0: { is: 'x' }, 1: { optional: { max: 5 } } } });
  const says =
    (...args: readonly unknown[]): (() => void) =>
    () =>
      checkBounds(bounds, 'say', args);
  for (const good of [['x'], ['x', undefined], ['x', 5]]) expect(says(...good)).not.toThrow();
  for (const bad of [[], ['y'], ['x', 6], ['x', null], ['x', 5, 1]])
    expect(says(...bad)).toThrowError(expect.objectContaining({ code: 'denied' }));
  const fields = readBounds({ say: { to: { is: 'ann' }, cc: { optional: { oneOf: ['bob'] } } } });
  const named =
    (args: object): (() => void) =>
    () =>
      checkBounds(fields, 'say', [args]);
  for (const good of [{ to: 'ann' }, { to: 'ann', cc: 'bob' }]) expect(named(good)).not.toThrow();
  for (const bad of [{}, { cc: 'bob' }, { to: 'ann', cc: 'eve' }, { to: 'ann', cc: null }, { to: 'ann', bcc: 'bob' }])
    expect(named(bad)).toThrowError(expect.objectContaining({ code: 'denied' }));
  expect(boundText({ optional: { like: 'Dinner at {place}' } })).toBe('a text like "Dinner at {place}", or left out');
});

test('the arguments of a method are bound by name: it takes one record with these and no others', async () => {
  interface Mail {
    send(mail: unknown, ...more: readonly unknown[]): string;
  }
  const Mail: Definition<Mail, []> = define('Mail', () => ({ send: (mail) => JSON.stringify(mail) }));
  const { vats } = await world();
  const mail = await vats.vat('mail').spawn(Mail());
  const { cap } = revocable(mail, { uses: 1, where: { send: { to: { is: 'ann' }, subject: { like: 'Minutes of {day}' }, urgent: { optional: { is: false } } } } }); // biome-ignore format: one line
  for (const bad of [
    [{ to: 'eve', subject: 'Minutes of Friday' }],
    [{ to: 'ann', subject: 'Minutes of Friday', bcc: 'eve' }],
    [{ to: 'ann', subject: 'Minutes of Friday' }, 'more'],
    [{ to: 'ann', subject: 'Minutes of Friday\nBcc: eve' }],
    [{ to: 'ann', subject: 'Minutes of Friday', urgent: true }],
    ['ann', 'Minutes of Friday'],
    [],
  ])
    expect([bad, await code((E(cap).send as (...args: readonly unknown[]) => Promise<string>)(...bad))]).toEqual([
      bad,
      'denied',
    ]);
  // None of them cost the use.
  expect(await E(cap).send({ to: 'ann', subject: 'Minutes of Friday' })).toBe(
    '{"to":"ann","subject":"Minutes of Friday"}',
  );
  expect(readBounds({ send: { to: { is: 'ann' } } })).toEqual({ send: { 0: { fields: { to: { is: 'ann' } } } } });
  expect(() => readBounds({ send: { 0: { is: 1 }, to: { is: 'ann' } } })).toThrowError(/positions and names/);
});

test('a pattern does not quote what stands outside its hole', () => {
  // Alone each of them is a pattern. Together they would quote " to ann " and let any word stand for all of it.
  expect(() => like('{a:x|\\Q} to ann {b:\\Q\\E|[a-z]+}')).toThrowError(/\\Q/);
  expect(() => like('{a:\\\\\\Q}')).toThrowError(/\\Q/);
  expect(taken('{a:\\\\Q+}', '\\QQ')).toBe(true);
  expect(taken('{a:\\{+}}', '{{')).toBe(false);
});

test('a hole takes no character that a screen does not show', () => {
  const unseen = /[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}\p{Variation_Selector}\u{2800}]/u;
  const space = /[\p{Zs}]/u;
  const hidden: string[] = [];
  for (let code = 0; code <= 0x10_ff_ff; code += 1) {
    const char = String.fromCodePoint(code);
    if (unseen.test(char) && !space.test(char) && !/\p{Co}|\p{Cn}/u.test(char)) hidden.push(char);
  }
  expect(hidden.length).toBeGreaterThan(2_000);
  const bounds = like('Dinner at {place}');
  const passed = hidden.filter((char) => {
    try {
      checkBounds(bounds, 'say', [`Dinner at a${char}b`]);
      return true;
    } catch {
      return false;
    }
  });
  expect(passed.map((char) => char.codePointAt(0)?.toString(16))).toEqual([]);
});

test('templates that take long to compile or to compare are refused before that', () => {
  const quickly = (work: () => void): void => {
    const start = performance.now();
    work();
    // The guard takes less than a tenth of this; without it each of these takes many times as long.
    expect(performance.now() - start).toBeLessThan(5_000);
  };
  const many = Array.from({ length: 110 }, () => 'x{1000}').join('');
  quickly(() => {
    for (const pattern of [many, '(?:x{30}){30}', '(x{1,30}[)]){30}', 'x{99999999999999999999}'])
      expect(() => like(`{a:${pattern}}`)).toThrowError(/like is too large/);
    // Each of them alone is small enough. An agent could ask for as many as a message holds.
    const fields = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [`f${n}`, { like: '{a:x{1000}}{b:\\pL{900}}' }]),
    );
    expect(() => readBounds({ say: { 0: { fields } } })).toThrowError(/too large together/);
  });
  expect(taken('from {ip:(?:[0-9]{1,3}\\.){3}[0-9]{1,3}}', 'from 127.0.0.1')).toBe(true);
  expect(taken('{dash:\\x{2013}+}', '–')).toBe(true);
  // Text without a rhythm: each character leads to a state that was not there before.
  let random = 1;
  const text = Array.from({ length: 100_000 }, () => {
    random = (Math.imul(random, 1_103_515_245) + 12_345) | 0;
    return 'ab'[(random >>> 16) % 2];
  }).join('');
  quickly(() => {
    for (let n = 0; n < 3; n += 1) expect(taken('{a:[\\pL]*a[\\pL]{990}}c', text)).toBe(false);
  });
});
