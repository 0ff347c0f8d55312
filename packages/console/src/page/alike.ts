/** Finds the waiting requests that ask for the same: their arguments are asked for only where two look alike. */
import type { Granter, Request, RequestedCall } from '@hob/host';
import { E, type Far } from '@hob/vat/peer';
import { alikeText, candidates, shownText } from './logic/groups.ts';

export class Alike {
  readonly #granter: Far<Granter>;
  /** By the id. An id is never used again, and a request that changes gets another one. */
  readonly #calls = new Map<string, RequestedCall | undefined>();

  constructor(granter: Far<Granter>) {
    this.#granter = granter;
  }

  /** The texts of the requests that may stand in a group, by their ids. */
  async of(requests: readonly Request[]): Promise<ReadonlyMap<string, string>> {
    const looks = candidates(new Map(requests.map((request) => [request.id, shownText(request)])));
    const known = new Map(requests.map((request) => [request.id, request]));
    for (const id of [...this.#calls.keys()]) if (!known.has(id)) this.#calls.delete(id);
    const found = await Promise.all(
      looks.map(async (id) => {
        const request = known.get(id) as Request;
        const text = alikeText(request, request.kind === 'grant' ? undefined : await this.#call(id));
        return text === undefined ? [] : [[id, text] as const];
      }),
    );
    return new Map(found.flat());
  }

  async #call(id: string): Promise<RequestedCall | undefined> {
    if (!this.#calls.has(id))
      try {
        this.#calls.set(id, (await E(this.#granter).requestedCall(id)) as RequestedCall);
      } catch {
        // It has ended meanwhile. What is not known stands by itself.
        this.#calls.set(id, undefined);
      }
    return this.#calls.get(id);
  }
}
