/**
 * Nobody waits for a program forever: reads, returns and waits in every order, with long output on both
 * streams.
 */
import { type ByteSource, captp, driverOf, E, type Far, memoryPair } from '@hob/vat';
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { code, shell, textOf } from '../test/shell.ts';
import type { Ended, Job, SentJob, ShellCap } from './index.ts';

const test = requires('linux', 'cc', 'userns');

const EACH = 400_000;
/** By turns, each time more than pipes and the window hold. */
const LONG = `for i in 1 2; do head -c ${EACH / 2} /dev/zero | tr "\\0" o; head -c ${EACH / 2} /dev/zero | tr "\\0" e >&2; done; exit 3`;

/** A job as its holder has it. */
interface Held {
  readonly out: Pick<ByteSource, 'next' | 'return'>;
  readonly err: Pick<ByteSource, 'next' | 'return'>;
  wait(): Promise<Ended>;
}
const ACTS: Readonly<Record<string, (job: Held) => Promise<unknown>>> = {
  'read of stdout': ({ out }) => out.next(10),
  'read of stderr': ({ err }) => err.next(10),
  'stdout given up': ({ out }) => out.return(),
  'stderr given up': ({ err }) => err.return(),
  wait: (job) => job.wait(),
};
const NAMES = Object.keys(ACTS);
/** All sequences of up to `most` different acts. */
const orders = (most: number, taken: readonly string[] = []): (readonly string[])[] => [
  taken,
  ...(most === 0 ? [] : NAMES.filter((name) => !taken.includes(name)).flatMap((name) => orders(most - 1, [...taken, name]))), // biome-ignore format: one line
];
/** A digest of the output, which is too long for the report of a failed test. */
const briefly = ({ status, ended, truncated, stdout, stderr }: Ended): object => {
  const output = stdout === 'o'.repeat(EACH) && stderr === 'e'.repeat(EACH);
  return { status, ended, truncated, output };
};
const all = async (source: Pick<ByteSource, 'next'>): Promise<number> => {
  let bytes = 0;
  for (let part = await source.next(); part !== undefined; part = await source.next()) bytes += part.length;
  return bytes;
};

/** `most`: acts before the last wait. */
async function waitsForNothing(start: () => Promise<Held>, most: number): Promise<void> {
  const whole = { status: 3, ended: 'exit', truncated: false, output: true };
  for (const order of orders(most)) {
    const job = await start();
    for (const act of order) await ACTS[act]?.(job);
    expect([order, briefly(await job.wait())]).toEqual([order, whole]);
    // Without waiting for each other.
    const other = await start();
    const acts = order.map((act) => ACTS[act]?.(other));
    expect([order, briefly(await other.wait())]).toEqual([order, whole]);
    await Promise.all(acts);
  }
  for (const first of ['out', 'err'] as const) {
    const second = first === 'out' ? 'err' : 'out';
    // One stream only, and then the other.
    const one = await start();
    expect(await all(one[first])).toBe(EACH);
    expect(await all(one[second])).toBe(EACH);
    expect(briefly(await one.wait())).toEqual(whole);
    // Both at once, and somebody waits from the beginning.
    const both = await start();
    const ended = both.wait();
    expect(await Promise.all([all(both[first]), all(both[second])])).toEqual([EACH, EACH]);
    expect(briefly(await ended)).toEqual(whole);
    // One is begun and given up.
    const some = await start();
    await some[first].next(10);
    await some[first].return();
    expect(await all(some[second])).toBe(EACH);
    expect(briefly(await some.wait())).toEqual(whole);
  }
}

test('in this process next, return and wait end in every order', async () => {
  const sh = await shell({ limits: { wallMs: 60_000 } });
  await waitsForNothing(async () => {
    const job: Job = await sh.spawn(LONG);
    return { out: job.stdout, err: job.stderr, wait: () => job.wait() };
  }, 2);
});

for (const dialect of ['hob.1', 'captp'] as const)
  test(`over a wire (${dialect}): next, return and wait end in every order`, async () => {
    const sh = await shell();
    const [here, there] = memoryPair();
    const server = captp(here, { bootstrap: driverOf<ShellCap>(sh), dialect });
    const client = captp<ShellCap>(there, { dialect });
    await waitsForNothing(async () => {
      const job = (await E(client.bootstrap).spawn(LONG)) as unknown as Far<SentJob>;
      const source = (stream: Promise<ByteSource>): Held['out'] => {
        const far = stream as unknown as Far<ByteSource>;
        return { next: async (max) => await E(far).next(max), return: async () => await E(far).return() };
      };
      return {
        out: source(E(job).stdout() as never),
        err: source(E(job).stderr() as never),
        wait: async () => (await E(job).wait()) as unknown as Ended,
      };
    }, 2);
    client.close();
    await server.closed;
  });

test('a program that waits for a reader of its output still gets its input', async () => {
  const sh = await shell({ limits: { wallMs: 60_000 } });
  const job = await sh.spawn('cat');
  for (let n = 0; n < 4; n += 1) await job.write('x'.repeat(250_000));
  await job.end();
  expect((await textOf(job.stdout)).length).toBe(1_000_000);
  expect(await job.wait()).toMatchObject({ status: 0, truncated: false });
});

test('a reader that wait has overtaken is told once how much was dropped, and reads on after it', async () => {
  const sh = await shell();
  const job = await sh.spawn('head -c 3000000 /dev/zero | tr "\\0" x; echo end');
  const first = (await job.stdout.next(10))?.length ?? 0;
  expect(await job.wait()).toMatchObject({ ended: 'exit', truncated: true });
  let read = first;
  let dropped = 0;
  let tail = '';
  for (;;) {
    try {
      const part = await job.stdout.next();
      if (part === undefined) break;
      read += part.length;
      tail = Buffer.from(part).toString();
    } catch (error) {
      expect(await code(Promise.reject(error))).toBe('limit');
      expect(dropped).toBe(0);
      dropped = Number(/^\d+/.exec((error as Error).message)?.[0]);
    }
  }
  expect(dropped).toBeGreaterThan(0);
  expect(read + dropped).toBe(3_000_004);
  expect(tail.endsWith('xend\n')).toBe(true);
});

test('two readers lose nothing, however slow, as long as nobody calls wait', async () => {
  const sh = await shell();
  const job = await sh.spawn('for i in 1 2 3; do head -c 1000000 /dev/zero; head -c 2000000 /dev/zero >&2; done');
  const slowly = async (source: ByteSource): Promise<number> => {
    let bytes = 0;
    for (let part = await source.next(50_000); part !== undefined; part = await source.next(50_000)) {
      bytes += part.length;
      for (let n = 0; n < 3; n += 1) await new Promise((resolve) => setImmediate(resolve));
    }
    return bytes;
  };
  expect(await Promise.all([slowly(job.stdout), slowly(job.stderr)])).toEqual([3_000_000, 6_000_000]);
});
