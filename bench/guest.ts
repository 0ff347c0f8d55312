/**
 * Model-written programs: a start from nothing and from the pool, a call of a cap, a compartment, memory,
 * many at once.
 *
 * Promise: both sides of a case start real processes and wait for a real answer, by turns. The peer of a
 * cold start is a fork that locks down and says so. The peer of a program from the pool is a bare Node that was
 * started ahead and gets the program through its pipe. The peer of a call is the same call over `hob.1` on a
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

/** A bare Node that runs `code`. Resolves at its first message. */
async function bareNode(code: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--input-type=module', '-e', code], {
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  await once(child, 'message');
  return child;
}

const locks = `import ${JSON.stringify(import.meta.resolve('ses'))}; lockdown({ errorTaming: 'unsafe', overrideTaming: 'severe', domainTaming: 'unsafe', consoleTaming: 'unsafe', errorTrapping: 'none', unhandledRejectionTrapping: 'none' }); process.send('up');`;
async function forked(): Promise<number> {
  let child: ChildProcess | undefined;
  const ms = await took(async () => {
    child = await bareNode(locks);
  });
  child?.kill('SIGKILL');
  return ms;
}

/** Runs the program that it is sent, and passes on its calls. It has no sandbox, no lockdown and no limits. */
const runs = `let answered;
  const ask = (text) => new Promise((done) => { answered = done; process.send({ call: text }); });
  process.on('message', async ({ program, answer }) => {
    if (program === undefined) return answered(answer);
    process.send({ value: await new Function('ask', program)(ask) });
  });
  process.send('up');`;
/** ms from the program to its first call, or to its value. */
async function bareProgram(until: 'call' | 'value'): Promise<number> {
  const child = await bareNode(runs);
  await settles();
  const ms = await took(
    () =>
      new Promise<void>((done) => {
        child.on('message', (said: { readonly call?: string; readonly value?: string }) => {
          if (said.call !== undefined) child.send({ answer: said.call });
          if (said[until] !== undefined) done();
        });
        child.send({ program: 'return (async () => await ask("x"))()' });
      }),
  );
  child.kill('SIGKILL');
  return ms;
}

/** ms from the signal to the end of a bare Node that is in an endless loop. */
async function bareKill(): Promise<number> {
  const child = await bareNode("process.send('up', () => { for (;;); });");
  await new Promise((done) => setTimeout(done, 300));
  return await took(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
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

/** The median of the MB that are not shared, of the processes with this text in their command line. */
function memoryOf(text: string): number {
  const sizes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        if (!readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(text)) return [];
        const rollup = readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8');
        return [Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1] ?? 0) / 1024];
      } catch {
        return [];
      }
    });
  return percentile(sizes, 50);
}
async function idle(n: number): Promise<number> {
  const guests = await openGuests({ spawnConfined, pool: n });
  // Afterwards as many processes wait as were wanted at once.
  await Promise.all(Array.from({ length: n + 1 }, () => guests.evaluate('return 1', { caps: {} })));
  await new Promise((done) => setTimeout(done, 4000));
  const mb = memoryOf('--max-old-space-size=320');
  await guests.close();
  return mb;
}
async function idleForks(n: number): Promise<number> {
  const children = await Promise.all(
    Array.from({ length: n }, () => bareNode(`${locks} setInterval(() => {}, 60_000);`)),
  );
  await new Promise((done) => setTimeout(done, 4000));
  const mb = memoryOf('setInterval(() => {}, 60_000)');
  for (const child of children) child.kill('SIGKILL');
  return mb;
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

async function manyForks(n: number): Promise<number> {
  let children: readonly ChildProcess[] = [];
  const ms = await took(async () => {
    children = await Promise.all(Array.from({ length: n }, () => bareNode(locks)));
  });
  for (const child of children) child.kill('SIGKILL');
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
    name: 'from the pool to the first call of a cap, vs a bare Node started ahead',
    n: 1,
    rounds: 9,
    unit: 'ms',
    ours: toFirstCall,
    peer: () => bareProgram('call'),
    goal: atMost(2.5, 'ms'),
  },
  {
    name: 'from the pool to the value, vs a bare Node started ahead',
    n: 1,
    rounds: 9,
    unit: 'ms',
    ours: fromPool,
    peer: () => bareProgram('value'),
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
    name: 'a limit: from its time to the end of the process, vs the kill of a bare Node',
    n: 1,
    rounds: 5,
    unit: 'ms',
    ours: limited,
    peer: bareKill,
    goal: atMost(100, 'ms'),
  },
  {
    name: 'memory of a process that waits (PSS, median of 4), vs one that only locks down',
    n: 4,
    rounds: 1,
    unit: 'MB',
    slow: true,
    ours: idle,
    peer: idleForks,
    goal: atMost(25, 'MB'),
  },
  {
    name: '50 at once, each with a call, without a failure, vs 50 forks that only lock down',
    n: 50,
    rounds: 1,
    unit: 'ms',
    slow: true,
    ours: many,
    peer: manyForks,
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
