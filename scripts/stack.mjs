/**
 * How deep near calls nest is decided by the stack of the process. V8 uses 984 KiB of it unless it is told more,
 * and the system gives 8 MiB as a rule.
 *
 * Promise: the flag leaves room for the arguments and the environment, which the system puts on the same stack,
 * and for what the engine needs below its own limit. Without enough room, or where the size is not known, there is
 * no flag: a process whose stack ends before V8 expects it dies.
 *
 * Plain JavaScript for Node 18.
 */
import { readFileSync } from 'node:fs';

const KIB = 1024;
/** For the engine's own code below its limit, and for libraries. */
const RESERVE = 1280 * KIB;
/** More than any program needs that is no endless loop. */
const MOST = 64 * 1024 * KIB;

/** The flags of Node for a deep stack: none, or one. */
export function deepStack() {
  const size = Math.min(stackOfProcess(), MOST);
  const taken = [...process.argv, ...Object.entries(process.env).flat()].reduce(
    (sum, text) => sum + text.length + 16,
    0,
  );
  const room = Math.floor((size - RESERVE - 2 * taken) / KIB);
  return room > 2 * 984 ? [`--stack-size=${room}`] : [];
}

/** The size of the main thread's stack in bytes; 0 if it is not known. */
function stackOfProcess() {
  if (process.platform !== 'linux') return 0;
  try {
    const soft = /^Max stack size\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return soft === 'unlimited' ? MOST : Number(soft) || 0;
  } catch {
    return 0;
  }
}
