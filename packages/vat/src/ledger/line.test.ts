import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { anyCharacter } from '../../../../test/any-character.ts';
import { sha256 } from '../drivers/hash.ts';
import { KINDS, type LineKind } from './kinds.ts';
import { type Fields, MAX_LINE_BYTES, makeLine } from './line.ts';

const parts = { seq: 7, t: 1000.7, vt: 12.3, kind: 'call' as LineKind, prev: 'P' };
const text = (fields: Fields): string => Buffer.from(makeLine({ ...parts, fields }).bytes).toString();
const said = (fields: Fields): Record<string, unknown> => JSON.parse(text(fields));

test('a line is this text, and its hash is that of these bytes', () => {
  const line = makeLine({ ...parts, fields: { grant: 'g1', use: 3, left: undefined, who: ['a', { b: null }] } });
  const expected =
    '{"v":1,"seq":7,"t":1000,"vt":12,"k":"call","grant":"g1","use":3,"who":["a",{"b":null}],"prev":"P","crc":"';
  const written = Buffer.from(line.bytes).toString();
  expect(written.slice(0, expected.length)).toBe(expected);
  expect(written.slice(expected.length)).toMatch(/^[0-9a-f]{8}"}$/);
  expect(line.hash).toBe(sha256(line.bytes));
});

test('no field speaks for the line itself, and names are ours', () => {
  for (const name of ['v', 'seq', 't', 'vt', 'k', 'prev', 'crc', '', 'A', 'a-b', '__proto__', 'x'.repeat(33)]) {
    expect(() => text({ [name]: 1 }), name).toThrow(expect.objectContaining({ code: 'invalid' }));
  }
  const many = Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`f${i}`, i]));
  expect(() => text(many)).toThrow(expect.objectContaining({ code: 'invalid' }));
  for (const kind of ['nonsense', 'constructor', '__proto__', '']) {
    const wrong = { ...parts, kind: kind as LineKind, fields: {} };
    expect(() => makeLine(wrong), kind).toThrow(expect.objectContaining({ code: 'invalid' }));
  }
  for (const kind of Object.keys(KINDS) as LineKind[]) makeLine({ ...parts, kind, fields: {} });
});

test('only JSON data gets in', () => {
  const bad = [1n, Number.NaN, Infinity, () => 1, Symbol('s'), new Date(0), new Map(), new Uint8Array(2), [undefined]];
  for (const value of bad) {
    expect(() => text({ x: value }), String(value)).toThrow(expect.objectContaining({ code: 'invalid' }));
    expect(() => text({ x: { y: [value] } })).toThrow(expect.objectContaining({ code: 'invalid' }));
  }
});

test('nothing of an object runs or stands in for it', () => {
  expect(said({ x: { toJSON: 'data', __proto__: null, y: 1 } })['x']).toEqual({ toJSON: 'data', y: 1 });
  expect(text({ x: JSON.parse('{"__proto__":{"z":1}}') })).toContain('"x":{"__proto__":{"z":1}}');
  expect(() => text({ x: { toJSON: () => 'other' } })).toThrow();
});

describe('what is too much is cut and marked, never refused', () => {
  const loop: unknown[] = [];
  loop.push(loop, loop);
  let deep: unknown = 0;
  for (let i = 0; i < 10_000; i += 1) deep = [deep];
  const cases: Record<string, Fields> = {
    'a long text': { method: 'm'.repeat(1_000_000) },
    'a text that grows when it is written': { method: '\0'.repeat(4000), more: '€'.repeat(4000) },
    '32 long fields': Object.fromEntries(Array.from({ length: 32 }, (_, i) => [`f${i}`, '\0'.repeat(9999)])),
    'a long list': { x: Array.from({ length: 100_000 }, (_, i) => i) },
    'a wide record': { x: Object.fromEntries(Array.from({ length: 9999 }, (_, i) => [`key ${i}`, i])) },
    'a record with long names': { x: { ['\0'.repeat(99_999)]: 1 } },
    'a deep value': { deep },
    'a cycle': { loop },
    'half a pair at the cut': { a: `${'x'.repeat(4095)}😀😀`, b: 'y'.repeat(4000) },
  };
  for (const [name, fields] of Object.entries(cases)) {
    test(name, () => {
      const { bytes } = makeLine({ ...parts, fields });
      expect(bytes.length).toBeLessThanOrEqual(MAX_LINE_BYTES);
      expect(Buffer.from(bytes).toString()).toContain('…');
      expect(JSON.parse(Buffer.from(bytes).toString())['prev']).toBe('P');
    });
  }

  test('a cut does not go through a pair', () => {
    expect(said({ a: `${'x'.repeat(4095)}😀😀` })['a']).toBe(`${'x'.repeat(4095)}…`);
  });
});

test('a secret in our format is blotted out wherever a text can stand, also when it is where the cut would be', () => {
  const secret = `hob1_${'aZ0-_9'.repeat(8)}`;
  const line = text({
    method: secret,
    why: `because ${secret}, and ${secret}`,
    nested: [{ [secret]: `x${secret}` }],
    long: `${'y'.repeat(4080)}${secret}`,
  });
  expect(line).not.toMatch(/hob1_[A-Za-z0-9_-]/);
  expect(line).toContain('because hob1_…, and hob1_…');
});

test('any text of a caller makes a line that says the same again, or its beginning', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter, maxLength: 300 }), fc.jsonValue(), (method, value) => {
      const line = makeLine({ ...parts, fields: { method, value } });
      expect(line.bytes.length).toBeLessThanOrEqual(MAX_LINE_BYTES);
      const back = JSON.parse(Buffer.from(line.bytes).toString());
      if (!method.includes('hob1_')) expect(back['method']).toBe(method);
      const whole = JSON.stringify(value);
      if (!Buffer.from(line.bytes).includes('…') && !whole.includes('hob1_')) {
        expect(JSON.stringify(back['value'])).toBe(whole);
      }
    }),
  );
});

test('the published schema (docs/ledger.md) names every kind and every field that the table does', () => {
  const doc = readFileSync(new URL('../../../../docs/ledger.md', import.meta.url), 'utf8');
  for (const [kind, about] of Object.entries(KINDS)) {
    const row = doc.split('\n').find((line) => line.startsWith(`| \`${kind}\` |`)) ?? '';
    expect(row, kind).not.toBe('');
    const fields = / *: ([a-z\d, ()A-Z]+)/.exec(about)?.[1]?.replace(/\([^)]*\)/g, '') ?? '';
    for (const field of fields.split(', ').map((name) => name.trim())) {
      if (/^[a-z]+\d*[A-Z]?[a-z]*$/.test(field)) expect(row, `${kind}: ${field}`).toContain(`\`${field}\``);
    }
  }
});
