import fc from 'fast-check';
import { expect, test } from 'vitest';
import { OutputCommit, type Writes } from './output-commit.ts';

const cell = (key: string, value = 'x'): ReadonlyMap<string, string> => new Map([[key, value]]);

/** A disk that is done when the test says so. */
function disk({ recovers = false } = {}) {
  const commits: { writes: Writes; done: (error: unknown) => void }[] = [];
  let now = 0;
  const failures: Error[] = [];
  const lost: (readonly string[])[] = [];
  const edge = new OutputCommit({
    commit: ({ cells, lines }, done) =>
      void commits.push({ writes: { cells: new Map(cells), lines: [...lines] }, done }),
    tick: () => now,
    room: () => {},
    refuses: () => undefined,
    lost: (why, keys) => {
      failures.push(why);
      lost.push([...keys]);
      return recovers;
    },
  });
  return { edge, commits, failures, lost, pass: (ms: number) => void (now += ms) };
}

test('on a clean store nothing waits', () => {
  const { edge } = disk();
  expect(edge.turn(undefined, [])).toBeUndefined();
});

test('what a turn sends waits until its commit is on the disk', () => {
  const { edge, commits } = disk();
  const out: string[] = [];
  edge.turn(cell('a'), [])?.then(
    () => out.push('sent'),
    () => out.push('lost'),
  );
  edge.afterTurn(true);
  expect([out, commits.length]).toEqual([[], 1]);
  commits[0]?.done(undefined);
  expect(out).toEqual(['sent']);
});

test('a read-only turn after an uncommitted one waits for it', () => {
  const { edge, commits } = disk();
  const out: string[] = [];
  edge.turn(cell('a'), []);
  edge.afterTurn(true);
  edge.turn(undefined, [])?.then(
    () => out.push('answer'),
    () => {},
  );
  expect(out).toEqual([]);
  commits[0]?.done(undefined);
  expect(out).toEqual(['answer']);
});

test('turns that end while a commit is under way form the next one, and go as soon as it is done', () => {
  const { edge, commits } = disk();
  for (const key of ['a', 'b', 'c']) {
    edge.turn(cell(key), []);
    edge.afterTurn(true);
  }
  expect(commits.map(({ writes }) => [...writes.cells.keys()])).toEqual([['a']]);
  commits[0]?.done(undefined);
  expect(commits.map(({ writes }) => [...writes.cells.keys()])).toEqual([['a'], ['b', 'c']]);
});

test('a batch closes at 256 turns or after 5 ms, even if messages are waiting', () => {
  const { edge, commits, pass } = disk();
  for (let i = 0; i < 255; i += 1) {
    edge.turn(cell(`k${i}`), []);
    edge.afterTurn(false);
  }
  expect(commits.length).toBe(0);
  edge.turn(cell('last'), []);
  edge.afterTurn(false);
  expect(commits.length).toBe(1);
  commits[0]?.done(undefined);
  edge.turn(cell('slow'), []);
  edge.afterTurn(false);
  expect(commits.length).toBe(1);
  pass(5);
  edge.afterTurn(false);
  expect(commits.length).toBe(2);
});

test('a commit that fails tells all that waited, then and later, and nothing is committed after it', () => {
  const { edge, commits, failures } = disk();
  const out: string[] = [];
  const told = (name: string): [() => void, (why: Error) => void] => [
    () => out.push(`${name} sent`),
    (why) => out.push(`${name} ${(why as { code?: string }).code}`),
  ];
  edge.turn(cell('a'), [])?.then(...told('a'));
  edge.afterTurn(true);
  edge.turn(cell('b'), [])?.then(...told('b'));
  commits[0]?.done(new Error('EIO'));
  edge.turn(cell('c'), [])?.then(...told('c'));
  edge.afterTurn(true);
  expect(out).toEqual(['a unknown-outcome', 'b unknown-outcome', 'c unknown-outcome']);
  expect([commits.length, failures.length]).toEqual([1, 1]);
});

test('outputs leave in turn order, each after its own turn is durable, whatever the disk does', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.constant('write'), fc.constant('read'), fc.constant('idle'), fc.constant('disk')), {
        maxLength: 60,
      }),
      (acts) => {
        const { edge, commits } = disk();
        const out: number[] = [];
        const durable = new Set<string>();
        let turns = 0;
        let newest = -1;
        let finished = 0;
        for (const act of acts) {
          if (act === 'write' || act === 'read') {
            const turn = turns++;
            if (act === 'write') newest = turn;
            const saw = newest;
            const leave = (): void => {
              expect(saw < 0 || durable.has(`k${saw}`)).toBe(true);
              out.push(turn);
            };
            const batch = edge.turn(act === 'write' ? cell(`k${turn}`) : undefined, []);
            if (batch === undefined) leave();
            else batch.then(leave, () => {});
          } else if (act === 'idle') edge.afterTurn(true);
          else if (finished < commits.length) {
            const commit = commits[finished++];
            for (const key of commit?.writes.cells.keys() ?? []) durable.add(key);
            commit?.done(undefined);
          }
        }
        expect(out).toEqual([...out].sort((a, b) => a - b));
      },
    ),
  );
});
