/**
 * References and promises that we export to the peer, and the resolutions that we send for the promises.
 *
 * Promise: if an operation could not be sent, its exports are undone. The resolution of a promise is sent
 * once for as long as the peer knows the promise, and not before it is durable. If an exported promise
 * becomes a promise of the peer, the peer is told at once. Otherwise two promises could wait for each other
 * for ever.
 */
import { CapError } from '../../core/errors.ts';
import type { Target } from '../../core/message.ts';
import { VatPromise, vatPromiseOf } from '../../core/promise.ts';
import { targetOf } from '../../core/reference.ts';
import { type Export, ExportTable, isPromise } from './export-table.ts';
import { Import, type PeerConnection, Remote } from './imports.ts';
import { weights } from './limits.ts';
import type { Slot } from './operations.ts';
import type { Outbound } from './outbound.ts';
import type { Streams } from './streams.ts';

export class Exports {
  readonly #outbound: Outbound;
  readonly #connection: PeerConnection;
  readonly #streams: Streams;
  readonly #table: ExportTable;
  readonly #dropped: (reference: object) => void;
  readonly #self = new WeakRef(this);
  /** Exports mentioned by the operation that is being encoded. */
  #mentioned: Export[] = [];
  /** Promises that the session waits for, to tell the peer. */
  readonly #watching = new WeakSet<VatPromise>();

  constructor(outbound: Outbound, connection: PeerConnection, streams: Streams, dropped: (reference: object) => void) {
    this.#dropped = dropped;
    this.#outbound = outbound;
    this.#connection = connection;
    this.#streams = streams;
    this.#table = new ExportTable(outbound.limits.exports);
  }

  /** Exports that the peer has not dropped. */
  get size(): number {
    return this.#table.size;
  }

  /** Promises whose resolution the peer was not told. */
  get pending(): number {
    return this.#table.pending;
  }

  /** Adds the bootstrap as export 0, before anything is sent. */
  bootstrap(value: object, target: Target): void {
    this.#table.bootstrap(value, target);
  }

  get(id: number): Export | undefined {
    return this.#table.get(id);
  }

  clear(): void {
    this.#table.clear();
  }

  // ---- exports and drops ----------------------------------------------------------------------------------

  /**
   * Returns the slot of a value in the operation that is being encoded; undefined for data. Throws `limit`.
   */
  give(value: object): Slot | undefined {
    const target = targetOf(value);
    if (target !== undefined) {
      if (target instanceof Import && target.connection === this.#connection && !target.released) return target.slot;
      return this.#mention('object', value, target);
    }
    const promise = vatPromiseOf(value);
    if (promise === undefined) return undefined;
    const { path } = promise;
    if (
      path instanceof Remote &&
      path.connection === this.#connection &&
      (path.slot.kind !== 'answer' || this.#outbound.dialect.pipelinesArguments)
    )
      return path.slot;
    const end = VatPromise.end(promise);
    end.watchedInside();
    return this.#mention('promise', end, end);
  }

  #mention(kind: 'object' | 'promise', value: object, target: Target): Slot {
    const [entry, made] = this.#table.mention(value, target);
    if (made) {
      this.#outbound.addBytes(kind === 'promise' ? weights.promise : weights.export);
      if (kind === 'object') this.#streams.exported(value, target);
    }
    this.#mentioned.push(entry);
    return { kind, id: entry.id };
  }

  /** The operation was encoded and will be sent, so its exports stay. */
  commitExports(): void {
    const mentioned = this.#mentioned;
    if (mentioned.length > 0) {
      this.#mentioned = [];
      for (const entry of mentioned) if (isPromise(entry) && !entry.watched) this.#watch(entry);
    }
    this.#outbound.scheduleFlush();
  }

  /** The operation will not be sent, so its exports are undone. */
  rollbackExports(): void {
    for (const entry of this.#mentioned) if (this.#table.drop(entry.id, 1)) this.#removed(entry);
    this.#mentioned = [];
  }

  /** The peer dropped this many mentions. */
  drop(id: number, mentions: number): void {
    const entry = this.#table.get(id);
    if (entry === undefined || id === 0 || mentions === 0) return;
    if (this.#table.drop(id, mentions)) {
      this.#removed(entry);
      return this.#dropped(entry.value);
    }
    // Mentions that crossed with this drop are a new promise for the peer, so it has to be told again.
    if (!entry.told || !isPromise(entry)) return;
    entry.told = false;
    this.#watch(entry);
  }

  #removed(entry: Export): void {
    this.#streams.dropped(entry.target);
    this.#outbound.addBytes(-(isPromise(entry) ? weights.promise : weights.export));
  }

  // ---- resolutions of promises ----------------------------------------------------------------------------

  /**
   * Waits for a promise, once. A promise that was dropped and mentioned again must not be waited for twice.
   */
  #watch(entry: Export & { readonly value: VatPromise }): void {
    entry.watched = true;
    const promise = entry.value;
    const again = this.#watching.has(promise);
    // Weak, so that a promise that never settles does not keep a closed session alive.
    const self = this.#self;
    if (this.#outbound.dialect.shortens && (!again || promise.path !== undefined))
      this.#connection.fence.watchShortening(promise, () => self.deref()?.tellShortened(promise));
    if (again) return;
    this.#watching.add(promise);
    this.#connection.fence.watchOutside(
      promise,
      (value) => self.deref()?.tell(promise, value),
      (error) => self.deref()?.tellBroken(promise, error),
    );
  }

  /**
   * The promise became one that a peer decides. If it is this peer, it is told at once, because its promise
   * may wait for ours.
   */
  tellShortened(promise: VatPromise): void {
    const entry = this.#table.of(promise);
    const { path } = promise;
    if (entry === undefined || entry.told || !(path instanceof Remote) || path.connection !== this.#connection) return;
    entry.told = true;
    this.#outbound.dialectSession.resolve(entry.id, promise.promise());
    this.commitExports();
  }

  /**
   * Marks the export of a settled promise as told. Returns undefined if the peer does not know it or was
   * told.
   */
  #markTold(promise: VatPromise): Export | undefined {
    this.#watching.delete(promise);
    const entry = this.#table.of(promise);
    if (entry === undefined || entry.told) return undefined;
    entry.told = true;
    return entry;
  }

  tell(promise: VatPromise, value: unknown): void {
    const entry = this.#markTold(promise);
    if (entry === undefined) return;
    const { dialectSession } = this.#outbound;
    try {
      dialectSession.resolve(entry.id, value);
    } catch (error) {
      this.rollbackExports();
      if (!(error instanceof CapError)) throw error;
      dialectSession.break(entry.id, error);
    }
    this.commitExports();
  }

  tellBroken(promise: VatPromise, error: unknown): void {
    const entry = this.#markTold(promise);
    if (entry === undefined) return;
    this.#outbound.dialectSession.break(entry.id, error);
    this.commitExports();
  }
}
