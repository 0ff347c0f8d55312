import fc from 'fast-check';
import { expect, test } from 'vitest';
import { anyCharacter } from '../../../../test/any-character.ts';
import { packed, unpacked } from './parcel.ts';

const bytes = fc.uint8Array({ maxLength: 40 });
const optional = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined });
/** As they come: views on buffers with other content. */
const view = bytes.map((some) => new Uint8Array([7, ...some, 7]).subarray(1, some.length + 1));
const line = fc.record({
  seq: fc.nat(),
  hash: fc.string(),
  bytes: view,
  args: optional(fc.record({ salt: view, bytes: view })),
  forgets: optional(fc.nat()),
});
const write = fc.record({
  follows: fc.nat(),
  epoch: fc.nat(),
  ends: fc.boolean(),
  head: fc.record({ seq: fc.nat(), hash: fc.string(), mark: optional(view) }),
  lines: fc.array(line, { maxLength: 5 }),
  cells: fc
    .array(fc.tuple(fc.string({ unit: anyCharacter }), optional(fc.string({ unit: anyCharacter }))))
    .map((all) => new Map(all)),
});

/** Compares bytes by content, because a Buffer is a kind of Uint8Array. */
const plain = (value: unknown): unknown =>
  JSON.stringify(value, (_key, item) =>
    ArrayBuffer.isView(item) || item?.type === 'Buffer'
      ? { bytes: [...((item.data as number[]) ?? item)] }
      : item instanceof Map
        ? [...item]
        : item,
  );

test('a commit arrives as it was sent, byte for byte', () => {
  fc.assert(
    fc.property(write, (sent) => {
      expect(plain(unpacked(structuredClone(packed(sent))))).toEqual(plain(sent));
    }),
  );
});
