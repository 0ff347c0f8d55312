/**
 * A small run of the attack table (`packages/vat/attack/`). Each attack ends as its row says, and no other
 * connection is affected.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { attacks } from '../../attack/rows/index.ts';
import { play } from '../../attack/scene.ts';
import { openVictim } from '../../attack/target.ts';
import type { DialectName } from './captp.ts';

let victim: Awaited<ReturnType<typeof openVictim>>;
beforeAll(async () => {
  victim = await openVictim();
});
afterAll(() => victim.close(), 60_000);

const both: readonly DialectName[] = ['hob.1', 'captp'];
for (const dialect of both)
  for (const attack of attacks)
    if ((attack.dialects ?? both).includes(dialect))
      test(`${dialect}: ${attack.name}`, async () => {
        const { faults, others } = await play(attack, dialect, {
          port: victim.port,
          memory: victim.memory,
          full: false,
        });
        expect(faults).toEqual([]);
        expect(others).toBeGreaterThan(0);
        expect(victim.leftovers(), 'tables of closed connections').toEqual([]);
        await expect.poll(() => victim.open, { timeout: 30_000, interval: 5 }).toBe(0);
      });
