/**
 * Acknowledged turns are there, and everything that left was committed: through kill -9 and through power cuts.
 *
 * 100 of each where there is a simulated disk: a process that dies is checked as the kill left its store, and
 * again as the disk would hold it. `npm run crash -- --cuts 1000` is the long run. The mutants that must be
 * caught here (`synchronous=NORMAL`, no fsync of folders, send before commit) fall within the first five
 * cuts.
 */
import { expect, test } from 'vitest';
import { needs, requires } from '../../../test/needs.ts';
import { chanceSeed } from '../../../test/seed.ts';
import { type Storm, storm } from './crash.ts';

const CUTS = 50;
/** With the real fsync. */
const KILLS = needs('linux') && needs('cc') ? 5 : CUTS;

async function survives(
  subject: string,
  mode: Storm['mode'],
  deaths: number,
  words: readonly string[] = ['acknowledged', 'effect'],
): Promise<void> {
  const { faults, kills, cuts, told } = await storm({ subject, mode, cuts: deaths, seed: chanceSeed });
  expect(faults).toEqual([]);
  expect(mode === 'kill' ? kills : cuts).toBeGreaterThanOrEqual(deaths);
  expect(kills).toBeGreaterThanOrEqual(cuts);
  // Or nothing was there to be lost.
  for (const word of words) expect(told[word], word).toBeGreaterThan(deaths / 10);
}

const ledger = 'no acknowledged turn lost, no effect without its line, the ledger verifies';
const bank = 'the sum is kept, each acknowledged transfer and each message is there once';
const dropped = 'the rest verifies, no line is gone that no cut tells of, each checkpoint that was sent holds';
const retainWords = ['acknowledged', 'dropped', 'sent'];

test(`kill -9 of a ledger, ${KILLS} times: ${ledger}`, () => survives('ledger', 'kill', KILLS), 300_000);
test(`kill -9 of a durable bank, ${KILLS} times: ${bank}`, () => survives('bank', 'kill', KILLS), 300_000);
test(
  `kill -9 while old lines are dropped and checkpoints sent, ${KILLS} times: ${dropped}`,
  () => survives('retain', 'kill', KILLS, retainWords),
  300_000,
);

const onPowerCut = requires('linux', 'cc');
onPowerCut(
  `kill -9 of a ledger, then the power fails, ${CUTS} times: ${ledger}`,
  () => survives('ledger', 'power', CUTS),
  300_000,
);
onPowerCut(
  `kill -9 of a durable bank, then the power fails, ${CUTS} times: ${bank}`,
  () => survives('bank', 'power', CUTS),
  300_000,
);
onPowerCut(
  `kill -9 while old lines are dropped and checkpoints sent, then the power fails, ${CUTS} times: ${dropped}`,
  () => survives('retain', 'power', CUTS, retainWords),
  300_000,
);
