/**
 * The effects of programs, for the layer that asks people about calls.
 *
 * No text of a command is read. A program can do what its world holds. It changes the directories that were mounted for
 * writing. With a host or a socket it can also do anything there, and carry out what it reads.
 */
import type { Effect, Effects } from '@hob/vat/forwarder';

const reads: Effect = { class: 'A' };
/** Each call is another one, although it looks alike: the next part of a stream, the wait for a program. */
const goesOn: Effect = { class: 'A', idempotent: false };

/** Also of the jobs and the streams that a shell gives out. */
export function programEffects({
  places,
  ways,
}: {
  readonly places: readonly { readonly rights: 'ro' | 'rw' }[];
  readonly ways: readonly object[];
}): Effects {
  const writes: Effect = places.some(({ rights }) => rights === 'rw') ? { class: 'B', undo: 'hard' } : reads;
  const runs: Effect = ways.length > 0 ? { class: 'C', undo: 'impossible', outbound: true } : writes;
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
