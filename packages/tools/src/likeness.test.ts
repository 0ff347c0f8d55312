/** Likeness of names, as the loops measure it that repair unknown names. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import * as tools from './index.ts';
import { CUTOFF, likeness, tooClose } from './likeness.ts';

test('likeness is that of difflib for short texts', () => {
  // By SequenceMatcher(None, a, b).ratio() of Python 3.13.
  const measured: readonly (readonly [string, string, number])[] = [
    ['read', 'edit', 0.5],
    ['entries', 'edit', 0.363_636_363_636_363_65],
    ['list', 'elit', 0.75],
    ['write', 'rite', 0.888_888_888_888_888_8],
    ['abcab', 'bcabca', 0.727_272_727_272_727_3],
    ['search', 'reach', 0.727_272_727_272_727_3],
    ['', 'x', 0],
    ['request', 'read_request', 0.736_842_105_263_157_9],
  ];
  for (const [a, b, ratio] of measured) expect(likeness(a, b), `${a} ${b}`).toBeCloseTo(ratio, 12);
});

const letters = 'abcdefgh_';
const word = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 9 });

test('of names that pass, none with a typo of one letter in it is taken for another', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(word, { minLength: 2, maxLength: 4 }),
      fc.nat(),
      fc.nat(),
      fc.constantFrom(...letters),
      (names, which, place, letter) => {
        if (tooClose(names) !== undefined) return;
        const name = names[which % names.length] as string;
        const at = place % (name.length + 1);
        const [before, after] = [name.slice(0, at), name.slice(at)];
        for (const typo of [before + after.slice(1), before + letter + after, before + letter + after.slice(1)])
          for (const other of names) if (other !== name) expect(likeness(other, typo)).toBeLessThan(CUTOFF);
      },
    ),
  );
});

test('the names that Hob offers are far enough apart, and the obvious ones would not be', () => {
  expect(
    tooClose(['read', 'entries', 'search', 'write', 'edit', 'mkdir', 'run', 'launch', 'request', 'invoke']),
  ).toBeUndefined();
  expect(tooClose(['edit', 'list'])).toEqual(['edit', 'list']);
  expect(tooClose(['a-b', 'A_B'])).toEqual(['a-b', 'A_B']);
});

test('a verb near one of a directory is refused with the way out, and that way works', async () => {
  const session = { caps: async () => ['mail'] };
  const named = (name: string) => tools.verb({ name, description: 'Sends.' });
  const send = named('send');
  await expect(tools.of(session, { mail: [send] })).rejects.toThrow(/"send" into "read".*\{ otherwise: \[\] \}$/);
  expect((await tools.of(session, { mail: [send] }, { otherwise: [] })).names).toEqual(['send']);
  // Between two verbs of the caller's own, nothing can be left out.
  await expect(tools.of(session, { mail: [send, named('sends')] }, { otherwise: [] })).rejects.toThrow(/further away$/);
});
