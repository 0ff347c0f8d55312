/**
 * The effects of programs, for the layer that asks people about calls.
 *
 * No text of a command is read. A program can do what its world holds: without a network it changes only the
 * directories that were mounted for writing.
 */
import type { Effect, Effects } from '@hob/vat/forwarder';

const reads: Effect = { class: 'A' };
/** Each call is another one, although it looks alike: the next part of a stream, the wait for a program. */
const goesOn: Effect = { class: 'A', idempotent: false };

/** `writes`: a directory is mounted for writing. Also of the jobs and the streams that a shell gives out. */
export function programEffects({ writes }: { readonly writes: boolean }): Effects {
  const runs: Effect = writes ? { class: 'B', undo: 'hard' } : reads;
  return {
    run: runs,
    spawn: { ...runs, idempotent: false },
    write: { ...runs, idempotent: false },
    job: reads,
    describe: reads,
    attenuate: reads,
    close: reads,
    stdout: goesOn,
    stderr: goesOn,
    next: goesOn,
    return: goesOn,
    throw: goesOn,
    end: goesOn,
    signal: goesOn,
    wait: goesOn,
  };
}
