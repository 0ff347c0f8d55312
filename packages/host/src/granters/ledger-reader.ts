/**
 * The ledger as a cap for granters. A granter reads what happened in its sessions, and checks that nobody
 * changed it.
 *
 * Promise: a granter reads the lines of the sessions that name it, of its own acceptances and names, and about no session. It reads
 * no line of another granter's session, also after that session has ended. The ledger itself says whose a
 * session is. If that line was dropped, the tables of the host say it while the session lasts. If nothing
 * says it, no granter reads the line. The operator can export it while no host runs.
 */
import { CapError, type Definition, define, E, exportLedger, type LedgerVerdict, type Store } from '@hob/vat';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import type { HostTables } from '../state/records.ts';

/** Reads and checks the ledger for one granter. It shows the lines that this granter may see. */
export interface LedgerReader {
  /**
   * Returns lines as JSON text from number `from` on: at most 500, and at most one frame. Returns none
   * after the last line. Continue after the `seq` of the last one. The numbers have gaps where a line is
   * another granter's.
   */
  lines(from?: number): Promise<readonly string[]>;
  /**
   * `against` are checkpoints that were sent elsewhere, at most 1,000: each of this ledger must still hold.
   */
  verify(against?: readonly string[]): Promise<LedgerVerdict>;
}

export const LedgerReaderActor: Definition<LedgerReader, [name: string, hostState: HostState]> = define(
  'host.ledger-reader',
  (_bcom, name, hostState) => ({
    lines: (from = 1) =>
      E(powersOf(tablesOf(hostState))).lines(name, Math.max(1, Math.floor(Number(from)) || 1)) as never,
    verify(against) {
      const isList =
        Array.isArray(against) && against.length <= 1000 && against.every((note) => typeof note === 'string');
      if (against !== undefined && !isList)
        throw new CapError('invalid', 'verify takes a list of at most 1,000 checkpoints');
      const world = E(powersOf(tablesOf(hostState)));
      return (against === undefined ? world.verify() : world.verify(against)) as never;
    },
  }),
);

const page = 500;
/** A line has up to 8 KiB, and its quotes are escaped twice. A larger page would not fit into one frame. */
const pageBytes = 128 << 10;

/** Lines about the ledger, the store or the whole host. Every granter may read them. */
const kindsForAll: ReadonlySet<string> = new Set([
  'genesis',
  'restart',
  'restored',
  'trust',
  'checkpoint',
  'cut',
  'redact',
  'secret',
  'host-stop',
]);

interface LineFields {
  readonly k: string;
  readonly seq: number;
  readonly session?: string;
  readonly grant?: string;
  readonly granters?: readonly string[];
  readonly by?: string;
  readonly meter?: string;
}

/** The session of a grant and its granters, as the tables of the host have them. */
interface LineOwner {
  readonly session: string;
  readonly granters: readonly string[];
}

/** In a turn: whose a line about this session or grant is. */
export function lineOwner(
  tables: HostTables,
  { session: sessionId, grant = '' }: { readonly session?: string; readonly grant?: string },
): LineOwner | undefined {
  const id = sessionId ?? tables.grants.get(grant)?.session;
  const session = id === undefined ? undefined : tables.sessions.get(id);
  return session === undefined ? undefined : { session: session.id, granters: session.granters };
}

/** Knows which granter may read which line. It reads the ledger as far as it is asked for. */
export class GranterLedger {
  readonly #store: Store;
  readonly #owner: (about: { readonly session?: string; readonly grant?: string }) => Promise<LineOwner | undefined>;
  readonly #lookedUp = new Set<string>();
  #readUpTo = 0;
  readonly #granters = new Map<string, readonly string[]>();
  readonly #sessionOf = new Map<string, string>();

  constructor(
    store: Store,
    owner: (about: { readonly session?: string; readonly grant?: string }) => Promise<LineOwner | undefined>,
  ) {
    this.#store = store;
    this.#owner = owner;
  }

  async lines(granter: string, from: number): Promise<readonly string[]> {
    const lines: string[] = [];
    let bytes = 0;
    // Start where nobody has read yet, because an earlier line may say whose a later line is.
    for await (const text of exportLedger(this.#store, { from: Math.min(from, this.#readUpTo + 1) })) {
      const line = JSON.parse(text) as LineFields;
      this.#learn(line);
      if (line.seq >= from) await this.#lookUpOwner(line);
      if (line.seq < from || !this.#mayRead(granter, line)) continue;
      lines.push(text);
      bytes += text.length;
      if (lines.length >= page || bytes >= pageBytes) break;
    }
    return lines;
  }

  #learn({ k, seq, session, grant, granters, by }: LineFields): void {
    if (seq <= this.#readUpTo) return;
    this.#readUpTo = seq;
    if (session === undefined) return;
    if (k === 'session' && granters !== undefined) this.#granters.set(session, granters);
    if (k !== 'grant' || grant === undefined) return;
    this.#sessionOf.set(grant, session);
    // Older ledgers have no line for a session. There the one who granted is its granter.
    if (!this.#granters.has(session) && by !== undefined) this.#granters.set(session, [by]);
  }

  /** Asks the tables about a line whose owner no line says, because that line was dropped. */
  async #lookUpOwner({ session, grant }: LineFields): Promise<void> {
    const about = session ?? grant;
    if (about === undefined || this.#lookedUp.has(about)) return;
    const at = session ?? this.#sessionOf.get(about);
    if (at !== undefined && this.#granters.has(at)) return;
    this.#lookedUp.add(about);
    const owner = await this.#owner(at !== undefined ? { session: at } : { grant: about });
    if (owner === undefined) return;
    this.#granters.set(owner.session, owner.granters);
    if (session === undefined) this.#sessionOf.set(about, owner.session);
  }

  #mayRead(granter: string, { k, session, grant, meter, by }: LineFields): boolean {
    if (kindsForAll.has(k)) return true;
    // Texts are accepted by one granter, for its own sessions. Names are given by one granter, for itself.
    if (k === 'accept' || k === 'name') return by === granter;
    if (meter === `granter:${granter}`) return true;
    const metered = meter?.startsWith('session:') === true ? meter.slice('session:'.length) : undefined;
    const at = session ?? (grant === undefined ? metered : this.#sessionOf.get(grant));
    return at !== undefined && this.#granters.get(at)?.includes(granter) === true;
  }
}
