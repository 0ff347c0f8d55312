/** The body of an answer: how much of it waits here. Its connection is only told to pause and to go on. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AnswerBody } from './body.ts';

const KIB = 1024;
const HIGH = 256 * KIB;

/** A connection that sends what it is let, part by part, and counts what the reader has not taken. */
function paced(partBytes: number) {
  const body = new AnswerBody(Number.MAX_SAFE_INTEGER, undefined, () => {});
  let going = true;
  let pushed = 0;
  let taken = 0;
  body.begin({ pause: () => void (going = false), resume: () => void (going = true) });
  return {
    /** Sends until it is told to pause, or `most` parts have left. */
    send(most: number): number {
      let sent = 0;
      for (; going && sent < most; sent += 1) {
        body.push(Buffer.alloc(partBytes));
        pushed += partBytes;
      }
      return sent;
    },
    async read(max: number): Promise<void> {
      taken += (await body.source.next(max))?.length ?? 0;
    },
    get waiting(): number {
      return pushed - taken;
    },
  };
}

test('at most 256 KiB and one part wait, and reading half of them lets the server go on', async () => {
  const answer = paced(64 * KIB);
  expect(answer.send(1_000)).toBe(5);
  expect(answer.waiting).toBe(HIGH + 64 * KIB);
  for (let read = 0; read < 2; read += 1) await answer.read(64 * KIB);
  expect(answer.send(1_000)).toBe(0);
  await answer.read(64 * KIB);
  expect(answer.send(1_000)).toBe(3);
});

test('whatever the sizes of parts and reads, no more waits, and the server never waits for ever', async () => {
  const sizes = fc.integer({ min: 1, max: 200 * KIB });
  await fc.assert(
    fc.asyncProperty(sizes, fc.array(sizes, { maxLength: 40 }), async (partBytes, reads) => {
      const answer = paced(partBytes);
      for (const max of reads) {
        answer.send(1_000);
        expect(answer.waiting).toBeLessThanOrEqual(HIGH + partBytes);
        if (answer.waiting > 0) await answer.read(max);
      }
      while (answer.waiting > HIGH / 2) await answer.read(64 * KIB);
      expect(answer.send(1)).toBe(1);
    }),
    { numRuns: 50 },
  );
});
