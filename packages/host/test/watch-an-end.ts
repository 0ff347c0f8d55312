/**
 * Kills a process of the same user that has a store open and much memory, and looks at it until it no longer has the
 * store. Prints how often it was looked at. Arguments: the folder of the state.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { holdsState } from '../src/drivers/life.ts';

const folder = process.argv[2] as string;
// The kernel releases memory before files. Meanwhile nothing of the process can be seen.
const program = 'exec dd if=/dev/zero bs=400M count=1 3< "$0/store.db"';
const child = spawn('sh', ['-c', program, folder], { stdio: ['ignore', 'pipe', 'ignore'] });
await once(child.stdout, 'data');
child.kill('SIGKILL');
let looks = 1;
for (; holdsState(child.pid as number, folder); looks += 1);
console.log(looks);
