/**
 * Any character, for properties: `fc.string({ unit: anyCharacter })` makes the texts of `unit: 'binary'`.
 *
 * fast-check looks up characters of its own unit in a table of all 1,112,064. It makes the table at the first text, which
 * takes a process up to 6 s and 170 MB. This unit computes the place of a character.
 */
import fc from 'fast-check';

// No half of a pair is a character.
const HALVES = 0xd800;
const COUNT_OF_HALVES = 0x800;

export const anyCharacter: fc.Arbitrary<string> = fc.nat({ max: 0x10ffff - COUNT_OF_HALVES }).map(
  (place) => String.fromCodePoint(place < HALVES ? place : place + COUNT_OF_HALVES),
  (text) => {
    const point = typeof text === 'string' ? text.codePointAt(0) : undefined;
    if (point === undefined || String.fromCodePoint(point) !== text || !text.isWellFormed())
      throw new Error('not one character');
    return point < HALVES ? point : point - COUNT_OF_HALVES;
  },
);
