/**
 * The parts of vats with a durable store: the output commit and the object store, joined to actors and
 * tables.
 */
import { Actor } from '../actor/actor.ts';
import { storedTable, unreadTable } from '../actor/table.ts';
import { CapError } from '../core/errors.ts';
import type { ActorKind } from '../core/kind.ts';
import type { LedgerEntry } from '../core/ledger-entry.ts';
import { targetOf } from '../core/reference.ts';
import type { AnyDefinition } from '../core/types.ts';
import { Counts } from '../durable/counts.ts';
import { ObjectStore } from '../durable/object-store.ts';
import { type Commit, OutputCommit, type Writes } from '../durable/output-commit.ts';
import type { Ledger } from '../ledger/chain.ts';
import type { KnownLedgerEntry } from '../ledger/kinds.ts';
import type { StoreEngine } from '../store/engine.ts';
import type { LedgerLine } from '../store/records.ts';
import type { Clock } from '../time/clock.ts';
import { driverNamed } from '../turn/named-driver.ts';
import { kindOf } from '../turn/portrait.ts';
import { readInTurns } from '../turn/reading.ts';
import type { ActorHome } from '../turn/runnable.ts';
import type { VatsCounts } from './interface.ts';
import { fulfilled, lostReference, nameOf } from './names.ts';

/** The functions of the vats that these parts call. */
interface DurableVats {
  /** Undefined until the store has been accepted. */
  ledger(): Ledger | undefined;
  through(commit: Commit): Commit;
  readonly clock: Clock;
  /** The next batch has room for turns again. */
  room(): void;
  /** The error for a turn with these lines while the disk is full. */
  refuses(lines: readonly LedgerEntry[]): CapError | undefined;
  lost(why: CapError, keys: ReadonlySet<string>): boolean;
  /** The vat of that name, which the store holds. */
  vat(name: string): ActorHome;
}

/** Throws `invalid` for a store whose objects the definitions do not cover. */
export function openDurable(
  engine: StoreEngine,
  definitions: readonly AnyDefinition[],
  vats: DurableVats,
): { readonly outputCommit: OutputCommit; readonly objectStore: ObjectStore } {
  const { clock } = vats;
  /** Until this time no other process can take the store. */
  let heldUntil = engine.heldMs;
  /** Whether the store was closed while its vats are open. Another process may take it at once. */
  let isClosed = false;
  engine.onClose(() => {
    isClosed = true;
  });
  const begin = (done: (error: unknown) => void): ((error: unknown) => void) => {
    const began = clock.boottime();
    return (error) => {
      heldUntil = error === undefined ? began + engine.heldMs : 0;
      done(error);
    };
  };
  const commit = (writes: Writes, done: (error: unknown) => void): void => {
    let lines: readonly LedgerLine[];
    try {
      // A line that the ledger wrote by itself failed earlier. No turn was lost with it, so reopen.
      if (engine.failed) engine.reopen();
      lines = vats.ledger()?.prepare(writes.lines as readonly KnownLedgerEntry[]) ?? [];
    } catch (error) {
      return done(error);
    }
    engine.commitLater(engine.epoch, { lines, cells: writes.cells }, begin(done));
  };
  const outputCommit = new OutputCommit({
    commit: vats.through(commit),
    confirm: (done) => engine.confirmLater(begin(done)),
    held: () => heldUntil === Number.POSITIVE_INFINITY || (!isClosed && clock.boottime() < heldUntil),
    tick: () => clock.tick(),
    after: (ms, then) => void clock.after(ms, then),
    room: () => vats.room(),
    refuses: (lines) => (engine.full ? vats.refuses(lines) : undefined),
    lost: (why, keys) => vats.lost(why, keys),
  });
  engine.heldBackBy(() => outputCommit.settled());
  engine.onFailure(() => outputCommit.storeFailed());
  const objectStore: ObjectStore = new ObjectStore(
    readInTurns(engine),
    outputCommit,
    definitions.map(kindOfDefinition),
    {
      actor: (vat, id, stored) => Actor.asleep(vats.vat(vat), id, stored).reference as object,
      table: (vat, id) => storedTable(vats.vat(vat), id),
      driver: driverNamed,
      nameOf,
      fulfilled,
      lost: lostReference,
      rest: (actor) => (targetOf(actor) as Actor).rest(objectStore),
      reload: (actor, stored) => (targetOf(actor) as Actor).reload(stored),
      unread: unreadTable,
    },
  );
  return { outputCommit, objectStore };
}

/** What vats with these parts have done. Without a durable store there are none. */
export function countsOf(turns: number, outputCommit?: OutputCommit, engine?: StoreEngine): VatsCounts {
  const { commits, entries } = outputCommit?.counts ?? new Counts();
  return { turns, commits, entries, lines: engine?.head().seq ?? 0, epoch: engine?.epoch ?? 0 };
}

function kindOfDefinition(definition: AnyDefinition): ActorKind {
  const kind = kindOf(definition);
  if (kind === undefined) throw new CapError('invalid', 'definitions must come from define or defineProcedure');
  return kind;
}

/** Throws `invalid` if two definitions have the same label. */
export function checkLabels(definitions: readonly AnyDefinition[]): void {
  const seen = new Set<string>();
  for (const { label } of definitions) {
    if (seen.has(label)) throw new CapError('invalid', `two definitions are called "${label}": rename one`);
    seen.add(label);
  }
}
