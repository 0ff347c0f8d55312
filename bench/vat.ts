/**
 * The cost of a call, a change of state, a turn and a message, beside the bare method and beside
 * `@endo/far`.
 *
 * Everything runs locked down, with a meter and with an observer that reads the record of the turn, as in
 * the host.
 */
import { execFileSync } from 'node:child_process';
import { E as endo, Far } from '@endo/far';
import { CapError, type Definition, define, E, openVats, spawn } from '@hob/vat';
import { type Case, percentile, type Suite } from './measure.ts';
import { limitCases } from './vat-limits.ts';

interface Counter {
  read(): number;
  next(): number;
}
const Counter: Definition<Counter, [count: number]> = define('Counter', (bcom, count) => ({
  read: () => count,
  next: () => bcom(Counter(count + 1), count),
}));

let records = 0;
const vats = await openVats({
  observe: (turn) => {
    if (turn.code === 'ok') records += 1;
  },
});
const vat = vats.vat('bench', { meter: vats.meter('bench') });
const counter = await vat.spawn(Counter(0));
const many = await vat.turn(() => Array.from({ length: 1000 }, () => spawn(Counter(0))));

function bare(): Counter {
  let count = 0;
  return {
    read: () => count,
    next: () => {
      count += 1;
      return count - 1;
    },
  };
}
const local = bare();
const locals = Array.from({ length: 1000 }, bare);
const far = Far('Counter', bare());

// The results are used, so that no compiler may leave out their computation.
let sum = 0;

/** `n` calls within one turn; `body` is handed the near reference. */
const inTurn =
  (body: (near: Counter, n: number) => number) =>
  async (n: number): Promise<number> => {
    let ns = 0;
    await vat.turn(() => {
      // In a turn of its own vat a far reference is near.
      const near = counter as unknown as Counter;
      const began = performance.now();
      sum += body(near, n);
      ns = ((performance.now() - began) * 1e6) / n;
    });
    return ns;
  };

const readAll = (it: Counter, n: number): number => {
  let total = 0;
  for (let i = 0; i < n; i += 1) total += it.read();
  return total;
};
const nextAll = (it: Counter, n: number): number => {
  let total = 0;
  for (let i = 0; i < n; i += 1) total += it.next();
  return total;
};
const nextEach = (all: readonly Counter[], n: number): number => {
  let total = 0;
  for (let i = 0; i < n; i += 1) total += (all[i % all.length] as Counter).next();
  return total;
};
// The peer has loops of its own: one that had seen both would be compiled for neither.
const readBare = (it: Counter, n: number): number => {
  let total = 0;
  for (let i = 0; i < n; i += 1) total += it.read();
  return total;
};
const nextBare = (it: Counter, n: number): number => {
  let total = 0;
  for (let i = 0; i < n; i += 1) total += it.next();
  return total;
};
const nextBareEach = (all: readonly Counter[], n: number): number => {
  let total = 0;
  for (let i = 0; i < n; i += 1) total += (all[i % all.length] as Counter).next();
  return total;
};

/** The turns alone: 1,000 messages are posted before the clock starts, and run when this job is over. */
async function turns(n: number): Promise<number> {
  let ms = 0;
  for (let done = 0; done < n; done += 1000) {
    for (let i = 1; i < 1000; i += 1) E.sendOnly(counter).next();
    const last = E(counter).next();
    const began = performance.now();
    await last;
    ms += performance.now() - began;
  }
  return (ms * 1e6) / n;
}

interface Tens {
  /** Changes ten actors, and keeps that or throws. */
  change(fail: boolean): void;
}
const Tens: Definition<Tens, [counters: readonly Counter[]]> = define('Tens', (_bcom, counters) => ({
  change: (fail) => {
    for (const one of counters) one.next();
    if (fail) throw tenUndone;
  },
}));
// One error for all turns: making one is not what is measured.
const tenUndone = new CapError('denied', 'this turn is undone: ask again');
const tens = await vat.turn(() => spawn(Tens(Array.from({ length: 10 }, () => spawn(Counter(0)) as never))));

/** Turns of ten changes each, posted 1,000 at a time before the clock starts. */
const turnsOfTen =
  (fail: boolean) =>
  async (n: number): Promise<number> => {
    let ms = 0;
    for (let done = 0; done < n; done += 1000) {
      const all = Array.from({ length: 1000 }, () => E(tens).change(fail));
      const began = performance.now();
      await Promise.allSettled(all);
      ms += performance.now() - began;
    }
    return (ms * 1e6) / n;
  };

const near = (goal: number): { text: string; met: (row: { ours: number }) => boolean } => ({
  text: `>= ${goal} M/s`,
  met: ({ ours }) => ours <= 1000 / goal,
});

const calls: readonly Case[] = [
  {
    name: 'near read vs bare method',
    n: 300_000,
    ours: inTurn(readAll),
    peer: (n) => void (sum += readBare(local, n)),
    goal: near(5),
  },
  {
    name: 'near become vs bare closure',
    n: 200_000,
    ours: inTurn(nextAll),
    peer: (n) => void (sum += nextBare(local, n)),
    goal: near(2),
  },
  {
    name: 'near become of 1,000 actors vs 1,000 closures',
    n: 100_000,
    ours: inTurn((_near, n) => nextEach(many as unknown as readonly Counter[], n)),
    peer: (n) => void (sum += nextBareEach(locals, n)),
    goal: near(2),
  },
  {
    name: 'a turn of one actor vs bare method',
    n: 20_000,
    ours: turns,
    peer: (n) => void (sum += nextBare(local, n)),
    goal: { text: '<= 1 us over it', met: ({ ours, peer }) => ours - peer <= 1000 },
  },
  {
    name: 'a turn of ten changes, undone vs kept',
    n: 10_000,
    ours: turnsOfTen(true),
    peer: turnsOfTen(false),
    goal: { text: '<= 1.5 x', met: ({ ratio }) => ratio <= 1.5 },
  },
  {
    name: 'E(near).m() from host to answer vs @endo/far',
    n: 20_000,
    ours: async (n) => {
      for (let i = 0; i < n; i += 1) sum += await E(counter).next();
    },
    peer: async (n) => {
      for (let i = 0; i < n; i += 1) sum += await endo(far).next();
    },
    goal: { text: '<= 3 us, <= 0.2 x', met: ({ ours, ratio }) => ours <= 3000 && ratio <= 0.2 },
  },
  {
    name: '1,000 E(near).m() at once vs @endo/far',
    n: 20_000,
    ours: async (n) => {
      for (let i = 0; i < n; i += 1000) {
        const answers = await Promise.all(Array.from({ length: 1000 }, () => E(counter).next()));
        sum += answers.length;
      }
    },
    peer: async (n) => {
      for (let i = 0; i < n; i += 1000) {
        const answers = await Promise.all(Array.from({ length: 1000 }, () => endo(far).next()));
        sum += answers.length;
      }
    },
  },
];

const memory: Case = {
  name: 'memory of an awake cell, of 1,000,000 vs bare closures',
  n: 1_000_000,
  rounds: 1,
  unit: 'bytes',
  ours: (n) => heapOf('ours', n),
  peer: (n) => heapOf('peer', n),
  goal: { text: '<= 600 bytes', met: ({ ours }) => ours <= 600 },
};

/** Measured in a process that does nothing else. */
function heapOf(side: string, n: number): number {
  const program = new URL('vat-memory.ts', import.meta.url).pathname;
  const out = execFileSync(process.execPath, [...process.execArgv, program, side, String(n)], { encoding: 'utf8' });
  return Number(out);
}

// ---- fairness

interface Busy {
  work(): number;
}
/** About 20 us of work, which is what a small tool call takes. */
const Busy: Definition<Busy, []> = define('Busy', () => ({
  work: () => {
    let total = 0;
    for (let i = 0; i < 20_000; i += 1) total = (total + i * 7) % 1_000_003;
    return total;
  },
}));

const limits = await limitCases(vat);

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
const quiet = vats.vat('quiet', { meter: vats.meter('quiet') });
const probe = await quiet.spawn(Counter(0));
const flooded = vats.vat('flooded', { meter: vats.meter('flooded') });
const busy = await flooded.spawn(Busy());

/** p99 in ms of another session's turn, looked at every 2 ms for as long as `going`. */
async function p99While(going: () => boolean): Promise<number> {
  const samples: number[] = [];
  while (going()) {
    const asked = performance.now();
    await pause(2);
    await E(probe).read();
    // The timer counts: a loop that is held up answers late, whoever holds it.
    samples.push(performance.now() - asked - 2);
  }
  return percentile(samples, 99);
}

const flood: Case = {
  name: "another meter's turn under a flood of 50,000 vs idle (p99)",
  n: 50_000,
  rounds: 5,
  unit: 'ms',
  ours: async (n) => {
    let left = true;
    for (let i = 1; i < n; i += 1) E.sendOnly(busy).work();
    const last = E(busy)
      .work()
      .then(() => {
        left = false;
      });
    const p99 = await p99While(() => left);
    await last;
    return p99;
  },
  peer: () => {
    const until = performance.now() + 1000;
    return p99While(() => performance.now() < until);
  },
  goal: { text: '<= idle + 10 ms', met: ({ ours, peer }) => ours <= peer + 10 },
};

export const suite: Suite = {
  name: 'vat',
  cases: [...calls, ...limits, flood, memory],
  async close() {
    await vats.close();
    if (records === 0 || Number.isNaN(sum)) throw new Error('nothing was measured');
  },
};
