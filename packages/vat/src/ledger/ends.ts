/**
 * Finds the calls that have no line about their end.
 *
 * A call of an audited grant writes such a line when it ends. The answer does not wait for the line, so a crash may
 * lose it. The ledger then does not say how the call ended.
 *
 * Several calls of one method of one grant may be under way at once, and end in any order. The number of calls without
 * a line is exact. Which calls these are is a guess: the oldest call is taken to have ended first.
 */
import type { Fields } from './line.ts';

/** The calls that are under way at one point of a ledger. Give it all lines in their order. */
export class CallEnds {
  /** The line numbers of open calls, oldest first. The key has the fields that the line about the end repeats. */
  readonly #open = new Map<string, number[]>();
  /** The last call whose turn failed. Its `call` line says how it ended. A `result` line may follow it directly. */
  #failed: { readonly key: string; readonly seq: number } | undefined;

  /** Takes the next line. A `restart` line returns the line numbers of the calls that have no recorded end. */
  take(line: Fields): readonly number[] {
    const { k, seq, audited, code } = line;
    if (k === 'restart') return this.#stopped();
    // Jobs and streams have `result` lines that are not about the end of a call. They have no `audited`.
    if (audited !== true) return [];
    if (k === 'call') this.#began(keyOf(line), Number(seq), code !== undefined);
    if (k === 'result') this.#ended(keyOf(line), Number(seq));
    return [];
  }

  #stopped(): readonly number[] {
    const left = [...this.#open.values()].flat().sort((a, b) => a - b);
    this.#open.clear();
    return left;
  }

  #began(key: string, seq: number, failed: boolean): void {
    if (failed) this.#failed = { key, seq };
    else this.#open.set(key, [...(this.#open.get(key) ?? []), seq]);
  }

  #ended(key: string, seq: number): void {
    if (this.#failed?.key === key && this.#failed.seq === seq - 1) return;
    const [, ...others] = this.#open.get(key) ?? [];
    if (others.length === 0) this.#open.delete(key);
    else this.#open.set(key, others);
  }
}

const keyOf = ({ grant, method, made }: Fields): string => JSON.stringify([grant, method, made]);
