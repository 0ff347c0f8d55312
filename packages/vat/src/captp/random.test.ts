/**
 * Random programs of two and three parties: nothing is lost, doubled, overtaken or left.
 *
 * `HOB_CAPTP_RUNS=20000 npx vitest run packages/vat/src/captp/random.test.ts` runs that many of each kind.
 */
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { play, programs } from '../../test/captp-programs.ts';
import type { DialectName } from './captp.ts';

const asked = Number(process.env['HOB_CAPTP_RUNS'] ?? 0);
const runs = (usual: number): { numRuns: number } => ({ numRuns: asked || usual });
const limit = asked === 0 ? 20_000 : 3_600_000;

describe.each<DialectName>(['hob.1', 'captp'])('%s', (dialect) => {
  test(
    'each call is answered once or broken, order is kept, nothing is left after close',
    async () => {
      await fc.assert(
        fc.asyncProperty(programs(60), (program) => play(program, dialect)),
        runs(100),
      );
    },
    limit,
  );
});

test(
  'when nobody holds anything any more, the tables are as they were at the beginning',
  async () => {
    await fc.assert(
      fc.asyncProperty(programs(25, { cuts: false, releases: true }), (program) => play(program, 'hob.1', true)),
      runs(20),
    );
  },
  limit,
);
