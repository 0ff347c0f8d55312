/**
 * Plays the table in a process of its own: as another user, under a filter of system calls, in a mount namespace.
 *
 *     child.ts [proc|native|auto] [mounts]
 *
 * Prints one line of JSON: how many rows and cells were played, and the faults.
 */
import { type Backend, judge, plays } from './judge.ts';
import { rows } from './rows/index.ts';

const [backend = 'auto', mounts] = process.argv.slice(2);
const played = rows.filter((row) => plays(row, mounts === 'mounts'));
let cells = 0;
const faults: string[] = [];
for (const row of played) {
  const judged = await judge(row, backend === 'auto' ? undefined : (backend as Backend));
  cells += judged.cells;
  faults.push(...judged.faults);
}
process.stdout.write(`${JSON.stringify({ rows: played.length, cells, faults })}\n`);
