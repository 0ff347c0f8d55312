/**
 * Tells granters that their requests have changed, so that a page need not ask again and again.
 *
 * Promise: a granter learns of changes of its own sessions alone, and a change between two questions is not lost. A
 * number says nothing about how many changes there were.
 */
import { CapError, type DriverCall } from '@hob/vat';

interface OfGranter {
  count: number;
  readonly waiting: Set<PromiseWithResolvers<number>>;
}

/** So many questions of one granter wait at a time. */
const mostWaiting = 64;

export class GranterChanges {
  readonly #granters = new Map<string, OfGranter>();

  /** Something of these granters has changed. */
  changed(granters: readonly string[]): void {
    for (const name of granters) {
      const of = this.#of(name);
      of.count += 1;
      for (const { resolve } of of.waiting) resolve(of.count);
      of.waiting.clear();
    }
  }

  /** The number of the latest change: at once if it is not `since`, otherwise with the next change. Errors: `limit`. */
  next(granter: string, since: number, { signal }: DriverCall): number | Promise<number> {
    const of = this.#of(granter);
    if (of.count !== since) return of.count;
    if (of.waiting.size >= mostWaiting)
      throw new CapError('limit', `${mostWaiting} questions about changes wait already: wait for one of them`);
    const asked = Promise.withResolvers<number>();
    of.waiting.add(asked);
    const gone = (): void => {
      of.waiting.delete(asked);
      asked.reject(signal.reason);
    };
    if (signal.aborted) gone();
    else signal.addEventListener('abort', gone, { once: true });
    return asked.promise.finally(() => signal.removeEventListener('abort', gone));
  }

  #of(name: string): OfGranter {
    const known = this.#granters.get(name);
    if (known !== undefined) return known;
    const made: OfGranter = { count: 1, waiting: new Set() };
    this.#granters.set(name, made);
    return made;
  }
}
