/**
 * Whatever call to its disk fails, with EIO or ENOSPC, once or from then on: nothing acknowledged is lost,
 * nothing left before its commit, who waited is told, and turns go on or the vats are halted.
 *
 * Here some of the calls, always the same; `npm run crash -- --faults` takes all of them.
 */
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { inject } from './faults.ts';

const onFault = requires('linux', 'cc');

onFault(
  'a call to the disk fails: the bank is whole, who waited was told, and turns go on in the same process',
  async () => {
    const { faults, rows, calls } = await inject({ hard: false, from: 10, every: 31 }); // 10: the switch to the write-ahead log
    expect(faults).toEqual([]);
    expect(Object.values(calls).every((count) => count > 50)).toBe(true);
    for (const name of ['EIO once', 'ENOSPC once']) {
      expect(rows[name]?.wentOn, name).toBe(rows[name]?.lives);
      expect(rows[name]?.unknown, name).toBeGreaterThan(0);
      expect(rows[name]?.refused, name).toBeGreaterThan(0);
    }
    expect(rows['EIO from then on']?.halted).toBeGreaterThan(0);
    expect(rows['ENOSPC from then on']?.unavailable).toBeGreaterThan(0);
  },
  300_000,
);

onFault(
  'a call to the disk fails, then the process is killed and the power fails: the same, from what the disk holds',
  async () => {
    const { faults, rows } = await inject({ hard: true, from: 10, every: 191 });
    expect(faults).toEqual([]);
    expect(Object.keys(rows).length).toBe(4);
  },
  300_000,
);
