/** The weights come from the texts, and from nothing else. */
import { expect, test } from 'vitest';
import { learned } from '../../../test/crisis/teach.ts';
import { tableFrom } from './table.ts';
import { BIAS, SCALE, WEIGHTS } from './weights.ts';

// It takes half a minute of processor time, and more in a hardened realm.
test('teaching again from the same texts gives the weights that are shipped', () => {
  const { weights, scale, bias } = learned();
  const shipped = tableFrom(WEIGHTS, weights.length);
  expect(weights.filter((weight) => weight !== 0).length).toBeGreaterThan(50_000);
  // Another version of V8 may round a logarithm otherwise.
  expect(weights.every((weight, at) => Math.abs(weight - (shipped[at] as number)) <= 1)).toBe(true);
  for (const [one, other] of [[scale, SCALE], [bias, BIAS]] as const) expect(one).toBeCloseTo(other, 3); // biome-ignore format: one line
}, 900_000);
