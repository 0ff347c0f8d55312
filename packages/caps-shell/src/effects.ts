/**
 * The effects of programs, for the layer that asks people about calls.
 *
 * No text of a command is read. A program can do what its world holds. It changes the directories that were mounted for
 * writing; what writing there means, those directories declare. With a host or a socket it can also do anything there, and carry out what it reads.
 */
import type { Effect, Effects } from '@hob/vat/forwarder';

const reads: Effect = { class: 'A' };
/** Each call is another one, although it looks alike: the next part of a stream, the wait for a program. */
const goesOn: Effect = { class: 'A', idempotent: false };

/** `written`: what the directories declare that are mounted for writing. Also of the jobs and streams of a shell. */
export function programEffects({
  written,
  ways,
}: {
  readonly written: readonly (Effects | undefined)[];
  readonly ways: readonly object[];
}): Effects {
  const outside: readonly Effect[] = ways.length > 0 ? [{ class: 'C', undo: 'impossible', outbound: true }] : [];
  const all = [...written.map((effects) => effects?.['write'] ?? changes), ...outside];
  const runs = all.length === 0 ? reads : worstOf(all);
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

const changes: Effect = { class: 'B', undo: 'hard' };
const undoable: readonly Effect['undo'][] = ['easy', 'hard', 'impossible'];

/** A program may do all that it can, so it is as grave as the gravest of that. */
function worstOf(effects: readonly Effect[]): Effect {
  let { class: of, undo = 'hard', outbound = false } = changes;
  for (const effect of effects) {
    if (effect.class > of) of = effect.class;
    if (undoable.indexOf(effect.undo ?? 'hard') > undoable.indexOf(undo)) undo = effect.undo ?? 'hard';
    outbound ||= effect.outbound === true;
  }
  return { class: of, undo, ...(outbound ? { outbound } : {}) };
}
