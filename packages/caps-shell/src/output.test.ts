/** Head and tail, against the simplest thing that could be right. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { KEPT, KeptOutput } from './output.ts';

const pattern = Uint8Array.from({ length: 9 * 3 * KEPT + 251 }, (_, n) => n % 251);
/** `size` bytes that encode their own offsets. */
const bytes = (from: number, size: number): Uint8Array => pattern.subarray(from, from + size);

test('for chunks of any size the head and the tail are kept, and every kept byte is read unchanged', () => {
  const piece = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.constantFrom(KEPT - 1, KEPT, KEPT + 1, 3 * KEPT, 70_000));
  fc.assert(
    fc.property(
      fc.array(piece, { maxLength: 9 }),
      fc.nat(),
      fc.integer({ min: 1, max: 2 * KEPT }),
      (sizes, at, max) => {
        const kept = new KeptOutput();
        let total = 0;
        for (const size of sizes) {
          kept.add(bytes(total, size));
          total += size;
        }
        expect(kept.total).toBe(total);
        expect(kept.left).toBe(Math.max(0, total - 2 * KEPT));
        if (total === 0) return;
        const offset = at % total;
        const [got, next] = kept.read(offset, max);
        const from = next - got.length;
        // In a dropped range: the bytes after it.
        expect(from).toBe(offset < KEPT ? offset : Math.max(offset, total - KEPT));
        expect(got.length).toBeGreaterThan(0);
        expect(Buffer.compare(got, bytes(from, got.length))).toBe(0);
      },
    ),
    { numRuns: 60 },
  );
});

test('a million writes of one byte take no more memory than one of a million', () => {
  const kept = new KeptOutput();
  const before = process.memoryUsage().arrayBuffers;
  for (let n = 0; n < 1_000_000; n += 1) kept.add(bytes(n, 1));
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 << 20);
  expect(kept.read(0, 10)[0]).toEqual(new Uint8Array(bytes(0, 10)));
});
