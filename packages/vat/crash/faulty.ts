/**
 * `node faulty.ts PLAN`: a process whose disk or server says no. Tells on descriptor 3, a line of JSON each.
 *
 * One life of the bank after the other, each in a store of its own and with the fault that the plan names;
 * or one, which then waits to be killed.
 */
import { writeSync } from 'node:fs';
import type { Armer } from './fault-ground.ts';
import { type Life, live } from './subjects/faulted.ts';

/** Its one argument. */
export interface Plan {
  /** A module that arms faults: an `Armer`. */
  readonly armer: string;
  readonly control: unknown;
  readonly lives: readonly Life[];
  /** Otherwise it waits to be killed before it closes anything. */
  readonly closes: boolean;
}

const plan: Plan = JSON.parse(process.argv[2] ?? '');
const { armed, through }: Armer = await import(plan.armer);
for (const [index, life] of plan.lives.entries()) {
  const disk = await armed(plan.control, life);
  const tell = (word: string, which: number, text = ''): void =>
    void writeSync(3, `${JSON.stringify([index, word, which, text])}\n`);
  const place = through === undefined ? life.place : through(plan.control, life.place);
  await live({ ...life, place }, disk, plan.closes, tell);
  const { calls, failed, what } = disk.seen();
  tell('calls', calls);
  tell('hit', failed, what);
  tell('over', 0);
  if (!plan.closes) setInterval(() => {}, 1000);
}
