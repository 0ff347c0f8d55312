/**
 * Cost against size: sessions, grants, ledger lines, actors, references in a frame, directory entries and jobs, up to
 * ten times as many as a host is expected to hold.
 *
 * Each field (`growth/fields.ts`) is measured in a process of its own. The figure of a row is the exponent of an
 * operation's cost over the last decade of sizes. `--json FILE` also writes the measured points, and
 * `growth/draw.ts FILE PAGE` draws them. `--quick` takes smaller sizes.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { type Field, fields, type Operation } from './growth/fields.ts';
import { allowedFor, exponentOf, lastDecade } from './growth/fit.ts';
import type { Case, Point, Suite } from './measure.ts';

const isQuick = process.argv.includes('quick');
const running = new Set<ChildProcess>();
type Measured = ReadonlyMap<string, readonly Point[]>;

/** Runs the process of a field. Returns the points that it prints, by operation. */
async function measured(name: string, { sizes, quick }: Field): Promise<Measured> {
  const program = new URL('growth/child.ts', import.meta.url).pathname;
  const child = spawn(process.execPath, [...process.execArgv, program, name, (isQuick ? quick : sizes).join(',')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.add(child);
  const ended = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  const found = new Map<string, Point[]>();
  for await (const line of createInterface({ input: child.stdout })) {
    const { operation, n, cost } = JSON.parse(line) as Point & { readonly operation: string };
    found.set(operation, [...(found.get(operation) ?? []), { n, cost: Number(cost.toPrecision(4)) }]);
  }
  const code = await ended;
  running.delete(child);
  if (code !== 0) throw new Error(`the field ${name} ended with ${code}`);
  return found;
}

function casesOf(name: string, field: Field): readonly Case[] {
  let all: Promise<Measured> | undefined;
  const once = (): Promise<Measured> => (all ??= measured(name, field)); // biome-ignore format: one line
  return field.operations.flatMap((operation) => caseOf(name, field, { operation, once }));
}

interface Source {
  readonly operation: Operation;
  once(): Promise<Measured>;
}

function caseOf(name: string, { what, expected }: Field, { operation, once }: Source): readonly Case[] {
  const bound = operation.of === 'all' ? 'n log n' : 'log n';
  let points: readonly Point[] = [];
  const growth: Case = {
    name: `${what}: ${operation.name}`,
    n: expected * 10,
    rounds: 1,
    unit: 'exponent',
    async ours() {
      points = (await once()).get(operation.name) ?? [];
      return exponentOf(lastDecade(points));
    },
    points: () => points,
    goal: {
      text: `no worse than ${bound}`,
      met: ({ ours }) => ours <= allowedFor(lastDecade(points), operation.of),
    },
  };
  if (name !== 'ledger' || !operation.name.startsWith('open')) return [growth];
  const opening: Case = {
    name: 'open a store of 10,000,000 ledger lines, to the first durable line',
    n: 10_000_000,
    rounds: 1,
    unit: 'ms',
    slow: true,
    ours: () => points.find(({ n }) => n === 10_000_000)?.cost ?? Number.NaN,
    goal: { text: '<= 2 s', met: ({ ours }) => ours <= 2000 },
  };
  return [growth, opening];
}

export const suite: Suite = {
  name: 'growth',
  cases: Object.entries(fields).flatMap(([name, field]) => casesOf(name, field)),
  async close() {
    for (const child of running) child.kill();
  },
};
