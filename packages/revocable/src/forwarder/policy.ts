/**
 * A policy: the decisions of a forwarder about each call. All of it is synchronous.
 */
import { CapError, type Table } from '@hob/vat';
import type { Group } from '@hob/vat/forwarder';
import type { Crossing } from './cross.ts';

/** How a forwarded call ended: `ok` with its `value`, or not with its `error`. */
export type CallOutcome = { readonly ok: boolean; readonly value?: unknown; readonly error?: Error };

/** `state` is the portrait of the forwarder's state: data and references. */
export interface Policy<S extends readonly unknown[]> {
  /**
   * Runs before a call. Throws to refuse it, or returns the next state. `now` is vat time. If it throws,
   * nothing changes.
   */
  readonly before?: (state: S, method: string, args: readonly unknown[], now: number) => S | void;
  /** Runs after the call, in a later turn. Returns the next state. */
  readonly after?: (state: S, method: string, outcome: CallOutcome) => S | void;
  /**
   * Returns what comes out in place of `value`. Without it, every reference in `value` gets a forwarder with
   * the same state.
   */
  readonly wrap?: (state: S, value: unknown) => unknown;
  /**
   * Allows near calls. Set it only if neither `before` nor `after` ever changes the state. Without it a
   * forwarder is reached by `E` only: a near caller could undo the change and keep the result.
   */
  readonly near?: boolean;
}

/** Further functions, for the policies of this package only. */
export interface FullPolicy<S extends readonly unknown[]> extends Omit<Policy<S>, 'near' | 'wrap'> {
  /** `by` is what wraps the references of `inner`, the object that was called, with the same state. */
  readonly wrap?: (state: S, value: unknown, inner: object, by: Crossing) => unknown;
  readonly near?: boolean | ((state: S) => boolean);
  /** `before` does not use `now`. Reading the clock costs more than the rest of a near call. */
  readonly timeless?: true;
  /** The state after time alone has changed it, or undefined. It is kept even if the call is refused. */
  readonly latch?: (state: S) => S | undefined;
  /** Runs once when a latched state is kept: writes its ledger line, and returns the state to keep. */
  readonly onLatched?: (state: S, self: object) => S;
  /** Runs before a callback is called. Throws if nothing may pass any more. */
  readonly admitCallback?: (state: S) => void;
  /** Runs after a call. Throws if its result may not be passed on any more. */
  readonly admitResult?: (state: S) => void;
  /** Takes the call over: it waits for something, then calls `send`. `inner` is the object behind. */
  readonly defer?: (
    state: S,
    call: { readonly method: string; readonly args: readonly unknown[] },
    inner: object,
    send: (args: readonly unknown[]) => Promise<unknown>,
  ) => Promise<unknown>;
  /** The fields that a ledger line of a call starts with. Without it, calls write no lines. */
  readonly ledgerFields?: (state: S) => {
    readonly grant: string;
    readonly use?: number | undefined;
    readonly act?: string | undefined;
    readonly made?: string | undefined;
    /** Each call writes a line when it ends, also when it does not fail. */
    readonly audited?: true | undefined;
  };
  /** The cause that ends driver calls made under it. */
  readonly cause?: (state: S) => string;
  /** Causes that it shares with other forwarders, and that end those calls too. */
  readonly groups?: (state: S) => readonly Group[];
  /** The table in which a membrane remembers what it wrapped. Without it, only what comes out is wrapped. */
  readonly wrapped?: (state: S) => Table<object> | undefined;
  /** Lets a host program see what is behind: returns its cause, or throws. Without it, `reveal` is denied. */
  readonly reveal?: (state: S) => string;
}

/** The caller chooses the names of methods. Errors and ledger lines carry no more than a person reads. */
export const shown = (method: string): string => method.slice(0, 64);

/** A `wrap` that lets everything out as it is. */
export const asItIs = (_state: readonly unknown[], value: unknown): unknown => value;

export const noGroups: readonly Group[] = Object.freeze([]);

export const opaque = (): CapError =>
  new CapError(
    'denied',
    'this forwarder does not show what is behind it: grant it without filters, counts and gates, or use it by E',
  );
