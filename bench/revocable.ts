/**
 * The cost of a forwarder beside the same call without it: near and by message, with a ledger line and
 * without, through a membrane, and counted on the disk. Also the cost of listing and revoking many grants.
 *
 * Everything runs locked down, with a meter and an observer, as in the host. Rounds are short.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  facet,
  type GrantActor,
  grantOf,
  membrane,
  definitions as ours,
  type Revoker,
  revocable,
} from '@hob/revocable';
import {
  type Definition,
  define,
  E,
  type Far,
  ledgerLine,
  openStore,
  openVats,
  spawn,
  type Table,
  table,
} from '@hob/vat';
import { BareCommits } from './bare-commits.ts';
import type { Case, Suite } from './measure.ts';

interface Cell {
  read(): number;
  next(): number;
  me(): Cell;
}
const Cell: Definition<Cell, [count: number]> = define('Cell', (bcom, count) => ({
  read: () => count,
  next: () => bcom(Cell(count + 1), count),
  me: () => bcom.self,
}));

let records = 0;
const observe = (turn: { readonly code: string }): void => {
  if (turn.code !== 'never') records += 1;
};

// ---- in memory

const vats = await openVats({ observe });
const vat = vats.vat('bench', { meter: vats.meter('bench') });
const [cell, facetted, granted, bordered] = (await vat.turn(() => {
  const behind = spawn(Cell(7));
  return [behind, facet(behind, ['read']), revocable(behind, {}).cap, membrane(behind, {}).cap] as never;
})) as unknown as readonly [Cell, Cell, Cell, Cell];

// The results are used, so that no compiler may leave out their computation.
let sum = 0;

/** ns per call, within turns of 1,000 calls: what they leave for their end (lines to commit) is not timed. */
const near =
  (body: () => number) =>
  async (n: number): Promise<number> => {
    let ms = 0;
    for (let done = 0; done < n; done += 1000) {
      await vat.turn(() => {
        const began = performance.now();
        for (let i = 0; i < 1000; i += 1) sum += body();
        ms += performance.now() - began;
      });
    }
    return (ms * 1e6) / n;
  };
const far =
  (x: Cell) =>
  async (n: number): Promise<void> => {
    for (let i = 0; i < n; i += 1000)
      sum += (await Promise.all(Array.from({ length: 1000 }, () => E(x).read()))).length;
  };

/** Its cost over the call without it. */
const over = (us: number) => ({
  text: `<= ${us} us over it`,
  met: ({ ours, peer }: { ours: number; peer: number }) => ours - peer <= us * 1000,
});

const calls: readonly Case[] = [
  {
    name: 'near call through a forwarder without a line vs without one',
    n: 100_000,
    ours: near(() => facetted.read()),
    peer: near(() => cell.read()),
    goal: over(0.5),
  },
  {
    name: 'near call through a grant, its line made, vs without one',
    n: 50_000,
    ours: near(() => granted.read()),
    peer: near(() => cell.read()),
    goal: over(2),
  },
  {
    name: 'near hop through a membrane, object wrapped already, line made, vs without one',
    n: 50_000,
    ours: near(() => (bordered.me() === bordered ? 1 : 0)),
    peer: near(() => (cell.me() === cell ? 1 : 0)),
    goal: over(1),
    whenMissed: 'most of it is the ledger line: see the case before',
  },
  {
    name: 'E(x).m() through a forwarder without a line vs without one, 1,000 at once',
    n: 10_000,
    ours: far(facetted),
    peer: far(cell),
  },
  {
    name: 'E(x).m() through a grant, line made, vs without one, 1,000 at once',
    n: 10_000,
    ours: far(granted),
    peer: far(cell),
  },
];

// ---- on the disk

/** A turn that changes one actor and writes one line. */
const Told: Definition<{ next(): number }, [count: number]> = define('Told', (bcom, count) => ({
  next: () => {
    ledgerLine('call', { grant: 'bench', method: 'next' }, []);
    return bcom(Told(count + 1), count);
  },
}));

interface KeptRow {
  readonly actor: GrantActor;
  readonly revoker: Revoker;
}
interface Page {
  readonly id: string;
  readonly state: string;
  readonly usesLeft: number | undefined;
}
/** As a granter keeps its grants. */
interface Book {
  grant(n: number): void;
  page(after: string): readonly Page[];
  revokeAll(): Promise<void> | undefined;
}
const Book: Definition<Book, [cell: Cell, kept: Table<KeptRow>]> = define('Book', (_bcom, inner, kept) => ({
  grant(n) {
    for (let i = 0; i < n; i += 1) {
      const id = `g${String(kept.size).padStart(7, '0')}`;
      const { actor, revoker } = grantOf(inner, { uses: 5, for: 3_600_000 }, `${id}-${inner.read()}`);
      kept.set(id, { actor, revoker });
    }
  },
  page(after) {
    const page: Page[] = [];
    for (const [id, { actor }] of kept.entries(after)) {
      if (id === after) continue;
      page.push({ id, ...actor.look() });
      if (page.length === 100) break;
    }
    return page;
  },
  revokeAll() {
    let all: Promise<void> | undefined;
    for (const [, { revoker }] of kept.entries()) {
      const stop = revoker.revoke('over');
      all = all === undefined ? stop : (E.when(all, () => stop) as unknown as Promise<void>);
    }
    return all;
  },
}));

const folder = mkdtempSync(join(tmpdir(), 'hob-bench-'));
const store = await openStore({ path: folder });
const lasting = await openVats({ store, observe, definitions: [...ours, Cell, Told, Book] });
const home = lasting.vat('bench');
const kept = await home.root('cell', () => Cell(1));
const told = await home.root('told', () => Told(0));
const counted = (await home.turn(() => grantOf(kept, { uses: 1_000_000_000 }).cap as never)) as unknown as Far<Cell>;

/** us a call: one caller that waits for each durable answer. */
const alone =
  (x: Far<{ next(): number }>) =>
  async (n: number): Promise<number> => {
    const began = performance.now();
    for (let i = 0; i < n; i += 1) sum += await E(x).next();
    return ((performance.now() - began) * 1000) / n;
  };
const GRANTS = 100_000;
let books = 1;
const bookOf = async (n: number): Promise<Far<Book>> => {
  const number = (books += 1);
  const own = await home.spawn(Cell(number));
  const book = await home.spawn(await bookFor(own));
  for (let done = 0; done < n; done += 1000) await E(book).grant(Math.min(1000, n - done));
  await lasting.settled();
  return book;
};
const bookFor = async (own: Far<Cell>): Promise<ReturnType<typeof Book>> => {
  let portrait: ReturnType<typeof Book> | undefined;
  await home.turn(() => {
    portrait = Book(own as unknown as Cell, table());
  });
  return portrait as ReturnType<typeof Book>;
};

let listed: Far<Book> | undefined;
/** The same pages of plain rows that are kept in a `Map`, each copied and frozen. */
let plain: ReadonlyMap<string, Omit<Page, 'id'>> | undefined;
function listPlain(n: number): void {
  plain ??= new Map(Array.from({ length: n }, (_, i) => [`g${i}`, { state: 'live', usesLeft: 5 }]));
  let seen = 0;
  let page: Page[] = [];
  for (const [id, row] of plain) {
    page.push(Object.freeze({ id, ...row }));
    if (page.length < 100) continue;
    seen += page.length;
    page = [];
  }
  if (seen !== n) throw new Error(`${seen} rows were listed, not ${n}`);
}
const bare = new BareCommits(folder, { grouped: true });
const disk: readonly Case[] = [
  {
    name: 'a counted call, durable, vs a durable turn with a line',
    n: 200,
    unit: 'us',
    rounds: 7,
    ours: alone(counted),
    peer: alone(told),
    // The call behind it is a durable turn of its own: two of them are what it is compared with.
    goal: { text: '<= 1.2 x a durable turn', met: ({ ratio }) => ratio <= 1.2 },
  },
  {
    name: '100,000 live grants listed in pages of 100, with what is left, vs plain rows of a Map',
    n: GRANTS,
    unit: 'ms',
    rounds: 3,
    slow: true,
    ours: async (n) => {
      listed ??= await bookOf(n);
      const began = performance.now();
      let seen = 0;
      for (let after = ''; ; ) {
        const page = await E(listed).page(after);
        seen += page.length;
        if (page.length < 100) break;
        after = page.at(-1)?.id ?? '';
      }
      if (seen !== n) throw new Error(`${seen} grants were listed, not ${n}`);
      return performance.now() - began;
    },
    peer: (n) => {
      const began = performance.now();
      listPlain(n);
      return performance.now() - began;
    },
    goal: { text: '<= 150 ms', met: ({ ours }) => ours <= 150 },
  },
  {
    name: 'revoking 10,000 grants, to the durable answer, vs 10,000 rows and lines of a bare store',
    n: 10_000,
    unit: 'ms',
    rounds: 3,
    slow: true,
    ours: async (n) => {
      const book = await bookOf(n);
      const began = performance.now();
      await E(book).revokeAll();
      return performance.now() - began;
    },
    peer: async (n) => {
      const began = performance.now();
      await Promise.all(Array.from({ length: n }, (_, i) => bare.commit(`g${i}`, 'over')));
      return performance.now() - began;
    },
    goal: { text: '<= 1 s', met: ({ ours }) => ours <= 1000 },
  },
];

export const suite: Suite = {
  name: 'revocable',
  cases: [...calls, ...disk],
  async close() {
    await vats.close();
    await bare.close();
    await lasting.close();
    await store.close();
    rmSync(folder, { recursive: true, force: true });
    if (records === 0 || Number.isNaN(sum)) throw new Error('nothing was measured');
  },
};
