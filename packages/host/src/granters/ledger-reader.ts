/**
 * The ledger as a cap: for granters, who may read what happened in their sessions and check that nobody changed it.
 *
 * Promise: a granter gets the lines of the sessions that name it and those that are about no session; what belongs to another's is left out,
 * also when the session is long over. Which is whose the ledger says itself; where the line that said so was dropped, the tables of the host
 * say it, as long as the session lasts. What nobody can tell any more no granter gets: who has the state exports it while no host runs.
 */
import { CapError, type Definition, define, E, exportLedger, type LedgerVerdict, type Store } from '@hob/vat';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';

export interface LedgerReader {
  /**
   * Lines as JSON text, from number `from` on: at most 500, and no more than fit into one frame; none after the last. Go on after the number
   * (`seq`) of the last one: where a line is another granter's there is a gap.
   */
  lines(from?: number): Promise<readonly string[]>;
  /** `against` are checkpoints that were sent elsewhere, at most 1,000: each of this ledger must still hold. */
  verify(against?: readonly string[]): Promise<LedgerVerdict>;
}

export const LedgerReaderActor: Definition<LedgerReader, [name: string, house: HostState]> = define(
  'host.ledger-reader',
  (_bcom, name, house) => ({
    lines: (from = 1) => E(powersOf(tablesOf(house))).lines(name, Math.max(1, Math.floor(Number(from)) || 1)) as never,
    verify(against) {
      const isList =
        Array.isArray(against) && against.length <= 1000 && against.every((note) => typeof note === 'string');
      if (against !== undefined && !isList)
        throw new CapError('invalid', 'verify takes a list of at most 1,000 checkpoints');
      const world = E(powersOf(tablesOf(house)));
      return (against === undefined ? world.verify() : world.verify(against)) as never;
    },
  }),
);

const page = 500;
/** A line has up to 8 KiB, and its quotes are escaped twice on the way: a page of such lines would fit into no frame. */
const pageBytes = 128 << 10;

/** About the ledger, the store or the host as a whole. */
const ofNobody: ReadonlySet<string> = new Set([
  'genesis',
  'restart',
  'restored',
  'trust',
  'checkpoint',
  'cut',
  'redact',
  'host-stop',
]);

interface Line {
  readonly k: string;
  readonly seq: number;
  readonly session?: string;
  readonly grant?: string;
  readonly granters?: readonly string[];
  readonly by?: string;
  readonly meter?: string;
}

/** What the tables of the host say: the session of a grant, and who grants in it. */
export interface Owner {
  readonly session: string;
  readonly granters: readonly string[];
}

/** Whose line is whose: read from the ledger, as far as it was needed. */
export class LedgerView {
  readonly #store: Store;
  readonly #owner: (about: { readonly session?: string; readonly grant?: string }) => Promise<Owner | undefined>;
  readonly #asked = new Set<string>();
  #read = 0;
  readonly #granters = new Map<string, readonly string[]>();
  readonly #sessionOf = new Map<string, string>();

  constructor(
    store: Store,
    owner: (about: { readonly session?: string; readonly grant?: string }) => Promise<Owner | undefined>,
  ) {
    this.#store = store;
    this.#owner = owner;
  }

  async lines(granter: string, from: number): Promise<readonly string[]> {
    const lines: string[] = [];
    let bytes = 0;
    // From where nobody has read yet, for what is asked of later lines may be said in earlier ones.
    for await (const text of exportLedger(this.#store, { from: Math.min(from, this.#read + 1) })) {
      const line = JSON.parse(text) as Line;
      this.#learn(line);
      if (line.seq >= from) await this.#ask(line);
      if (line.seq < from || !this.#mayRead(granter, line)) continue;
      lines.push(text);
      bytes += text.length;
      if (lines.length >= page || bytes >= pageBytes) break;
    }
    return lines;
  }

  #learn({ k, seq, session, grant, granters, by }: Line): void {
    if (seq <= this.#read) return;
    this.#read = seq;
    if (session === undefined) return;
    if (k === 'session' && granters !== undefined) this.#granters.set(session, granters);
    if (k !== 'grant' || grant === undefined) return;
    this.#sessionOf.set(grant, session);
    // A ledger of before sessions were told in it.
    if (!this.#granters.has(session) && by !== undefined) this.#granters.set(session, [by]);
  }

  /** Of what no line tells, since it was dropped. */
  async #ask({ session, grant }: Line): Promise<void> {
    const about = session ?? grant;
    if (about === undefined || this.#asked.has(about)) return;
    const at = session ?? this.#sessionOf.get(about);
    if (at !== undefined && this.#granters.has(at)) return;
    this.#asked.add(about);
    const owner = await this.#owner(at !== undefined ? { session: at } : { grant: about });
    if (owner === undefined) return;
    this.#granters.set(owner.session, owner.granters);
    if (session === undefined) this.#sessionOf.set(about, owner.session);
  }

  #mayRead(granter: string, { k, session, grant, meter }: Line): boolean {
    if (ofNobody.has(k)) return true;
    if (meter === `granter:${granter}`) return true;
    const metered = meter?.startsWith('session:') === true ? meter.slice('session:'.length) : undefined;
    const at = session ?? (grant === undefined ? metered : this.#sessionOf.get(grant));
    return at !== undefined && this.#granters.get(at)?.includes(granter) === true;
  }
}
