/** The mechanisms of `packages/vat/src/durable`, each with the source text that leaves it out: see `../mutant.ts`. */
import type { Mutant } from '../mutant.ts';

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'fence-batch',
    breaks: 'an internal error in one effect of a commit holds up the others',
    file: 'packages/vat/src/durable/output-commit.ts',
    find: 'fencedOr(() => output.release(), output.lost);',
    replace: 'output.release();',
    tests: ['packages/vat/src/durable/output-commit.test.ts'],
  },
  {
    name: 'fence-batch-told',
    breaks: 'who waits for an effect of a commit that an internal error met is never told',
    file: 'packages/vat/src/durable/output-commit.ts',
    find: 'fencedOr(() => output.release(), output.lost);',
    replace: 'fenced(() => output.release());',
    tests: ['packages/vat/src/durable/output-commit.test.ts'],
  },
  {
    name: 'fence-commit',
    breaks: 'a commit that cannot begin is waited for for ever',
    file: 'packages/vat/src/durable/output-commit.ts',
    find: 'fencedOr(() => this.#ground.commit(batch, ended), ended);',
    replace: 'fenced(() => this.#ground.commit(batch, ended));',
    tests: ['packages/vat/src/vats/fenced.test.ts'],
  },
  {
    name: 'vat-time',
    breaks: 'vat time begins anew with each process',
    file: 'packages/vat/src/durable/saved-time.ts',
    find: 'const time = new VatTime(clock, saved(engine.get(timeKey)));',
    replace: 'const time = new VatTime(clock, undefined);',
    tests: ['packages/vat/src/durable/vat-time.test.ts'],
  },
  {
    name: 'durable-batch',
    breaks: 'turns run on while the disk is behind, and commits grow with what waits',
    file: 'packages/vat/src/durable/output-commit.ts',
    find: 'return this.#committing !== undefined && this.#open !== undefined && isFull(this.#open);',
    replace: 'return false;',
    tests: ['packages/vat/src/durable/batch.test.ts'],
  },
  {
    name: 'durable-read-only',
    breaks: 'a turn that only read answers before what it read is on the disk',
    file: 'packages/vat/src/durable/output-commit.ts',
    find: 'if (!writes) return this.newest();',
    replace: 'if (!writes) return undefined;',
    tests: ['packages/vat/src/durable/attacks.test.ts', 'packages/vat/src/durable/output-commit.test.ts'],
  },
  {
    name: 'durable-kind-check',
    breaks: 'a store with objects that nobody defines is opened all the same',
    file: 'packages/vat/src/durable/object-store.ts',
    find: 'if (kind === undefined)',
    replace: `if (kind === undefined) continue;
      if (kind === undefined)`,
    tests: ['packages/vat/src/durable/restart.test.ts', 'packages/vat/src/durable/attacks.test.ts'],
  },
  {
    name: 'durable-sweep',
    breaks: 'the sweep deletes what somebody holds',
    file: 'packages/vat/src/durable/sweep.ts',
    find: 'const stop = objectStore.watchHeld((key) => marks.add(key));',
    replace: 'const stop = () => {};',
    tests: ['packages/vat/src/durable/sweep.test.ts'],
  },
  {
    name: 'durable-followed',
    breaks: 'a promise that a peer fulfils with data that holds it fills the stack',
    file: 'packages/vat/src/durable/codec.ts',
    find: ' && room.followed.size < mostFollowed && !room.followed.has(value)',
    replace: '',
    tests: ['packages/vat/src/durable/codec.test.ts'],
  },
];
