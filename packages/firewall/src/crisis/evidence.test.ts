/**
 * The bars of the detector on the texts in `test/crisis`. All of them have been seen by now, but those of `third` were
 * never used to mend it. README has the rates at first sight.
 */
import { expect, test } from 'vitest';
import { LANGUAGES, measure, ofForms, share } from '../../test/crisis/measure.ts';

const sets = ['first', 'second', 'fourth', 'fifth', 'seventh'].map((set) => [set, measure(set)] as const);

test('of the named forms at most 10 % are missed, and of each language at most 20 %', () => {
  for (const [set, measured] of sets) {
    expect([set, ofForms(measured).of]).toEqual([
      set,
      { first: 792, second: 792, fourth: 1585, fifth: 1056, seventh: 396 }[set],
    ]);
    expect([set, share(ofForms(measured)) <= 0.1]).toEqual([set, true]);
    for (const [form, rate] of Object.entries(measured.byForm)) expect([set, form, share(rate) <= 0.1]).toEqual([set, form, true]); // biome-ignore format: one line
    for (const language of LANGUAGES) expect([set, language, share(measured.byLanguage[language]!) <= 0.2]).toEqual([set, language, true]); // biome-ignore format: one line
  }
});

test('of the sixth set, which is small and mended with, too, at most 10 % are missed in all forms', () => {
  expect(share(ofForms(measure('sixth')))).toBeLessThanOrEqual(0.1);
});

test('at most 2 % of ordinary texts and 25 % of wordplay are false alarms, also in texts that nobody tuned it on', () => {
  for (const [set, { byKind }] of [...sets, ['third', measure('third')] as const]) {
    expect([set, share(byKind['ordinary']!) <= 0.02]).toEqual([set, true]);
    if (byKind['wordplay']!.of > 0) expect([set, share(byKind['wordplay']!) <= 0.25]).toEqual([set, true]);
  }
});
