/** OpenMetrics text, against the grammar of its specification, version 1.0. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { faultOf } from '../../test/open-metrics.ts';
import { type Family, openMetrics } from './open-metrics.ts';

test('a text has the lines that the specification asks for, in their order', () => {
  const families: readonly Family[] = [
    { name: 'a_bytes', type: 'gauge', unit: 'bytes', help: 'One "two" \\ three\nfour', samples: [{ value: -1.5 }] },
    { name: 'b', type: 'counter', help: 'B.', samples: [{ labels: { kind: 'x', of: 'a"\\\n' }, value: 3 }] },
    { name: 'c', type: 'info', help: 'C.', samples: [{ labels: { version: '1' }, value: 1 }] },
    {
      ...{ name: 'd_seconds', type: 'histogram', unit: 'seconds', help: 'D.' },
      samples: { within: [{ bound: 0.001, count: 1 }, { bound: 1, count: 2 }], count: 3, sum: 7.25 }, // biome-ignore format: one line
    },
  ];
  expect(openMetrics(families)).toBe(`# TYPE a_bytes gauge
# UNIT a_bytes bytes
# HELP a_bytes One \\"two\\" \\\\ three\\nfour
a_bytes -1.5
# TYPE b counter
# HELP b B.
b_total{kind="x",of="a\\"\\\\\\n"} 3
# TYPE c info
# HELP c C.
c_info{version="1"} 1
# TYPE d_seconds histogram
# UNIT d_seconds seconds
# HELP d_seconds D.
d_seconds_bucket{le="0.001"} 1
d_seconds_bucket{le="1.0"} 2
d_seconds_bucket{le="+Inf"} 3
d_seconds_count 3
d_seconds_sum 7.25
# EOF
`);
  expect(faultOf(openMetrics(families))).toBeUndefined();
  expect(openMetrics([])).toBe('# EOF\n');
});

test('a family that would break the text is a bug, and throws', () => {
  const family = { name: 'a', type: 'gauge', help: '', samples: [{ value: 1 }] } as const;
  expect(() => openMetrics([family, family])).toThrow();
  expect(() => openMetrics([{ ...family, name: 'a b' }])).toThrow();
  expect(() => openMetrics([{ ...family, unit: 'bytes' }])).toThrow();
  expect(() => openMetrics([{ ...family, samples: [{ value: 1 }, { value: 2 }] }])).toThrow();
  expect(() => openMetrics([{ ...family, samples: [{ labels: { 'a-b': '' }, value: 1 }] }])).toThrow();
});

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,8}$/);
const anyText = fc.string({ unit: 'grapheme' });
const sample = fc.record({ labels: fc.dictionary(name, anyText, { maxKeys: 3 }), value: fc.double() });
const family: fc.Arbitrary<Family> = fc.oneof(
  fc.record({
    name,
    type: fc.constantFrom('counter' as const, 'gauge' as const),
    help: anyText,
    samples: fc.uniqueArray(sample, { maxLength: 4, selector: ({ labels }) => JSON.stringify(Object.entries(labels)) }),
  }),
  fc.record({
    name: name.map((text) => `${text}_seconds`),
    type: fc.constant('histogram' as const),
    unit: fc.constant('seconds' as const),
    help: anyText,
    samples: fc.record({
      within: fc.uniqueArray(fc.record({ bound: fc.integer({ min: 1, max: 99 }).map((n) => n / 8), count: fc.nat() }), {
        selector: ({ bound }) => bound,
        maxLength: 5,
      }),
      count: fc.nat(),
      sum: fc.double({ noNaN: true }),
    }),
  }),
);

test('whatever the texts and the numbers are, the text fits the grammar', () => {
  fc.assert(
    fc.property(fc.uniqueArray(family, { selector: (each) => each.name, maxLength: 5 }), (families) => {
      expect(faultOf(openMetrics(families))).toBeUndefined();
    }),
  );
});

test('the grammar of the tests refuses what the specification does', () => {
  const good = '# TYPE a counter\n# HELP a x\na_total{b="c"} 1\n# EOF\n';
  expect(faultOf(good)).toBeUndefined();
  for (const [from, to] of [
    ['# EOF\n', ''],
    ['a_total', 'a'],
    ['"c"', '"c""'],
    ['"c"', '"\\"'],
    ['} 1', '} one'],
    ['# HELP a', '# HELP b'],
    ['# TYPE a counter\n', '# TYPE a counter\n# TYPE a counter\n'],
    ['a_total{b="c"} 1\n', 'a_total{b="c"} 1\na_total{b="c"} 2\n'],
    ['a_total', 'other_total'],
  ] as const)
    expect(faultOf(good.replace(from, to)), to).toEqual(expect.any(String));
});
