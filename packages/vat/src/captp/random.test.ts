/**
 * Random programs of two and three parties: nothing is lost, doubled, overtaken or left.
 *
 * `HOB_CAPTP_RUNS=20000 npx vitest run packages/vat/src/captp/random.test.ts` runs that many of each kind.
 */
import fc from 'fast-check';
import { describe, test } from 'vitest';
import { volume } from '../../../../test/depth.ts';
import { type Program, programs, type Reply } from '../../test/captp-programs.ts';
import { play } from '../../test/captp-world.ts';
import type { DialectName } from './captp.ts';

const asked = Number(process.env['HOB_CAPTP_RUNS'] ?? 0);
const limit = asked === 0 ? 120_000 : 3_600_000;

const turns = { do: 'turns', count: 2 } as const;
const arrives = (end: 0 | 1) => ({ do: 'deliver', wire: 0, end, frames: 2 }) as const;
const send = (to: number | 'last', reply: Reply, args: readonly (number | 'own')[] = []): Program['steps'][number] => ({
  do: 'send',
  by: 1,
  to,
  args,
  reply,
  then: 'data',
  only: false,
  deep: false,
  follow: args.length > 0,
});
/** An object goes there and comes home as an answer, while messages to the answer are still on their way. */
const comesHome: Program = {
  parties: 2,
  oneMeter: true,
  steps: [send(0, 'argument', ['own']), turns, arrives(0), turns, send('last', 'data'), arrives(1), turns, send('last', 'data')], // biome-ignore format: one line
};

describe.each<DialectName>(['hob.1', 'captp'])('%s', (dialect) => {
  test(
    'each call is answered once or broken, order is kept, nothing is left after close',
    async () => {
      await fc.assert(
        fc.asyncProperty(programs(60), (program) => play(program, dialect)),
        { numRuns: asked || volume(80, 250), examples: [[comesHome]] },
      );
    },
    limit,
  );
});

test(
  'when nobody holds anything any more, the tables are as they were at the beginning',
  async () => {
    await fc.assert(
      fc.asyncProperty(programs(25, { cuts: false }), (program) => play(program, 'hob.1', true)),
      { numRuns: asked || volume(5, 15) },
    );
  },
  limit,
);
