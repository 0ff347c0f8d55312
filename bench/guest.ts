/**
 * Model-written programs: a start from nothing and from the pool, a call of a cap, a compartment, memory,
 * many at once.
 *
 * Promise: both sides of a case start real processes and wait for a real answer, by turns. The peer of a
 * cold start is a fork that locks down and says so. The peer of a call is the same call over `hob.1` on a
 * WebSocket between two processes.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import vm from 'node:vm';
import { Worker } from 'node:worker_threads';
import { spawnConfined } from '@hob/caps-shell';
import { type Guests, openGuests } from '@hob/guest';
import { driver } from '@hob/vat';
import type { Ports } from './captp-server.ts';
import { type Client, dial } from './captp-wires.ts';
import { type Case, type Goal, percentile, type Suite } from './measure.ts';

const server: ChildProcess = fork(new URL('captp-server.ts', import.meta.url), {
  execArgv: [...process.execArgv, '--expose-gc'],
});
const [ports] = (await once(server, 'message')) as [Ports];
const peer: Client = await dial('hob.1', ports['hob.1']);

let arrived = 0;
const caps = {
  echo: driver<{ ping(text: string): Promise<string> }>({
    async ping([text]) {
      arrived = performance.now();
      return text;
    },
  }),
};
const atMost = (bound: number, unit: string): Goal => ({
  text: `<= ${bound} ${unit}`,
  met: ({ ours }) => ours <= bound,
});
const ratio = (bound: number): Goal => ({ text: `<= ${bound} x`, met: (row) => row.ratio <= bound });

async function took(act: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await act();
  return performance.now() - began;
}
const first = 'return await E(echo).ping("x")';

/** A process that is started when it is asked for, and gone afterwards. */
async function cold(): Promise<number> {
  let guests: Guests | undefined;
  const ms = await took(async () => {
    guests = await openGuests({ spawnConfined, pool: 0 });
    await guests.evaluate(first, { caps });
  });
  await guests?.close();
  return ms;
}

const locks = `import ${JSON.stringify(import.meta.resolve('ses'))}; lockdown({ errorTaming: 'unsafe', overrideTaming: 'severe', domainTaming: 'unsafe', consoleTaming: 'unsafe', errorTrapping: 'none', unhandledRejectionTrapping: 'none' }); process.send('up');`;
async function forked(): Promise<number> {
  let child: ChildProcess | undefined;
  const ms = await took(async () => {
    child = spawn(process.execPath, ['--input-type=module', '-e', locks], {
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    await once(child, 'message');
  });
  child?.kill('SIGKILL');
  return ms;
}

const pooled = await openGuests({ spawnConfined, pool: 1 });
/** Once another one waits again: the pool is what is measured. */
const settles = () => new Promise((done) => setTimeout(done, 1500));
async function fromPool(): Promise<number> {
  await settles();
  return await took(() => pooled.evaluate(first, { caps }));
}
/** The source handed over here, the call here. */
async function toFirstCall(): Promise<number> {
  await settles();
  const began = performance.now();
  await pooled.evaluate(first, { caps });
  return arrived - began;
}

/** In the program, so that only the call is measured: us for each of `n`, one after the other. */
async function guestCalls(n: number): Promise<number> {
  const program = `const go = async (n) => { for (let i = 0; i < n; i += 1) await E(echo).ping('hello') };
    await go(200); const began = now(); await go(${n}); return (now() - began) * 1000 / ${n}`;
  const { value } = await pooled.evaluate(program, { caps, limits: { cpuMs: 10_000 } });
  return value as number;
}
async function wireCalls(n: number): Promise<number> {
  for (let i = 0; i < 200; i += 1) await peer.ping();
  return (
    ((await took(async () => {
      for (let i = 0; i < n; i += 1) await peer.ping();
    })) *
      1000) /
    n
  );
}

/** From the call until the process is gone, without the time that it had. The start of the program counts. */
async function limited(): Promise<number> {
  await settles();
  const spent = pooled.evaluate('for (;;);', { caps: {}, limits: { wallMs: 300 } });
  return (await took(() => spent.catch(() => {}))) - 300;
}

/** MB that are not shared, of each process that waits. */
async function idle(n: number): Promise<number> {
  const guests = await openGuests({ spawnConfined, pool: n });
  // As many as are wanted at once is what waits afterwards.
  await Promise.all(Array.from({ length: n + 1 }, () => guests.evaluate('return 1', { caps: {} })));
  await new Promise((done) => setTimeout(done, 4000));
  const sizes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('--max-old-space-size=320')) return [];
        const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
        return [Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024];
      } catch {
        return [];
      }
    });
  await guests.close();
  return percentile(sizes, 50);
}

/** ms until the last of `n` has answered, all asked at once. Any failure ends the suite. */
async function many(n: number): Promise<number> {
  const guests = await openGuests({ spawnConfined, pool: 4 });
  const ms = await took(() =>
    Promise.all(Array.from({ length: n }, (_, i) => guests.evaluate(`return await E(echo).ping('${i}')`, { caps }))),
  );
  await guests.close();
  return ms;
}

const compartments = (n: number): void => {
  for (let i = 0; i < n; i += 1)
    new Compartment({ __options__: true, globals: { ...caps } } as never).evaluate('(async () => 1)');
};
const contexts = (n: number): void => {
  for (let i = 0; i < n; i += 1) vm.runInNewContext('(async () => 1)', { ...caps });
};
async function workers(n: number): Promise<number> {
  return (
    (await took(async () => {
      for (let i = 0; i < n; i += 1) {
        const worker = new Worker('require("worker_threads").parentPort.postMessage(1)', { eval: true, execArgv: [] });
        await once(worker, 'message');
        await worker.terminate();
      }
    })) / n
  );
}

const cases: readonly Case[] = [
  {
    name: 'cold start to the first answer vs a fork that only locks down',
    n: 1,
    rounds: 9,
    unit: 'ms',
    ours: cold,
    peer: forked,
    goal: ratio(1.4),
  },
  {
    name: 'from the pool to the first call of a cap',
    n: 1,
    rounds: 9,
    unit: 'ms',
    ours: toFirstCall,
    goal: atMost(2.5, 'ms'),
  },
  {
    name: 'from the pool to the value',
    n: 1,
    rounds: 9,
    unit: 'ms',
    ours: fromPool,
    goal: atMost(3.5, 'ms'),
  },
  {
    name: 'a compartment, with its first evaluation, vs node:vm',
    n: 200,
    ours: compartments,
    peer: contexts,
    goal: atMost(100_000, 'ns'),
  },
  {
    name: 'a call of a cap vs the same call over a WebSocket',
    n: 2000,
    rounds: 7,
    unit: 'us',
    ours: guestCalls,
    peer: wireCalls,
    goal: ratio(1.3),
  },
  {
    name: 'a limit: from its time to the end of the process',
    n: 1,
    rounds: 5,
    unit: 'ms',
    ours: limited,
    goal: atMost(100, 'ms'),
  },
  {
    name: 'memory of a process that waits (PSS, median of 4)',
    n: 4,
    rounds: 1,
    unit: 'MB',
    slow: true,
    ours: idle,
    goal: atMost(25, 'MB'),
  },
  {
    name: '50 at once, each with a call, without a failure',
    n: 50,
    rounds: 1,
    unit: 'ms',
    slow: true,
    ours: many,
    goal: atMost(3000, 'ms'),
  },
  { name: 'for scale: a bare worker thread to its first message', n: 5, rounds: 5, unit: 'ms', ours: workers },
];

export const suite: Suite = {
  name: 'guest',
  cases,
  async close() {
    peer.close();
    await pooled.close();
    const gone = once(server, 'exit');
    server.disconnect();
    await gone;
  },
};
