/** The attack on operations of which one call looks at many names. */
import { type Doors, LANES, pairsOf } from '../arena.ts';
import { type Cell, count, doorsOf, nothing, sized } from '../cell.ts';

const treeDoors = 16;
const trees: readonly Doors[] = Array.from({ length: LANES }, (_, lane) => ({
  in: `tree${lane}`,
  links: `held${lane}`,
  directories: treeDoors,
  files: 0,
}));

export const many: readonly Cell[] = [
  {
    name: 'tree, directories swapped',
    ...doorsOf(64, 0),
    through: (given) => count(given, '/secret'),
    cap: async (cap) => (await cap.tree('doors')).entries.map((entry) => entry.path).join(),
    control: async (naive) => (await naive.glob('doors')).join(),
  },
  {
    name: 'entries, many files swapped',
    ...doorsOf(0, 64),
    // Twice as many names: each pair is two of them, and each is looked at.
    met: 128,
    through: (given) => count(given, 'file'),
    cap: async (cap) =>
      (await cap.entries('doors')).map(({ kind, size }) => (kind === 'file' ? `file${sized(size)}` : '')).join(),
    control: async (naive) => (await naive.entries('doors')).map(sized).join(),
  },
  {
    name: 'remove recursive, directories in it swapped',
    swap: ['exchange', ...trees.flatMap(pairsOf).flat()],
    doors: trees,
    met: treeDoors,
    mend: (arena, lane) => trees.slice(lane, lane + 1).forEach(arena.plant),
    cap: (cap, lane) => nothing(cap.remove(`tree${lane}`, { recursive: true })),
    control: (naive, lane) => nothing(naive.removeTree(`tree${lane}`)),
  },
  {
    name: 'search, directories and files swapped',
    ...doorsOf(16, 48),
    through: (given) => count(given, 'inside'),
    cap: async (cap) => JSON.stringify(await cap.search('side', { path: 'doors' })),
    control: (naive) => naive.search('doors'),
  },
  {
    // A pattern is looked for in a thread of its own.
    name: 'search for a pattern, directories and files swapped',
    ...doorsOf(16, 48),
    through: (given) => count(given, 'inside'),
    cap: async (cap) => JSON.stringify(await cap.search({ pattern: 'si.e' }, { path: 'doors' })),
    control: (naive) => naive.search('doors'),
  },
  {
    name: 'glob, directories swapped',
    ...doorsOf(64, 0),
    through: (given) => count(given, '/secret'),
    cap: async (cap) => (await cap.glob('doors/**')).join(),
    control: async (naive) => (await naive.glob('doors')).join(),
  },
];
