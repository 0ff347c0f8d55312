/** A transport for a session: ordered, reliable frames, and a close with a code and a reason. */
export interface Duplex {
  /**
   * `written` is called when the memory of a binary frame is no longer needed. A duplex that passes the same
   * memory on never calls it.
   */
  send(frame: string | Uint8Array, written?: () => void): void;
  /** Bytes accepted and not yet passed to the operating system. */
  readonly buffered: number;
  onFrame(then: (frame: string | Uint8Array) => void): void;
  onClose(then: (why: { readonly code: number; readonly reason: string }) => void): void;
  close(code: number, reason: string): void;
  /** Delays the reading of further frames of the peer by about `ms`. A transport without this method never delays. */
  slow?(ms: number): void;
  /**
   * Stops reading frames of the peer until `isFull()` returns false, for about 2 s at most. Calls of `slow` in this
   * time do not make it longer. Calls `isFull` about every ms. A transport without this method never stops.
   */
  hold?(isFull: () => boolean): void;
  /**
   * Reports an error of the transport itself, also one from before this call. The session records it and
   * closes.
   */
  onFault?(then: (error: unknown) => void): void;
}

/** Close codes of a Hob connection. `docs/wire.md` lists their meaning. */
export const closeCodes = {
  normal: 1000,
  goingAway: 1001,
  /** The socket ended without a close frame. */
  lost: 1006,
  tooLarge: 1009,
  /** An internal error of this end. It should be reported as a bug. */
  fault: 1011,
  protocol: 4400,
  fenced: 4401,
  sessionEnded: 4403,
  halfOpen: 4408,
} as const;

/**
 * Holds frames, faults and the close of a transport until a listener is set, because they may come earlier.
 *
 * Every callback that a transport passes to a socket, a channel or a timer goes through `guard`. An error in
 * it then ends this transport and not the process.
 */
export class Inbox {
  #early: (string | Uint8Array)[] | undefined = [];
  #onFrame: (frame: string | Uint8Array) => void = (frame) => void this.#early?.push(frame);
  #onClose: (why: { readonly code: number; readonly reason: string }) => void = () => {};
  #ended: { readonly code: number; readonly reason: string } | undefined;

  #onFault: (error: unknown) => void = (error) => {
    this.#fault ??= { error };
  };
  #fault: { readonly error: unknown } | undefined;

  guard<A extends readonly unknown[]>(body: (...args: A) => void): (...args: A) => void {
    return (...args) => {
      try {
        body(...args);
      } catch (error) {
        this.fault(error);
      }
    };
  }

  fault(error: unknown): void {
    this.#onFault(error);
  }

  onFault(then: (error: unknown) => void): void {
    this.#onFault = then;
    if (this.#fault !== undefined) then(this.#fault.error);
  }

  frame(frame: string | Uint8Array): void {
    if (this.#ended === undefined) this.#onFrame(frame);
  }

  /** Only the first call counts. Later ones are echoes of it. */
  end(code: number, reason: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = Object.freeze({ code, reason });
    this.#onClose(this.#ended);
  }

  get ended(): boolean {
    return this.#ended !== undefined;
  }

  onFrame(then: (frame: string | Uint8Array) => void): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    this.#onFrame = then;
    for (const frame of early) then(frame);
  }

  onClose(then: (why: { readonly code: number; readonly reason: string }) => void): void {
    this.#onClose = then;
    if (this.#ended !== undefined) then(this.#ended);
  }
}
