import fc from 'fast-check';
import { expect, test } from 'vitest';
import { byCodePoint, hasTemporary, isTemporary } from './names.ts';

test('a temporary is found among sorted names, whatever its place and its neighbours', () => {
  const near = ['.', '.~caps', '.~caps-', '.~caps-1', '.~caps-~', '.~capt', '\u{1f600}', '\uffee', '!', 'z'];
  const temporary = fc.stringMatching(/^\.~caps-[0-9a-f]{16}$/);
  const close = fc.stringMatching(/^\.~caps-[0-9a-g]{15,17}$/);
  const names = fc.array(
    fc.oneof(fc.constantFrom(...near), close, fc.string({ unit: 'grapheme', maxLength: 9 }), temporary),
  );
  let found = 0;
  fc.assert(
    fc.property(names, (all) => {
      const is = hasTemporary([...all].sort(byCodePoint));
      expect(is).toBe(all.some(isTemporary));
      if (is) found += 1;
    }),
    { numRuns: 1_000 },
  );
  expect(found).toBeGreaterThan(100);
});
