/**
 * What the peer is given in what we say, references and promises of ours, and what it is told of the promises afterwards.
 *
 * Promise: what cannot be said was not given. What became of a promise that was given is told once for as long as the peer knows
 * it, and not before it is durable. A promise that goes on to be the peer's own is told of at once, or two promises could wait
 * for each other for ever.
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
  readonly #line: Outbound;
  readonly #exit: PeerConnection;
  readonly #streams: Streams;
  readonly #exports: ExportTable;
  readonly #dropped: (reference: object) => void;
  readonly #self = new WeakRef(this);
  /** Mentioned by the operation that is being said. */
  #mentioned: Export[] = [];
  /** Promises that it waits for, to tell the peer. */
  readonly #watching = new WeakSet<VatPromise>();

  constructor(line: Outbound, exit: PeerConnection, streams: Streams, dropped: (reference: object) => void) {
    this.#dropped = dropped;
    this.#line = line;
    this.#exit = exit;
    this.#streams = streams;
    this.#exports = new ExportTable(line.limits.exports);
  }

  /** What the peer was given, and did not give back. */
  get size(): number {
    return this.#exports.size;
  }

  /** Promises that the peer was not told of yet. */
  get pending(): number {
    return this.#exports.pending;
  }

  /** Number 0: given before anything is said. */
  bootstrap(value: object, target: Target): void {
    this.#exports.bootstrap(value, target);
  }

  /** What the peer knows by this number. */
  get(id: number): Export | undefined {
    return this.#exports.get(id);
  }

  clear(): void {
    this.#exports.clear();
  }

  // ---- given, and given back ----------------------------------------------------------------------------------------------

  /** How the operation that is being said names this; undefined where it is data. Throws `limit`. */
  give(value: object): Slot | undefined {
    const target = targetOf(value);
    if (target !== undefined) {
      if (target instanceof Import && target.exit === this.#exit && !target.released) return target.slot;
      return this.#mention('object', value, target);
    }
    const vow = vatPromiseOf(value);
    if (vow === undefined) return undefined;
    const { path } = vow;
    if (
      path instanceof Remote &&
      path.exit === this.#exit &&
      (path.slot.kind !== 'answer' || this.#line.dialect.pipelinesArguments)
    )
      return path.slot;
    const end = VatPromise.end(vow);
    end.watchedInside();
    return this.#mention('promise', end, end);
  }

  #mention(kind: 'object' | 'promise', value: object, target: Target): Slot {
    const [known, made] = this.#exports.mention(value, target);
    if (made) {
      this.#line.keeps(kind === 'promise' ? weights.promise : weights.export);
      if (kind === 'object') this.#streams.gave(value, target);
    }
    this.#mentioned.push(known);
    return { kind, id: known.id };
  }

  /** What was mentioned is known to the peer, or will be. */
  commitExports(): void {
    const mentioned = this.#mentioned;
    if (mentioned.length > 0) {
      this.#mentioned = [];
      for (const known of mentioned) if (isPromise(known) && !known.watched) this.#watch(known);
    }
    this.#line.said();
  }

  /** It was mentioned in what will not be said. */
  rollbackExports(): void {
    for (const known of this.#mentioned) if (this.#exports.drop(known.id, 1)) this.#gone(known);
    this.#mentioned = [];
  }

  /** The peer has forgotten so many mentions. */
  drop(id: number, mentions: number): void {
    const known = this.#exports.get(id);
    if (known === undefined || id === 0 || mentions === 0) return;
    if (this.#exports.drop(id, mentions)) {
      this.#gone(known);
      return this.#dropped(known.value);
    }
    // The mentions that crossed with this are, for the peer, of a promise that it knows nothing of.
    if (!known.told || !isPromise(known)) return;
    known.told = false;
    this.#watch(known);
  }

  #gone(known: Export): void {
    this.#streams.dropped(known.target);
    this.#line.keeps(-(isPromise(known) ? weights.promise : weights.export));
  }

  // ---- told of its promises -----------------------------------------------------------------------------------------------

  /** Once for each promise: dropped and mentioned again, it would be waited for once more each time. */
  #watch(known: Export & { readonly value: VatPromise }): void {
    known.watched = true;
    const vow = known.value;
    const again = this.#watching.has(vow);
    // A promise that never settles must not keep a session that is over.
    const self = this.#self;
    if (this.#line.dialect.shortens && (!again || vow.path !== undefined))
      this.#exit.fence.watchShortening(vow, () => self.deref()?.tellShortened(vow));
    if (again) return;
    this.#watching.add(vow);
    this.#exit.fence.watchOutside(
      vow,
      (value) => self.deref()?.tell(vow, value),
      (error) => self.deref()?.tellBroken(vow, error),
    );
  }

  /** It has become a promise that a peer decides: where that is this one it is told at once, for it may be waiting for ours. */
  tellShortened(vow: VatPromise): void {
    const known = this.#exports.of(vow);
    const { path } = vow;
    if (known === undefined || known.told || !(path instanceof Remote) || path.exit !== this.#exit) return;
    known.told = true;
    this.#line.tongue.resolve(known.id, vow.promise());
    this.commitExports();
  }

  /** The promise as the peer knows it now, if it does and was not told yet: it is being told. */
  #told(vow: VatPromise): Export | undefined {
    this.#watching.delete(vow);
    const known = this.#exports.of(vow);
    if (known === undefined || known.told) return undefined;
    known.told = true;
    return known;
  }

  tell(vow: VatPromise, value: unknown): void {
    const known = this.#told(vow);
    if (known === undefined) return;
    const { tongue } = this.#line;
    try {
      tongue.resolve(known.id, value);
    } catch (error) {
      this.rollbackExports();
      if (!(error instanceof CapError)) throw error;
      tongue.break(known.id, error);
    }
    this.commitExports();
  }

  tellBroken(vow: VatPromise, error: unknown): void {
    const known = this.#told(vow);
    if (known === undefined) return;
    this.#line.tongue.break(known.id, error);
    this.commitExports();
  }
}
