/**
 * Which calls have no line that says how they ended.
 *
 * A call of an audited grant writes such a line when it ends. The line does not hold back the answer, so a crash
 * may lose it. Then nobody can tell from the ledger how the call ended.
 *
 * Calls of one method of one grant may be under way at once, and end in any order. How many of them have no line
 * is certain. Which of them is not: the oldest is taken to have ended first.
 */
import type { Fields } from './line.ts';

/** The calls that are under way at one place of a ledger. Lines are given to it in their order. */
export class CallEnds {
  /** The numbers of the lines of calls, oldest first, by what a line of the end repeats. */
  readonly #open = new Map<string, number[]>();
  /** The last call whose turn failed. Its own line says how it ended, and a line of its end may follow at once. */
  #failed: { readonly key: string; readonly seq: number } | undefined;

  /** Takes the next line. Returns the numbers of the calls of which it shows that they have no recorded end. */
  take(line: Fields): readonly number[] {
    const { k, seq, audited, code } = line;
    if (k === 'restart') return this.#stopped();
    // A job, too, has a line of kind result, of its own.
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
