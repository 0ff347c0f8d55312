import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { logFaultsTo } from '../core/faults.ts';
import { OutputCommit, type Writes } from './output-commit.ts';

const cell = (key: string, value = 'x'): ReadonlyMap<string, string> => new Map([[key, value]]);

/** A disk that is done when the test says so. */
function disk({ recovers = false } = {}) {
  const commits: { writes: Writes; done: (error: unknown) => void }[] = [];
  let now = 0;
  const failures: Error[] = [];
  const lost: (readonly string[])[] = [];
  const outputCommit = new OutputCommit({
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
  return { outputCommit, commits, failures, lost, pass: (ms: number) => void (now += ms) };
}

test('on a clean store nothing waits', () => {
  const { outputCommit } = disk();
  expect(outputCommit.turn(undefined, [])).toBeUndefined();
});

test('messages of a turn wait until its commit is on the disk', () => {
  const { outputCommit, commits } = disk();
  const out: string[] = [];
  outputCommit.turn(cell('a'), [])?.then(
    () => out.push('sent'),
    () => out.push('lost'),
  );
  outputCommit.afterTurn(true);
  expect([out, commits.length]).toEqual([[], 1]);
  commits[0]?.done(undefined);
  expect(out).toEqual(['sent']);
});

test('a read-only turn after an uncommitted one waits for it', () => {
  const { outputCommit, commits } = disk();
  const out: string[] = [];
  outputCommit.turn(cell('a'), []);
  outputCommit.afterTurn(true);
  outputCommit.turn(undefined, [])?.then(
    () => out.push('answer'),
    () => {},
  );
  expect(out).toEqual([]);
  commits[0]?.done(undefined);
  expect(out).toEqual(['answer']);
});

test('turns that end while a commit is under way form the next one, and go as soon as it is done', () => {
  const { outputCommit, commits } = disk();
  for (const key of ['a', 'b', 'c']) {
    outputCommit.turn(cell(key), []);
    outputCommit.afterTurn(true);
  }
  expect(commits.map(({ writes }) => [...writes.cells.keys()])).toEqual([['a']]);
  commits[0]?.done(undefined);
  expect(commits.map(({ writes }) => [...writes.cells.keys()])).toEqual([['a'], ['b', 'c']]);
});

test('a batch closes at 256 turns or after 5 ms, even if messages are waiting', () => {
  const { outputCommit, commits, pass } = disk();
  for (let i = 0; i < 255; i += 1) {
    outputCommit.turn(cell(`k${i}`), []);
    outputCommit.afterTurn(false);
  }
  expect(commits.length).toBe(0);
  outputCommit.turn(cell('last'), []);
  outputCommit.afterTurn(false);
  expect(commits.length).toBe(1);
  commits[0]?.done(undefined);
  outputCommit.turn(cell('slow'), []);
  outputCommit.afterTurn(false);
  expect(commits.length).toBe(1);
  pass(5);
  outputCommit.afterTurn(false);
  expect(commits.length).toBe(2);
});

test('a failed commit tells everything that waits, now and later, and nothing is committed after it', () => {
  const { outputCommit, commits, failures } = disk();
  const out: string[] = [];
  const told = (name: string): [() => void, (why: Error) => void] => [
    () => out.push(`${name} sent`),
    (why) => out.push(`${name} ${(why as { code?: string }).code}`),
  ];
  outputCommit.turn(cell('a'), [])?.then(...told('a'));
  outputCommit.afterTurn(true);
  outputCommit.turn(cell('b'), [])?.then(...told('b'));
  commits[0]?.done(new Error('EIO'));
  outputCommit.turn(cell('c'), [])?.then(...told('c'));
  outputCommit.afterTurn(true);
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
        const { outputCommit, commits } = disk();
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
            const batch = outputCommit.turn(act === 'write' ? cell(`k${turn}`) : undefined, []);
            if (batch === undefined) leave();
            else batch.then(leave, () => {});
          } else if (act === 'idle') outputCommit.afterTurn(true);
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

test('an internal error in one effect is logged and told to its waiter; the other effects leave', () => {
  const faults: unknown[] = [];
  onTestFinished(logFaultsTo((error) => void faults.push(error)));
  const { outputCommit, commits } = disk();
  const out: string[] = [];
  const injected = new Error('a fault in an effect');
  const batch = outputCommit.turn(cell('a'), []);
  batch?.then(
    () => {
      throw injected;
    },
    ({ code }: { code?: string }) => out.push(`told ${code}`),
  );
  batch?.then(
    () => out.push('sent'),
    () => out.push('lost'),
  );
  outputCommit.afterTurn(true);
  commits[0]?.done(undefined);
  expect(out).toEqual(['told unknown-outcome', 'sent']);
  expect(faults).toEqual([injected]);
});
