import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { logFaultsTo } from '../core/faults.ts';
import type { LedgerEntry } from '../core/ledger-entry.ts';
import { type Batch, OutputCommit, type Writes } from './output-commit.ts';

const outcome = (n: number): LedgerEntry => ({ kind: 'result', fields: { n } });
const linesOf = ({ writes }: { readonly writes: Writes }): unknown[] => writes.lines.map(({ fields }) => fields['n']);
const cell = (key: string, value = 'x'): ReadonlyMap<string, string> => new Map([[key, value]]);

/** A disk that is done when the test says so. */
function disk({ recovers = false, held = () => true }: { recovers?: boolean; held?: () => boolean } = {}) {
  const commits: { writes: Writes; done: (error: unknown) => void }[] = [];
  let now = 0;
  const timers: { readonly at: number; readonly then: () => void }[] = [];
  const failures: Error[] = [];
  const lost: (readonly string[])[] = [];
  const checks: ((error: unknown) => void)[] = [];
  const outputCommit = new OutputCommit({
    commit: ({ cells, lines }, done) =>
      void commits.push({ writes: { cells: new Map(cells), lines: [...lines] }, done }),
    confirm: (done) => void checks.push(done),
    held,
    tick: () => now,
    after: (ms, then) => void timers.push({ at: now + ms, then }),
    room: () => {},
    refuses: () => undefined,
    lost: (why, keys) => {
      failures.push(why);
      lost.push([...keys]);
      return recovers;
    },
  });
  const pass = (ms: number): void => {
    now += ms;
    for (const { then } of timers.filter(({ at }) => at <= now)) then();
    timers.splice(0, timers.length, ...timers.filter(({ at }) => at > now));
  };
  return { outputCommit, commits, checks, failures, lost, pass, timers };
}

test('on a clean store nothing waits', () => {
  const { outputCommit } = disk();
  expect(outputCommit.turn(undefined, [])).toBeUndefined();
});

test('a read-only turn waits for a check if another process may have taken the store, and leaves nothing if one has', () => {
  let held = false;
  const { outputCommit, commits, checks, failures } = disk({ held: () => held });
  const out: string[] = [];
  const reads = (name: string): void => {
    const batch = outputCommit.turn(undefined, []);
    if (batch === undefined) return void out.push(name);
    batch.then(
      () => out.push(name),
      ({ code }) => out.push(`${name} ${code}`),
    );
  };
  reads('one');
  reads('two');
  outputCommit.afterTurn(true);
  expect([out, checks.length, commits.length]).toEqual([[], 1, 0]);
  held = true;
  checks[0]?.(undefined);
  reads('three');
  expect([out, checks.length]).toEqual([['one', 'two', 'three'], 1]);
  // A check is no commit.
  expect(outputCommit.counts.commits.done).toBe(0);
  held = false;
  reads('four');
  outputCommit.afterTurn(true);
  checks[1]?.(new Error('another process has it'));
  expect(out.at(-1)).toBe('four unknown-outcome');
  expect(failures).toHaveLength(1);
  // The store has failed, so there is nothing to check.
  expect(outputCommit.turn(undefined, [])).toBeUndefined();
});

test('a commit saves the check: it also shows that this process has the store', () => {
  let held = false;
  const { outputCommit, commits, checks } = disk({ held: () => held });
  const out: string[] = [];
  const leave = (name: string): [() => void, () => void] => [() => out.push(name), () => {}];
  outputCommit.turn(undefined, [])?.then(...leave('read'));
  outputCommit.turn(cell('a'), [])?.then(...leave('change'));
  // Without a line about it, an answer could leave that nobody may get any more.
  outputCommit.turn(undefined, [outcome(1)])?.then(...leave('end of a call'));
  outputCommit.afterTurn(true);
  outputCommit.turn(undefined, [])?.then(...leave('read later'));
  expect([checks.length, commits.map(linesOf)]).toEqual([0, [[1]]]);
  held = true;
  commits[0]?.done(undefined);
  expect(out).toEqual(['read', 'change', 'end of a call', 'read later']);
  held = false;
  expect(outputCommit.turn(undefined, [outcome(2)])).toBeDefined();
  outputCommit.afterTurn(true);
  expect([checks.length, commits.map(linesOf)]).toEqual([0, [[1], [2]]]);
});

test('attack: nothing leaves when the answer to a commit or a check comes after another process may have taken the store', () => {
  let held = false;
  const { outputCommit, commits, checks, failures, lost } = disk({ held: () => held });
  const out: string[] = [];
  const leaves = (name: string, batch: Batch | undefined): void =>
    batch?.then(
      () => out.push(name),
      ({ code }) => out.push(`${name} ${code}`),
    );
  leaves('change', outputCommit.turn(cell('a'), []));
  outputCommit.afterTurn(true);
  // The other process may have changed this state since. The read waits for a commit that was done before that.
  leaves('read', outputCommit.turn(undefined, []));
  commits[0]?.done(undefined);
  expect([out, checks.length]).toEqual([[], 1]);
  leaves('read later', outputCommit.turn(undefined, []));
  // The answer to the check is late, too.
  checks[0]?.(undefined);
  expect([out, checks.length]).toEqual([[], 2]);
  held = true;
  checks[1]?.(undefined);
  expect(out).toEqual(['change', 'read', 'read later']);
  expect([outputCommit.counts.commits.done, outputCommit.newest()]).toEqual([1, undefined]);
  held = false;
  leaves('change', outputCommit.turn(cell('b'), []));
  outputCommit.afterTurn(true);
  leaves('read', outputCommit.turn(undefined, []));
  leaves('next change', outputCommit.turn(cell('c'), []));
  commits[1]?.done(undefined);
  checks[2]?.(new Error('another process has it'));
  expect(out.slice(3)).toEqual(['change unknown-outcome', 'read unknown-outcome', 'next change unknown-outcome']);
  expect([failures.length, lost, commits.length]).toEqual([1, [['b', 'c']], 2]);
});

test('after ten checks that are late too, a disk has failed, and its callers are told', () => {
  const { outputCommit, commits, checks, failures } = disk({ held: () => false });
  const out: string[] = [];
  outputCommit.turn(cell('a'), [])?.then(
    () => out.push('left'),
    ({ code }) => out.push(code),
  );
  outputCommit.afterTurn(true);
  commits[0]?.done(undefined);
  for (let n = 0; n < checks.length; n += 1) {
    expect(out).toEqual([]);
    checks[n]?.(undefined);
  }
  expect([out, checks.length, failures.length]).toEqual([['unknown-outcome'], 10, 1]);
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

test('a line that says how a call ended holds back nothing, and is on the way to the disk after 5 ms', () => {
  const { outputCommit, commits, pass } = disk();
  expect(outputCommit.turn(undefined, [outcome(1)])).toBeUndefined();
  expect(outputCommit.turn(undefined, [outcome(2)])).toBeUndefined();
  outputCommit.afterTurn(true);
  pass(4);
  expect(commits.length).toBe(0);
  pass(1);
  expect(commits.map(linesOf)).toEqual([[1, 2]]);
});

test('a line that says how a call ended joins the next commit, before the lines of later turns', async () => {
  const { outputCommit, commits, pass } = disk();
  outputCommit.turn(undefined, [outcome(1)]);
  outputCommit.turn(cell('a'), [{ kind: 'call', fields: { n: 2 } }]);
  outputCommit.turn(undefined, [outcome(3)]);
  outputCommit.afterTurn(true);
  expect(commits.map(linesOf)).toEqual([[1, 2, 3]]);
  outputCommit.turn(undefined, [outcome(4)]);
  commits[0]?.done(undefined);
  pass(5);
  expect(commits.map(linesOf)).toEqual([[1, 2, 3], [4]]);
  commits[1]?.done(undefined);
  outputCommit.turn(undefined, [outcome(5)]);
  const settled = outputCommit.settled();
  commits[2]?.done(undefined);
  await settled;
  expect(commits.map(linesOf)).toEqual([[1, 2, 3], [4], [5]]);
});

test('a turn that changes something, too, waits for its commit with all its lines', () => {
  const { outputCommit, commits } = disk();
  const out: string[] = [];
  const leave = (name: string): [() => void, () => void] => [() => out.push(name), () => {}];
  outputCommit.turn(cell('a'), [outcome(1)])?.then(...leave('changed'));
  outputCommit.turn(undefined, [outcome(2), { kind: 'call', fields: { n: 3 } }])?.then(...leave('called'));
  outputCommit.afterTurn(true);
  expect(out).toEqual([]);
  commits[0]?.done(undefined);
  expect(out).toEqual(['changed', 'called']);
});

test('a line that is no outcome holds back what its turn sends, also where an outcome stands beside it', () => {
  for (const beside of [[], [outcome(1)]]) {
    const { outputCommit, commits } = disk();
    const out: string[] = [];
    outputCommit.turn(undefined, [...beside, { kind: 'call', fields: {} }])?.then(
      () => out.push('sent'),
      () => {},
    );
    outputCommit.afterTurn(true);
    expect([out, commits.length]).toEqual([[], 1]);
    commits[0]?.done(undefined);
    expect(out).toEqual(['sent']);
  }
});

test('after a commit that failed, lines that no commit had are written if the store goes on, and only then', () => {
  for (const recovers of [true, false]) {
    const { outputCommit, commits, pass } = disk({ recovers });
    outputCommit.turn(cell('a'), []);
    outputCommit.afterTurn(true);
    outputCommit.turn(undefined, [outcome(1)]);
    commits[0]?.done(new Error('EIO'));
    pass(5);
    expect(commits.slice(1).map(linesOf)).toEqual(recovers ? [[1]] : []);
  }
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

test('outputs leave in turn order, each after its own turn is durable; no line is lost, whatever the disk does', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('write', 'read', 'outcome', 'idle', 'disk', 'time'), { maxLength: 60 }),
      (acts) => {
        const { outputCommit, commits, pass, timers } = disk();
        const out: number[] = [];
        const outcomes: number[] = [];
        const early: number[] = [];
        const durable = new Set<string>();
        let turns = 0;
        let newest = -1;
        let finished = 0;
        const finishOne = (): void => {
          const commit = commits[finished];
          if (commit === undefined) return;
          finished += 1;
          for (const key of commit.writes.cells.keys()) durable.add(key);
          commit.done(undefined);
        };
        for (const act of acts) {
          if (act === 'write' || act === 'read' || act === 'outcome') {
            const turn = turns++;
            if (act === 'outcome') outcomes.push(turn);
            if (act === 'write') newest = turn;
            const saw = newest;
            const leave = (): void => {
              // An `expect` here would throw into an effect, where errors are fenced.
              if (saw >= 0 && !durable.has(`k${saw}`)) early.push(turn);
              out.push(turn);
            };
            const batch = outputCommit.turn(
              act === 'write' ? cell(`k${turn}`) : undefined,
              act === 'outcome' ? [outcome(turn)] : [],
            );
            if (batch === undefined) leave();
            else batch.then(leave, () => {});
          } else if (act === 'idle') outputCommit.afterTurn(true);
          else if (act === 'time') pass(3);
          else finishOne();
        }
        expect(out).toEqual([...out].sort((a, b) => a - b));
        outputCommit.afterTurn(true);
        while (timers.length > 0 || finished < commits.length) {
          pass(5);
          finishOne();
        }
        expect(early).toEqual([]);
        // Each line is in one commit, in the order of the turns.
        expect(commits.flatMap(linesOf)).toEqual(outcomes);
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
