/**
 * What was acknowledged is there, and what left was committed: through kill -9 and through power cuts.
 *
 * The number of cuts is what fits into the tests' time; `npm run crash -- --cuts 1000` is the long run. The mutants that must
 * be caught here (`synchronous=NORMAL`, no fsync of folders, send before commit) fall within the first five cuts.
 */
import { expect, test } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { storm } from './crash.ts';

const CUTS = 25;
const seed = Date.now() % 1_000_000; // is named in what fails

test(`kill -9, ${CUTS} times: no acknowledged turn lost, no effect without its line, the ledger verifies`, async () => {
  const { faults, cuts, told } = await storm({ subject: 'ledger', mode: 'kill', cuts: CUTS, seed });
  expect(faults).toEqual([]);
  expect(cuts).toBeGreaterThanOrEqual(CUTS);
  expect(told['acknowledged']).toBeGreaterThan(CUTS);
  expect(told['effect']).toBeGreaterThan(CUTS);
}, 120_000);

requires('linux', 'cc')(
  `the power fails, ${CUTS} times: the same, from what the disk holds`,
  async () => {
    const { faults, cuts, told } = await storm({ subject: 'ledger', mode: 'power', cuts: CUTS, seed });
    expect(faults).toEqual([]);
    expect(cuts).toBeGreaterThanOrEqual(CUTS);
    expect(told['acknowledged']).toBeGreaterThan(CUTS);
    expect(told['effect']).toBeGreaterThan(CUTS);
  },
  120_000,
);

const BANK_CUTS = 15;

test(`kill -9 of a durable bank, ${BANK_CUTS} times: the sum is kept, each acknowledged transfer and each message is there once`, async () => {
  const { faults, cuts, told } = await storm({ subject: 'bank', mode: 'kill', cuts: BANK_CUTS, seed });
  expect(faults).toEqual([]);
  expect(cuts).toBeGreaterThanOrEqual(BANK_CUTS);
  expect(told['acknowledged']).toBeGreaterThan(BANK_CUTS);
  expect(told['effect']).toBeGreaterThan(BANK_CUTS);
}, 120_000);

requires('linux', 'cc')(
  `the power fails a durable bank, ${BANK_CUTS} times: the same`,
  async () => {
    const { faults, cuts, told } = await storm({ subject: 'bank', mode: 'power', cuts: BANK_CUTS, seed });
    expect(faults).toEqual([]);
    expect(cuts).toBeGreaterThanOrEqual(BANK_CUTS);
    expect(told['acknowledged']).toBeGreaterThan(BANK_CUTS);
  },
  120_000,
);
