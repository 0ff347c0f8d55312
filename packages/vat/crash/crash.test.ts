/**
 * After kill -9 and after power cuts, acknowledged turns are there, and everything that left was committed. This holds
 * for each engine.
 *
 * A store on a simulated disk is checked as the kill left it, and again as the disk would hold it. With a database the
 * host dies alone, or together with all processes of the server. `npm run crash -- --cuts 1000` is the long run. The
 * mutants that must be caught here (`synchronous=NORMAL`, no fsync of folders, send before commit, a server that
 * forgets) fall within the first five cuts.
 */
import { describe, expect, test } from 'vitest';
import { grounds } from '../../../test/crash/grounds.ts';
import { deep, volume } from '../../../test/depth.ts';
import { needs, requires } from '../../../test/needs.ts';
import { chanceSeed } from '../../../test/seed.ts';
import { type Storm, storm } from './crash.ts';

const CUTS = volume(2, 20);
/** Fewer, because the power cuts also kill processes. */
const KILLS = volume(1, 4);
/** A server takes a second to recover, and a host half a second to take over. */
const SERVER_CUTS = volume(1, 8);

const machines = {
  sqlite: {
    ...{ onKill: test, onPowerCut: requires('linux', 'cc') },
    // These kills use the real fsync.
    ...{ kills: needs('linux') && needs('cc') ? KILLS : CUTS, cuts: CUTS },
    power: 'then the power fails',
  },
  postgres: {
    ...{ onKill: requires('postgres'), onPowerCut: requires('postgres') },
    ...{ kills: volume(1, 5), cuts: SERVER_CUTS },
    power: 'and of the server with it',
  },
} as const;

const subjects = {
  ledger: {
    what: 'a ledger',
    promise: 'no acknowledged turn lost, no effect without its line, the ledger verifies',
    words: ['acknowledged', 'effect'],
  },
  bank: {
    what: 'a durable bank',
    promise: 'the sum is kept, each acknowledged transfer and each message is there once',
    words: ['acknowledged', 'effect'],
  },
  retain: {
    what: 'a ledger whose old lines are dropped and checkpoints sent',
    promise: 'the rest verifies, no line is gone that no cut tells of, each checkpoint that was sent holds',
    words: ['acknowledged', 'dropped', 'sent'],
  },
} as const;

/** If too little was committed before the kills, little could be lost. Then another storm follows, up to this many. */
const mostStorms = 4;

async function survives(
  plan: Pick<Storm, 'grounds' | 'subject' | 'mode' | 'cuts'>,
  words: readonly string[],
): Promise<void> {
  const heard: Record<string, number> = {};
  for (let n = 0; n < mostStorms; n += 1) {
    const { faults, kills, cuts, told } = await storm({ ...plan, seed: chanceSeed + n });
    expect(faults).toEqual([]);
    expect(plan.mode === 'kill' ? kills : cuts).toBeGreaterThanOrEqual(plan.cuts);
    expect(kills).toBeGreaterThanOrEqual(cuts);
    for (const word of words) heard[word] = (heard[word] ?? 0) + (told[word] ?? 0);
    if (!deep || words.every((word) => (heard[word] ?? 0) > ((n + 1) * plan.cuts) / 10)) return;
  }
  throw new Error(`the processes committed too little before they were killed: ${JSON.stringify(heard)}`);
}

describe.each(['sqlite', 'postgres'] as const)('%s', (engine) => {
  const { onKill, onPowerCut, kills, cuts, power } = machines[engine];
  for (const [subject, { what, promise, words }] of Object.entries(subjects)) {
    // Servers are slow. Outside the deep run only the bank is tested on them.
    if (engine === 'postgres' && subject !== 'bank' && !deep) continue;
    const plan = { grounds: grounds[engine], subject };
    onKill(
      `kill -9 of ${what}, ${kills} times: ${promise}`,
      () => survives({ ...plan, mode: 'kill', cuts: kills }, words),
      900_000,
    );
    onPowerCut(
      `kill -9 of ${what}, ${power}, ${cuts} times: ${promise}`,
      () => survives({ ...plan, mode: 'power', cuts }, words),
      900_000,
    );
  }
});
