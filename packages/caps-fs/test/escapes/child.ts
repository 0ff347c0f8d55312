/**
 * Plays the table in a process of its own: as another user, under a filter of system calls, in a mount namespace.
 *
 *     child.ts [proc|native|auto] [mounts|half:0|half:1]
 *
 * A half meets each row with every second operation; the two halves are all of them.
 *
 * Prints one line of JSON: how many rows and cells were played, and the faults.
 */
import { type Backend, judge, plays } from './judge.ts';
import { operationNames } from './operations.ts';
import { rows } from './rows/index.ts';

const [backend = 'auto', what] = process.argv.slice(2);
const half = what?.startsWith('half:') === true ? Number(what.slice('half:'.length)) : undefined;
const played = rows.filter((row) => plays(row, what === 'mounts'));
let cells = 0;
const faults: string[] = [];
for (const [at, row] of played.entries()) {
  const some = operationNames.filter((_, n) => half === undefined || (n + at) % 2 === half);
  const judged = await judge(row, backend === 'auto' ? undefined : (backend as Backend), some);
  cells += judged.cells;
  faults.push(...judged.faults);
}
process.stdout.write(`${JSON.stringify({ rows: played.length, cells, faults })}\n`);
