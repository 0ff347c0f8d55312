/**
 * The fields of the suite `growth`. A field is something that a host holds many of. It has sizes and operations.
 *
 * `expected` is as much as a host is expected to hold. The largest size is ten times that, unless that is a limit.
 */

/** One operation, measured at every size of its field. */
export interface Operation {
  readonly name: string;
  readonly unit: 'us' | 'ms';
  /** `one`: the cost of one operation while there are `n`. `all`: the cost for all `n` together. */
  readonly of: 'one' | 'all';
}

/** Something that a host holds many of. */
export interface Field {
  readonly what: string;
  readonly expected: number;
  /** `expected` is a limit: a host never has more at once. */
  readonly isLimit?: boolean;
  readonly sizes: readonly number[];
  /** For `--quick`: the smaller sizes. */
  readonly quick: readonly number[];
  readonly operations: readonly Operation[];
}

/** Reports the cost of an operation at size `n`, in the unit of the operation. */
export type Tell = (operation: string, n: number, cost: number) => void;

/** Measures a field at each of the sizes, smallest first. */
export type Measure = (sizes: readonly number[], tell: Tell) => Promise<void>;

/** Returns two sizes for each decade: 10, 30, 100, … */
const halfDecades = (from: number, to: number): readonly number[] => {
  const sizes: number[] = [];
  for (let n = from; n <= to; n *= 10) sizes.push(n, ...(n * 3 <= to ? [n * 3] : []));
  return sizes;
};
const one = (name: string, unit: 'us' | 'ms' = 'us'): Operation => ({ name, unit, of: 'one' });
const all = (name: string): Operation => ({ name, unit: 'ms', of: 'all' });

export const fields: Readonly<Record<string, Field>> = {
  sessions: {
    what: 'sessions',
    expected: 10_000,
    sizes: halfDecades(100, 100_000),
    quick: halfDecades(100, 1000),
    operations: [
      one('open one more'),
      one('enter one and call', 'ms'),
      one('end one'),
      all('list all in pages'),
      all('open the host again'),
    ],
  },
  grants: {
    what: 'grants',
    expected: 10_000,
    sizes: halfDecades(100, 100_000),
    quick: halfDecades(100, 1000),
    operations: [one('grant one more'), one('call through one'), one('revoke one'), all('list all in pages')],
  },
  ledger: {
    what: 'ledger lines',
    expected: 1_000_000,
    sizes: halfDecades(1000, 10_000_000),
    quick: halfDecades(1000, 10_000),
    operations: [
      one('open the store, first durable line', 'ms'),
      one('append one'),
      one('read the last hundred', 'ms'),
      all('verify all'),
    ],
  },
  actors: {
    what: 'actors',
    expected: 100_000,
    sizes: halfDecades(1000, 1_000_000),
    quick: halfDecades(1000, 10_000),
    operations: [
      one('open the store, first turn', 'ms'),
      one('a durable turn of one'),
      one('make one more'),
      all('a whole sweep'),
    ],
  },
  references: {
    what: 'references in a frame',
    expected: 400,
    sizes: halfDecades(10, 3000).concat(4000),
    quick: halfDecades(10, 1000),
    operations: [all('send n new ones'), all('return n new ones'), all('return n new ones through a grant')],
  },
  directory: {
    what: 'directory entries',
    expected: 10_000,
    sizes: halfDecades(100, 100_000),
    quick: halfDecades(100, 3000),
    operations: [
      one('stat one'),
      one('write a new one'),
      all('all in pages, native'),
      all('all in pages, proc'),
      all('glob that finds ten'),
    ],
  },
  jobs: {
    what: 'jobs',
    expected: 100,
    sizes: halfDecades(10, 1000),
    quick: halfDecades(10, 30),
    operations: [all('run n, eight at once')],
  },
  running: {
    what: 'jobs that run already',
    expected: 64,
    isLimit: true,
    sizes: [2, 4, 8, 16, 32, 56],
    quick: [2, 4, 8],
    operations: [one('one more', 'ms')],
  },
};
