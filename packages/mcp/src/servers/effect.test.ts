/** What a tool does: the word of who grants, and a server that would like to be trusted more. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toolEffect } from './effect.ts';

const said = { class: 'A', undo: 'easy', outbound: false } as const;

test('annotations raise what they contradict', () => {
  expect(toolEffect(said, undefined)).toEqual({ ...said, idempotent: true });
  expect(toolEffect(said, { readOnlyHint: false })).toEqual({ ...said, class: 'B', idempotent: true });
  expect(toolEffect({ class: 'A' }, { readOnlyHint: false })).toMatchObject({ class: 'C', outbound: true });
  expect(toolEffect({ class: 'B' }, { destructiveHint: true })).toMatchObject({ class: 'B', undo: 'impossible' });
  expect(toolEffect(said, { openWorldHint: true })).toMatchObject({ outbound: true });
  // Silence is the stricter thing.
  expect(toolEffect({ class: 'C' }, { readOnlyHint: true })).toMatchObject({
    class: 'C',
    undo: 'hard',
    outbound: true,
  });
});

const undo = ['easy', 'hard', 'impossible'] as const;
const effects = fc.record(
  { class: fc.constantFrom('A', 'B', 'C', 'D'), undo: fc.constantFrom(...undo), outbound: fc.boolean(), idempotent: fc.boolean() },
  { requiredKeys: ['class'] },
); // biome-ignore format: a table
const hint = fc.oneof(fc.boolean(), fc.anything());
const annotations = fc.oneof(
  fc.anything(),
  fc.record({ readOnlyHint: hint, destructiveHint: hint, openWorldHint: hint, idempotentHint: hint, class: fc.constant('A') }, { requiredKeys: [] }), // biome-ignore format: one line
);

test('for all annotations: the effect is never milder than the one that was said', () => {
  fc.assert(
    fc.property(effects, annotations, (of, by) => {
      const is = toolEffect(of, by);
      expect(is.class >= of.class).toBe(true);
      expect(undo.indexOf(is.undo!)).toBeGreaterThanOrEqual(undo.indexOf(of.undo ?? 'hard'));
      expect(is.outbound || of.outbound === false).toBe(true);
      expect([of.idempotent ?? (of.class === 'A' ? true : is.idempotent), is.idempotent]).toEqual([is.idempotent, is.idempotent]); // biome-ignore format: one line
    }),
  );
});
