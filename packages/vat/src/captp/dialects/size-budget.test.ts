/** How much of one value may be written, asked of both encodings. */
import { expect, test } from 'vitest';
import { defaultLimits } from '../session/limits.ts';
import type { Slots } from '../session/operations.ts';
import { Outgoing } from './attached-bytes.ts';
import { type Naming, toCapData } from './capdata.ts';
import { encode } from './hob-values.ts';

const slots: Slots = { give: () => undefined, take: () => undefined };
const naming: Naming = { write: () => '', read: () => undefined };
const encodings: Readonly<Record<string, (value: unknown) => unknown>> = {
  'hob.1': (value) => encode(value, slots, new Outgoing(defaultLimits)),
  captp: (value) => toCapData(value, slots, naming, defaultLimits),
};

/**
 * A list that refers to the previous list twice, and so on. It is small in memory; its encoding has 2 to the
 * depth parts.
 */
function doubled(end: unknown, depth: number): unknown {
  let value: unknown = [end];
  for (let i = 0; i < depth; i += 1) value = [value, value];
  return value;
}

test.each(Object.keys(encodings))('%s: what is too large is refused before all of it is looked at', (name) => {
  let looked = 0;
  const end = {
    get text(): string {
      looked += 1;
      return 'x'.repeat(100);
    },
  };
  const write = encodings[name] as (value: unknown) => unknown;
  expect(() => write(doubled(end, 17))).toThrow(/larger than a frame/);
  // A frame has room for 10,000 of them; there are 131,072.
  expect(looked).toBeLessThan(12_000);
  looked = 0;
  write(doubled(end, 10));
  expect(looked).toBe(1024);
});

test.each(Object.keys(encodings))('%s: digits, keys and what JSON lacks count as well', (name) => {
  const write = encodings[name] as (value: unknown) => unknown;
  const huge: readonly unknown[] = [
    doubled(10n ** 1000n, 11),
    doubled({ ['k'.repeat(1000)]: 1 }, 11),
    doubled(new Error('x'), 17),
  ];
  for (const value of huge) expect(() => write(value)).toThrow(/larger than a frame/);
});
