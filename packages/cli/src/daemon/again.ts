/**
 * The caps that a person granted again and again, by the lines of a ledger.
 *
 * Promise: only a yes of a granter counts, and only if they let it stand: a refusal or a revocation of the same thing
 * begins the count anew, and a grant that was narrowed does not count. Names and texts of agents decide nothing: a
 * thing is the object that was offered.
 */
import type { LedgerLine } from './ledger-line.ts';

/** The answers of a person about one object, and the strictest of their limits. */
export interface Again {
  /** The numbers of the lines, oldest first. */
  readonly lines: readonly number[];
  readonly uses?: number;
  /** In ms. */
  readonly lastsMs?: number;
  /** Some grant gave certain methods only. */
  readonly isPart: boolean;
}

/** By the name of the offer. */
export function grantedAgain(all: readonly LedgerLine[]): ReadonlyMap<string, Again> {
  const known = new Known(all);
  const counted = new Map<string, { readonly line: number; readonly grant: LedgerLine }[]>();
  for (const line of all) {
    const grant = known.grant(line['grant']);
    if (line.k === 'approve' && grant !== undefined && known.isForGrant(line['request'])) {
      const offered = String(grant['offered']);
      counted.set(offered, [...(counted.get(offered) ?? []), { line: line.seq, grant }]);
    } else if (line.k === 'deny') counted.delete(known.offeredTo(line['request']) ?? '');
    else if (line.k === 'revoke' && isOfPerson(line) && grant?.['request'] !== undefined)
      counted.delete(String(grant['offered']));
    else if (line.k === 'narrow' && isOfPerson(line) && grant !== undefined) {
      const offered = String(grant['offered']);
      counted.set(
        offered,
        (counted.get(offered) ?? []).filter((one) => one.grant !== grant),
      );
    }
  }
  return new Map([...counted].filter(([, some]) => some.length > 0).map(([offered, some]) => [offered, again(some)]));
}

/** The granter did this. The end of a session or of a host is no opinion about a grant. */
const isOfPerson = (line: LedgerLine): boolean =>
  line['surface'] !== undefined && line['surface'] !== 'program' && line['surface'] !== 'process';

function again(some: readonly { readonly line: number; readonly grant: LedgerLine }[]): Again {
  const numbers = (values: readonly unknown[]): readonly number[] => values.filter((one) => typeof one === 'number');
  const uses = numbers(some.map(({ grant }) => grant['uses']));
  const lasts = numbers(some.map(({ grant }) => (typeof grant['until'] === 'number' && grant.t !== undefined ? grant['until'] - grant.t : undefined))); // biome-ignore format: one line
  return {
    lines: some.map(({ line }) => line),
    ...(uses.length === 0 ? {} : { uses: Math.min(...uses) }),
    ...(lasts.length === 0 ? {} : { lastsMs: Math.min(...lasts) }),
    isPart: some.some(({ grant }) => grant['methods'] !== undefined),
  };
}

/** The grants and requests of a ledger, by id. */
class Known {
  readonly #grants = new Map<unknown, LedgerLine>();
  readonly #requests = new Map<unknown, LedgerLine>();
  readonly #held = new Map<string, LedgerLine>();

  constructor(all: readonly LedgerLine[]) {
    for (const line of all) {
      if (line.k === 'request') this.#requests.set(line['request'], line);
      if (line.k !== 'grant') continue;
      this.#grants.set(line['grant'], line);
      if (line['request'] === undefined) this.#held.set(`${line['session']} ${line['petname']}`, line);
    }
  }

  grant(id: unknown): LedgerLine | undefined {
    return id === undefined ? undefined : this.#grants.get(id);
  }

  /** A request for an offer, and not for one call of a cap that waits for a person each time. */
  isForGrant(request: unknown): boolean {
    return this.#requests.get(request)?.['asks'] !== undefined;
  }

  /** The offer that was asked for: by its own name, or through a cap of the session that asks. */
  offeredTo(request: unknown): string | undefined {
    const line = this.#requests.get(request);
    if (line === undefined || typeof line['asks'] !== 'string') return undefined;
    const held = this.#held.get(`${line['session']} ${line['asks']}`)?.['offered'];
    return typeof held === 'string' ? held : line['asks'];
  }
}

/** The offer of a cap in the last session that was opened with it, by a program and without a question. */
export function lastOffered(all: readonly LedgerLine[], petname: string): string | undefined {
  const line = all.findLast(
    (one) =>
      one.k === 'grant' &&
      one['petname'] === petname &&
      one['request'] === undefined &&
      one['parent'] === undefined &&
      one['surface'] === 'program',
  );
  return typeof line?.['offered'] === 'string' ? line['offered'] : undefined;
}
