/**
 * Any call of a store to its disk or its server may fail, alone or with all later calls. Nothing acknowledged is lost,
 * nothing leaves before its commit, callers that wait are told, and turns go on or the vats halt.
 *
 * These tests take some of the calls, always the same. `npm run crash -- --faults` takes all of them.
 */
import { describe, expect } from 'vitest';
import { faultGrounds } from '../../../test/crash/fault-grounds.ts';
import { deep, inDepth, volume } from '../../../test/depth.ts';
import { requires } from '../../../test/needs.ts';
import { type Injected, inject } from './faults.ts';

const SQLITE = {
  testing: requires('linux', 'cc'),
  soft: { from: 10, every: volume(193, 61) }, // 10: the switch to the write-ahead log
  hard: { from: 10, every: 383 },
  mostCalls: 50,
  /** After one of these faults, callers got `unknown-outcome`. */
  told: ['EIO once', 'ENOSPC once'],
  check({ rows }: Injected) {
    expect(rows['EIO from then on']?.halted).toBeGreaterThan(0);
    expect(rows['ENOSPC from then on']?.unavailable).toBeGreaterThan(0);
  },
};
const POSTGRES = {
  testing: requires('postgres'),
  // Only in the deep run. Each case takes seconds, because a host that is cut off waits for two.
  soft: { share: 47 },
  hard: { from: 5, share: 397 },
  mostCalls: 30,
  told: ['disk full once', 'disk full from then on', 'I/O error once', 'I/O error from then on'],
  check({ rows }: Injected) {
    // A lost connection is made anew, and the commit is found or done again.
    for (const name of ['connection cut once', 'answer lost once', 'session ended once'])
      expect([rows[name]?.unknown, rows[name]?.unavailable, rows[name]?.halted], name).toEqual([0, 0, 0]);
    expect(rows['connection cut from then on']?.halted).toBeGreaterThan(0);
  },
};

describe.each(Object.entries(deep ? { sqlite: SQLITE, postgres: POSTGRES } : { sqlite: SQLITE }))(
  '%s',
  (engine, { testing, soft, hard, mostCalls, told, check }) => {
    const grounds = faultGrounds[engine as keyof typeof faultGrounds];

    testing(
      'a call fails: the bank is whole, who waited was told, and turns go on in the same process',
      async () => {
        const done = await inject({ grounds, hard: false, ...soft });
        expect(done.faults).toEqual([]);
        expect(Object.values(done.calls).every((count) => count > mostCalls)).toBe(true);
        for (const [name, row] of Object.entries(done.rows))
          if (name.endsWith(' once')) expect(row.wentOn, name).toBe(row.lives);
        if (!deep) return;
        // A share of the cases may leave out all cases of one fault. So the faults are counted together.
        expect(told.reduce((all, name) => all + (done.rows[name]?.unknown ?? 0), 0)).toBeGreaterThan(0);
        expect(Object.values(done.rows).some(({ refused }) => refused > 0)).toBe(true);
        check(done);
      },
      900_000,
    );

    inDepth(testing)(
      'a call fails, then the process is killed and the power fails: the same, from what is left',
      async () => {
        const { faults, rows } = await inject({ grounds, hard: true, ...hard });
        expect(faults).toEqual([]);
        expect(Object.keys(rows).length).toBeGreaterThanOrEqual(4);
      },
      900_000,
    );
  },
);
