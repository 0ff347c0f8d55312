/** The weights come from the texts, and from nothing else. */
import { expect, test } from 'vitest';
import { teach } from '../../../test/crisis/teach.ts';
import { BIAS, LIMIT, SCALE, WEIGHTS } from './weights.ts';

// It takes half a minute of processor time, and more in a hardened realm.
test('teaching again from the same texts gives the weights that are shipped', () => {
  const { weights, scale, bias, limit } = teach();
  const shipped = Int8Array.from(Buffer.from(WEIGHTS, 'base64'));
  expect(weights.length).toBe(shipped.length);
  // Another version of V8 may round a logarithm otherwise.
  expect(weights.every((weight, at) => Math.abs(weight - (shipped[at] as number)) <= 1)).toBe(true);
  for (const [one, other] of [[scale, SCALE], [bias, BIAS], [limit, LIMIT]] as const) expect(one).toBeCloseTo(other, 3); // biome-ignore format: one line
}, 900_000);
