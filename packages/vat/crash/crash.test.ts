/**
 * What was acknowledged is there, and what left was committed: through kill -9 and through power cuts.
 *
 * 100 of each where there is a simulated disk: a process that dies is checked as the kill left its store, and again as the disk
 * would hold it. `npm run crash -- --cuts 1000` is the long run. The mutants that must be caught here (`synchronous=NORMAL`,
 * no fsync of folders, send before commit) fall within the first five cuts.
 */
import { expect, test } from 'vitest';
import { needs, requires } from '../../../test/needs.ts';
import { chanceSeed } from '../../../test/seed.ts';
import { type Storm, storm } from './crash.ts';

const CUTS = 50;
/** With the real fsync. */
const KILLS = needs('linux') && needs('cc') ? 5 : CUTS;

async function survives(subject: string, mode: Storm['mode'], deaths: number): Promise<void> {
  const { faults, kills, cuts, told } = await storm({ subject, mode, cuts: deaths, seed: chanceSeed });
  expect(faults).toEqual([]);
  expect(mode === 'kill' ? kills : cuts).toBeGreaterThanOrEqual(deaths);
  expect(kills).toBeGreaterThanOrEqual(cuts);
  // Or nothing was there to be lost.
  expect(told['acknowledged']).toBeGreaterThan(deaths / 10);
  expect(told['effect']).toBeGreaterThan(deaths / 10);
}

const ledger = 'no acknowledged turn lost, no effect without its line, the ledger verifies';
const bank = 'the sum is kept, each acknowledged transfer and each message is there once';

test(`kill -9 of a ledger, ${KILLS} times: ${ledger}`, () => survives('ledger', 'kill', KILLS), 300_000);
test(`kill -9 of a durable bank, ${KILLS} times: ${bank}`, () => survives('bank', 'kill', KILLS), 300_000);

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
