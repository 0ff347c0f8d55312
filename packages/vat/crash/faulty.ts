/**
 * `node faulty.ts PLAN`: a process whose disk says no. Tells on descriptor 3, a line of JSON each.
 *
 * One life of the bank after the other, each in a folder of its own and with the fault that the plan names;
 * or one, which then waits to be killed.
 */
import { writeSync } from 'node:fs';
import { armed } from './control.ts';
import { type Life, live } from './subjects/faulted.ts';

/** Its one argument. */
export interface Plan {
  readonly control: string;
  readonly lives: readonly Life[];
  /** Otherwise it waits to be killed before it closes anything. */
  readonly closes: boolean;
}

const plan: Plan = JSON.parse(process.argv[2] ?? '');
for (const [index, life] of plan.lives.entries()) {
  const disk = armed(plan.control, life);
  const tell = (word: string, which: number, text = ''): void =>
    void writeSync(3, `${JSON.stringify([index, word, which, text])}\n`);
  await live(life, disk, plan.closes, tell);
  const { calls, failed, what } = disk.seen();
  tell('calls', calls);
  tell('hit', failed, what);
  tell('over', 0);
  if (!plan.closes) setInterval(() => {}, 1000);
}
