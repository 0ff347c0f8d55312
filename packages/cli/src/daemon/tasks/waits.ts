/** Tells sessions which of their requests wait for a person. */
import type { Granter } from '@hob/host';
import { E, type Far } from '@hob/vat';
import { shortId } from '../../line/ids.ts';
import { allRequests } from '../find.ts';

/** Is told the short ids of the requests that wait, at each change. */
type Tell = (requests: readonly string[]) => void;

interface Followed {
  readonly tell: Tell;
  told: string;
}

/** Looks at the requests of one granter while some session is followed. */
export class RequestWatch {
  readonly #granter: Far<Granter>;
  readonly #followed = new Map<string, Followed>();
  readonly #log: (line: string) => void;
  #isLooking = false;

  constructor(granter: Far<Granter>, log: (line: string) => void) {
    this.#granter = granter;
    this.#log = log;
  }

  /** Follows a session and its children. Returns the function that ends it. */
  follow(session: string, tell: Tell): () => void {
    this.#followed.set(session, { tell, told: '' });
    const lost = (error: unknown): void => this.#log(`peers are not told what waits: ${(error as Error).message}`);
    if (!this.#isLooking) void this.#look().catch(lost);
    return () => void this.#followed.delete(session);
  }

  async #look(): Promise<void> {
    this.#isLooking = true;
    try {
      for (let since: number | undefined; this.#followed.size > 0; ) {
        since = (await E(this.#granter).changed(...(since === undefined ? [] : [since]))) as number;
        const waiting = (await allRequests(this.#granter)).filter(({ draft }) => draft !== true);
        for (const [session, followed] of this.#followed) {
          const ids = waiting.filter(({ asker }) => asker.includes(session)).map(({ id }) => shortId('R', id));
          const told = ids.join(' ');
          if (followed.told === told) continue;
          followed.told = told;
          followed.tell(ids);
        }
      }
    } finally {
      this.#isLooking = false;
    }
  }
}
