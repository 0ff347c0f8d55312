/**
 * `npm run -s node -- --expose-gc packages/vat/attack/shapes.ts [MIB]`: what calls that are never answered
 * take of the heap, for one MiB that the connection counts; a row for each shape of their arguments, in both
 * dialects. Over 1.2 the budget lets too much through.
 */
import { captp, type DialectName } from '../src/captp/captp.ts';
import type { CapTPLimits } from '../src/captp/session/limits.ts';
import { memoryPair } from '../src/captp/transport/memory-pair.ts';
import { driver } from '../src/index.ts';

const held: unknown[] = [];
const stuck = driver<{ stuck(value: unknown): unknown }>({
  stuck: (args) =>
    new Promise(() => {
      held.push(args);
    }),
});

/** JSON of an argument in each dialect; `n` makes each call's different. */
interface Shape {
  readonly name: string;
  readonly json: (n: number, dialect: DialectName) => string;
  readonly bytes?: number;
}
const times = (count: number, one: (i: number) => string): string =>
  `[${Array.from({ length: count }, (_, i) => one(i)).join(',')}]`;
const bigint = (digits: string, dialect: DialectName): string =>
  dialect === 'hob.1' ? `{"@":"bigint","v":"${digits}"}` : `{"@qclass":"bigint","digits":"${digits}"}`;
/** Records, each with other letters for its keys, or in another order. */
const shuffled = (n: number, keys: number): string =>
  times(500, (i) => {
    const left = [...'abcdefghijklmnopqrstuvwxyz'];
    let chance = n * 500 + i + 1;
    const some = Array.from({ length: keys }, () => {
      chance = (chance * 48_271) % 2_147_483_647;
      return left.splice(chance % left.length, 1)[0];
    });
    return `{${some.map((key) => `"${key}":1`)}}`;
  });

export const shapes: readonly Shape[] = [
  { name: 'nothing', json: () => '0' },
  { name: 'records with new keys', json: (n) => times(1000, (i) => `{"k${n}-${i}":${i}}`) },
  { name: 'one record of new keys', json: (n) => `{${Array.from({ length: 1000 }, (_, i) => `"k${n}-${i}":${i}`)}}` },
  { name: 'records with the same keys', json: () => times(5000, (i) => `{"a":${i},"b":1}`) },
  {
    name: 'records with 8 known keys in new orders',
    json: (n) => shuffled(n, 8),
  },
  { name: 'records with 20 known keys in new orders', json: (n) => shuffled(n, 20) },
  { name: 'empty records', json: () => times(20_000, () => '{}') },
  { name: 'empty lists', json: () => times(20_000, () => '[]') },
  { name: 'lists of one', json: () => times(20_000, (i) => `[${i}]`) },
  { name: 'numbers', json: () => times(50_000, (i) => `${i}`) },
  { name: 'fractions', json: () => times(50_000, (i) => `${i}.5`) },
  { name: 'short strings', json: (n) => times(30_000, (i) => `"${(n * 30_000 + i).toString(36)}"`) },
  { name: 'strings of 20 letters', json: (n) => times(20_000, (i) => `"${String(n * 20_000 + i).padStart(20, 'x')}"`) },
  { name: 'long strings', json: (n) => `"${n}${'x'.repeat(500_000)}"` },
  { name: 'long strings beyond Latin-1', json: (n) => `"${n}${'х'.repeat(250_000)}"` },
  { name: 'nested lists', json: () => times(300, () => `${'['.repeat(60)}${']'.repeat(60)}`) },
  { name: 'nested records', json: () => times(300, () => `${'{"a":'.repeat(60)}1${'}'.repeat(60)}`) },
  { name: 'small bigints', json: (_n, dialect) => times(10_000, (i) => bigint(`${i}`, dialect)) },
  { name: 'long bigints', json: (_n, dialect) => times(7, () => bigint('7'.repeat(16_000), dialect)) },
  {
    name: 'symbols with new names',
    json: (n, dialect) =>
      times(5000, (i) =>
        dialect === 'hob.1' ? `{"@":"symbol","v":"s${n}-${i}"}` : `{"@qclass":"symbol","name":"s${n}-${i}"}`,
      ),
  },
  {
    name: 'errors',
    json: (_n, dialect) =>
      times(900, () =>
        dialect === 'hob.1'
          ? '{"@":"error","code":"denied","message":"no"}'
          : '{"@qclass":"error","errorId":"e","message":"denied: no","name":"Error"}',
      ),
  },
  {
    name: 'undefined',
    json: (_n, dialect) => times(20_000, () => (dialect === 'hob.1' ? '{"@":"undefined"}' : '{"@qclass":"undefined"}')),
  },
  {
    name: 'bytes',
    bytes: 100_000,
    json: (_n, dialect) =>
      dialect === 'hob.1'
        ? '{"@":"bytes","at":0,"n":100000}'
        : `{"@qclass":"tagged","tag":"bytes","payload":"${'A'.repeat(133_336)}"}`,
  },
  {
    name: 'bytes, one at a time',
    bytes: 2000,
    json: (_n, dialect) =>
      times(2000, (i) =>
        dialect === 'hob.1' ? `{"@":"bytes","at":${i},"n":1}` : '{"@qclass":"tagged","tag":"bytes","payload":"AA=="}',
      ),
  },
];

const inUse = (): number => {
  const { gc } = globalThis as unknown as { gc(): void };
  gc();
  gc();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};
const quiet = async (): Promise<void> => {
  for (let i = 0; i < 5; i += 1) await new Promise((resolve) => setImmediate(resolve));
};

/** The growth of the heap, and the bytes that are counted for it. */
export async function weigh(
  { json, bytes }: Shape,
  dialect: DialectName,
  counted: number,
): Promise<{ readonly heap: number; readonly counted: number }> {
  const limits: CapTPLimits = { memoryBytes: 1 << 30 };
  const [a, b] = memoryPair();
  const host = captp(a, { dialect, bootstrap: stuck, limits });
  b.onFrame(() => {});
  if (dialect === 'captp') b.send('{"type":"CTP_BOOTSTRAP","epoch":0,"questionID":"q-1"}');
  await quiet();
  const before = inUse();
  const zero = host.stats().bytes;
  for (let n = 2; host.stats().bytes - zero < counted && n < 60_000; n += 1) {
    const arg = json(n, dialect);
    if (dialect === 'hob.1') {
      if (bytes !== undefined) b.send(new Uint8Array(bytes));
      b.send(`[["deliver",0,"stuck",[${arg}],${n}]]`);
    } else {
      const method = { body: `["stuck",[${arg}]]`, slots: [] };
      b.send(JSON.stringify({ type: 'CTP_CALL', epoch: 0, questionID: `q-${n}`, target: 'o-1', method }));
    }
    if (n % 20 === 0) await quiet();
  }
  await quiet();
  const made = { heap: inUse() - before, counted: host.stats().bytes - zero };
  held.length = 0;
  host.close();
  await host.closed;
  inUse();
  await quiet();
  return made;
}

if (import.meta.main) {
  const counted = Number(process.argv[2] ?? 16) << 20;
  const mib = (bytes: number): string => (bytes / (1 << 20)).toFixed(1).padStart(7);
  process.stdout.write('dialect  counted    heap   ratio  arguments (MiB)\n');
  for (const dialect of ['hob.1', 'captp'] as const)
    for (const shape of shapes) {
      const { heap, counted: said } = await weigh(shape, dialect, counted);
      const ratio = (heap / said).toFixed(2);
      process.stdout.write(`${dialect.padEnd(7)} ${mib(said)} ${mib(heap)} ${ratio.padStart(7)}  ${shape.name}\n`);
    }
}
