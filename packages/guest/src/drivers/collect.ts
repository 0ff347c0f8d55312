/**
 * Collects all garbage of this process.
 *
 * Promise: compiled code stays, and no later context has a function that collects garbage. V8 collects by
 * itself only some seconds after a process falls idle, and drops compiled code with it.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

export function collect(): void {
  setFlagsFromString('--no-flush-bytecode');
  setFlagsFromString('--expose-gc');
  const gc = runInNewContext('gc') as (how: object) => void;
  setFlagsFromString('--no-expose-gc');
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  setFlagsFromString('--flush-bytecode');
}
