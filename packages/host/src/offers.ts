/**
 * The objects that granters may give out, by name.
 *
 * Promise: the first offer of a name in a process takes the place of the object of the process before, in every grant
 * of that name. An object that can never be called is refused, because the first call of it would cost a use.
 * Programs of sessions run only where `offerCode` says, and end with the host.
 */
import type { Guests } from '@hob/guest';
import { CapError, driverOf, isReference } from '@hob/vat';
import { lastingName, named, takeOptions } from '@hob/vat/forwarder';
import { checkCallable } from './callable.ts';
import { inspectOffer } from './powerbox/inspect-offer.ts';
import { codeCap, type SessionCaps, sessionCapsOf } from './sessions/code.ts';
import { nextNumber } from './state/host-state.ts';
import { checkName } from './state/names.ts';
import type { HostTables } from './state/records.ts';
import type { OfferOptions } from './types.ts';

const offerOptions = { reads: true, methods: true, label: true, effects: true, fromPeer: true, needs: true } as const;

type InTurn = <R>(body: (tables: HostTables) => R) => Promise<unknown>;

export class Offers {
  readonly #turn: InTurn;
  readonly #driverTag: string;
  /** The names that this process has offered, and whether an object of a peer has that name. */
  readonly #names = new Map<string, boolean>();
  /** Opened with the first program. */
  #guests: Promise<Guests> | undefined;
  #closing = false;

  constructor(turn: InTurn, driverTag: string) {
    this.#turn = turn;
    this.#driverTag = driverTag;
  }

  async offer(name: string, cap: object, options?: OfferOptions): Promise<void> {
    const {
      reads = [],
      methods,
      label,
      effects,
      fromPeer = false,
      needs,
    } = takeOptions(options, 'offer', offerOptions);
    checkName(name, 'the name of an offer');
    if (needs !== undefined && needs !== 'passkey') throw new CapError('invalid', "needs is 'passkey', or left out");
    // A peer's object never takes the place of another's, in its grants.
    if (fromPeer && this.#names.get(name) === false)
      throw new CapError('invalid', 'the host itself offers something of that name: choose another name');
    await checkCallable(cap);
    const lasting = `hob-offer:${this.#driverTag}:${name}`;
    const given = isReference(cap) ? cap : driverOf(cap, { name: lasting, reads: reads as never });
    const inStore = (await this.#turn(() => lastingName(given) !== undefined)) as boolean;
    const reference = inStore ? given : named(lasting, given);
    const about = inspectOffer(cap, { reads, methods, label, effects });
    await this.#turn((tables) => {
      // The first offer of a process replaces the object of the process before. A later one is another cap.
      const known = this.#names.has(name) ? undefined : tables.offerInfo.get(name)?.number;
      tables.offers.set(name, reference);
      tables.offerInfo.set(name, { ...about, ...(needs && { needs }), number: known ?? nextNumber(tables, 'offers') });
    });
    this.#names.set(name, fromPeer);
  }

  async offerCode(open: () => Promise<Guests>, options?: { readonly as?: string }): Promise<void> {
    const { as = 'code' } = takeOptions(options, 'offerCode', { as: true });
    const guests = (): Promise<Guests> => {
      if (this.#closing) return Promise.reject(new CapError('unavailable', 'the host is closing'));
      const opening = (this.#guests ??= open());
      // A failure may be mended, such as a missing sandbox. So the next program tries again.
      opening.catch(() => {
        if (this.#guests === opening) this.#guests = undefined;
      });
      return opening;
    };
    const holdings = (cause: readonly string[]): Promise<SessionCaps> =>
      this.#turn((tables) => sessionCapsOf(tables, as, cause)) as Promise<SessionCaps>;
    await this.offer(as, codeCap(guests, holdings));
  }

  /** No program starts from now on. */
  closing(): void {
    this.#closing = true;
  }

  /** A program gets no more results. */
  async close(): Promise<void> {
    this.#closing = true;
    await this.#guests?.then((guests) => guests.close()).catch(() => {});
  }
}
