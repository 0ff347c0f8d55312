/** Sleeping actors: the behaviour is freed, the encoded portrait stays, and no caller notices. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { spawn } from '../actor/actor.ts';
import { table } from '../actor/table.ts';
import type { Definition, Far, Table } from '../core/types.ts';
import { E } from '../eventual/eventual.ts';
import { openStore } from '../store/store.ts';
import { define } from '../turn/portrait.ts';
import { openVatsThrough } from '../vats/vats.ts';
import type { Commit } from './output-commit.ts';

/** The number of times that each was brought to life in this process. */
let lives: string[] = [];

interface Counter {
  next(): number;
  look(): number;
  far(other: Counter): Promise<number>;
}
const Counter: Definition<Counter, [name: string, count: number]> = define('Counter', (bcom, name, count) => {
  lives.push(name);
  return {
    next: () => bcom(Counter(name, count + 1), count + 1),
    look: () => count,
    far: (other) => E.when(E(other).next(), (n) => n + count) as Promise<number>,
  };
});
interface Team {
  add(name: string): Counter;
  at(name: string): Counter;
  sum(): number;
}
const Team: Definition<Team, [counters: Table<Counter>, first: Counter]> = define('Team', (_bcom, counters, first) => ({
  add(name) {
    const made = spawn(Counter(name, 0));
    counters.set(name, made);
    return made;
  },
  at: (name) => counters.get(name) as Counter,
  sum: () => [...counters.entries()].reduce((all, [, one]) => all + one.look(), first.look()),
}));

interface Pair {
  bump(): number;
  looks(): readonly number[];
}
const Pair: Definition<Pair, [one: Counter, two: Counter]> = define('Pair', (_bcom, one, two) => ({
  bump: () => one.next(),
  looks: () => [one.look(), two.look()],
}));

async function opened(awake: number, through: (commit: Commit) => Commit = (commit) => commit) {
  const folder = mkdtempSync(join(tmpdir(), 'hob-sleep-'));
  const store = await openStore({ path: join(folder, 'state') });
  const vats = await openVatsThrough({ store, definitions: [Counter, Pair, Team], awake }, through);
  onTestFinished(async () => {
    await vats.close();
    await store.close();
    rmSync(folder, { recursive: true });
  });
  const team = await vats.vat('v').root('team', () => Team(table(), spawn(Counter('first', 0))));
  lives = [];
  return { vats, team };
}

/** Enough turns of other actors for a round or two. */
async function others(team: Far<Team>, turns = 60): Promise<void> {
  for (let i = 0; i < turns; i += 1) await E(team).at('nobody');
}

test('an actor that nobody calls falls asleep, wakes as it was, and its reference is the same', async () => {
  const { team } = await opened(4);
  const one = await E(team).add('one');
  await E(one).next();
  for (let i = 0; i < 10; i += 1) await E(team).add(`more ${i}`);
  await E(one).look();
  lives = [];
  expect(await E(one).look()).toBe(1);
  expect(lives).toEqual([]);
  await others(team);
  expect(await E(one).look()).toBe(1);
  expect(lives).toEqual(['one']);
  expect(await E(team).at('one')).toBe(one);
  await others(team);
  // Near calls wake too, also into what fails afterwards.
  expect(await E(team).sum()).toBe(1);
  await E(one).next();
  expect(await E(one).look()).toBe(2);
});

test('while few actors are known, none falls asleep', async () => {
  const { team } = await opened(1000);
  const one = await E(team).add('one');
  await others(team);
  lives = [];
  await E(one).look();
  expect(lives).toEqual([]);
});

test('an actor whose change is not on the disk yet wakes with the change; if the change is lost, without it', async () => {
  const held: (() => void)[] = [];
  let hold = false;
  let loses = false;
  const { vats, team } = await opened(2, (commit) => (writes, done) => {
    if (hold) held.push(() => (loses ? done(new Error('lost')) : commit(writes, done)));
    else commit(writes, done);
  });
  const one = await E(team).add('one');
  await E(team).add('two');
  await E(team).add('three');
  hold = true;
  const next = E(one).next();
  // Turns that only look, and run on meanwhile.
  const looks = Array.from({ length: 60 }, () => E(team).at('two'));
  await new Promise((resolve) => setImmediate(resolve));
  lives = [];
  const look = E(one).look();
  await new Promise((resolve) => setImmediate(resolve));
  hold = false;
  for (const commit of held.splice(0)) commit();
  expect([await next, await look]).toEqual([1, 1]);
  await Promise.all(looks);
  await vats.settled();
  await others(team);
  expect(await E(one).look()).toBe(1);
  // An actor whose turn was rolled back does not come back either, asleep or not.
  hold = true;
  const lost = [E(one).next(), E(team).add('never')];
  for (let i = 0; i < 60; i += 1) lost.push(E(team).at('two'));
  while (held.length === 0) await new Promise((resolve) => setImmediate(resolve));
  hold = false;
  loses = true;
  for (const commit of held.splice(0)) commit();
  loses = false;
  for (const one of (await Promise.allSettled(lost)).slice(0, 2)) expect(one.status).toBe('rejected');
  expect(await E(one).look()).toBe(1);
  expect(await E(team).at('never')).toBe(undefined);
});

test('an actor that was collected while its change was being committed comes back with the change', async () => {
  const held: (() => void)[] = [];
  let hold = false;
  const { vats, team } = await opened(2, (commit) => (writes, done) => {
    if (hold) held.push(() => commit(writes, done));
    else commit(writes, done);
  });
  const pair = await vats.vat('v').root('pair', () => Pair(spawn(Counter('one', 0)), spawn(Counter('two', 0))));
  await vats.settled();
  hold = true;
  const bumped = E(pair).bump();
  // These turns change nothing, so they do not wait for the commit. Meanwhile the pair and its counters fall asleep.
  const others = Array.from({ length: 60 }, () => E(team).at('nobody'));
  for (let n = 0; n < 4; n += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    (globalThis as unknown as { gc(): void }).gc();
  }
  const looks = E(pair).looks();
  await new Promise((resolve) => setImmediate(resolve));
  hold = false;
  for (const commit of held.splice(0)) commit();
  expect([await bumped, await looks]).toEqual([1, [1, 0]]);
  await Promise.all(others);
});

test('a wait is answered although its actor slept meanwhile', async () => {
  const { vats, team } = await opened(3);
  const one = await E(team).add('one');
  await E(one).next();
  const slow = await vats.vat('w').spawn(Counter('slow', 0));
  const answer = E(one).far(slow);
  await others(team);
  expect(await answer).toBe(2);
});
