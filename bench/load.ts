/** Measures how busy the machine is before a suite. Figures that wait for a disk or a wake-up suffer from that. */
import { cpus } from 'node:os';

/** Returns how many processors other work keeps busy in the next `ms`, on average: 0 on an idle machine. */
export async function otherWork(ms = 1000): Promise<number> {
  const before = cpus();
  await new Promise((done) => setTimeout(done, ms));
  const after = cpus();
  return after.reduce((sum, { times }, n) => sum + busyShare(before[n]?.times, times), 0);
}

type Times = ReturnType<typeof cpus>[number]['times'];
const total = ({ user, nice, sys, irq, idle }: Times): number => user + nice + sys + irq + idle;

function busyShare(before: Times | undefined, after: Times): number {
  // The processor was added meanwhile.
  if (before === undefined) return 0;
  const all = total(after) - total(before);
  return all === 0 ? 0 : 1 - (after.idle - before.idle) / all;
}

/** Returns a line for a person, to print below a table. */
export function loadText(loads: Readonly<Record<string, number>>): string {
  const each = Object.entries(loads).map(([suite, load]) => `${suite} ${load.toFixed(1)}`);
  return `other work before each suite, in processors (this machine has ${cpus().length}): ${each.join(', ')}`;
}
