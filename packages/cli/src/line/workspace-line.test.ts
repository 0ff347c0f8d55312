/** The command line of `hob workspace`: each option is read, and a wrong one is refused. */
import { changingMethods } from '@hob/caps-fs';
import { expect, test } from 'vitest';
import { Mistake } from './mistake.ts';
import { sessionOf } from './workspace-line.ts';

const of = (options: Readonly<Record<string, string | boolean>>) => sessionOf({ operands: [], options });

test('it knows which flags were given, also where they say what is usual', () => {
  expect([...of({}).given]).toEqual([]);
  expect([...of({ uses: '1000', for: '60' }).given]).toEqual(['uses', 'minutes']);
  expect(of({ gate: 'write,remove', readOnly: true }).flags).toMatchObject({
    gate: ['write', 'remove'],
    readOnly: true,
  });
  expect(of({ gate: 'changes' }).flags.gate).toEqual(changingMethods);
  expect(of({ gate: true }).flags).toMatchObject({ gate: true, uses: 1000, minutes: 60 });
});

test('a time has a unit, or is a number of minutes; what is none, too short or too long is refused', () => {
  for (const [text, minutes] of [['90', 90], ['15m', 15], ['8h', 480], ['90d', 129_600], ['60s', 1]] as const) // biome-ignore format: one line
    expect(of({ for: text }).flags.minutes).toBe(minutes);
  const wrong: readonly Readonly<Record<string, string>>[] = [
    ...['0', '-1', '1.5', '90s', '91d', '129601', 'x', '1e3', ''].map((text) => ({ for: text })),
    ...['0', '-1', '1000001', '0x10', 'many'].map((uses) => ({ uses })),
    ...['70000', 'abc', '-1'].map((port) => ({ port })),
    ...['write,remov', 'not a name', ''].map((gate) => ({ gate })),
  ];
  for (const options of wrong) expect(() => of(options), JSON.stringify(options)).toThrow(Mistake);
});
