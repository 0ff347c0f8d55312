import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CallEnds } from './ends.ts';

type Line = Readonly<Record<string, unknown>>;
const call = { k: 'call', grant: 'g', method: 'read', audited: true };
const result = { k: 'result', grant: 'g', method: 'read', audited: true, code: 'ok' };
const restart = { k: 'restart' };

/** The numbers of the calls without a recorded end. */
function unended(lines: readonly Line[]): readonly number[] {
  const ends = new CallEnds();
  return lines.flatMap((line, n) => ends.take({ seq: n + 1, ...line }));
}

test('a call that was under way when the host ended has no recorded end, one that is under way now may have one yet', () => {
  expect(unended([call])).toEqual([]);
  expect(unended([call, restart])).toEqual([1]);
  expect(unended([call, result, restart])).toEqual([]);
  expect(unended([call, restart, call, result, restart])).toEqual([1]);
});

test('an end belongs to a call of its grant, its method and its object', () => {
  for (const other of [{ grant: 'h' }, { method: 'write' }, { made: 'm' }])
    expect(unended([call, { ...result, ...other }, restart]), JSON.stringify(other)).toEqual([1]);
});

test('a line of a job, of a callback, or of a grant that is not audited is no end of an audited call', () => {
  const { audited: _, ...ofJob } = result;
  expect(unended([call, ofJob, restart])).toEqual([1]);
  const { audited: __, ...silent } = call;
  expect(unended([silent, restart])).toEqual([]);
});

test('a call whose turn failed has its end in its own line, and a line of the end that follows is no end of another', () => {
  const failed = { ...call, code: 'denied' };
  expect(unended([failed, restart])).toEqual([]);
  expect(unended([call, failed, { ...result, code: 'denied' }, restart])).toEqual([1]);
  expect(unended([call, failed, result, result, restart])).toEqual([]);
});

test('the count is right whatever ends when, and whatever the crash took', () => {
  const calls = fc.array(fc.record({ grant: fc.constantFrom('g', 'h'), ends: fc.boolean() }), { maxLength: 20 });
  fc.assert(
    fc.property(fc.array(calls, { maxLength: 4 }), fc.infiniteStream(fc.nat(99)), (lives, chance) => {
      const next = (below: number): number => (chance.next().value as number) % below;
      const lines: Line[] = [];
      let lost = 0;
      for (const life of lives) {
        const open: string[] = [];
        const endOne = (): void => {
          const [grant] = open.splice(next(open.length), 1);
          lines.push({ ...result, grant });
        };
        for (const { grant, ends } of life) {
          lines.push({ ...call, grant });
          if (ends) open.push(grant);
          else lost += 1;
          while (open.length > 0 && next(2) === 0) endOne();
        }
        while (open.length > 0) endOne();
        lines.push(restart);
      }
      expect(unended(lines).length).toBe(lost);
    }),
  );
});
