/** What a session runs over: ordered, reliable frames, and a close that gives its reason. */
export interface Duplex {
  /** `written`: told once the memory of a binary frame is of no more use here. Who hands frames on as they are never tells. */
  send(frame: string | Uint8Array, written?: () => void): void;
  /** Bytes accepted and not yet handed to the system. */
  readonly buffered: number;
  onFrame(then: (frame: string | Uint8Array) => void): void;
  onClose(then: (why: { readonly code: number; readonly reason: string }) => void): void;
  close(code: number, reason: string): void;
  /** Tells of errors of the transport itself, one that came before this call too. Who speaks over it notes them, and closes it. */
  onFault?(then: (error: unknown) => void): void;
}

/** Close codes of a Hob connection, and what they tell the peer. */
export const closeCodes = {
  normal: 1000,
  goingAway: 1001,
  /** The socket ended without a word. */
  lost: 1006,
  tooLarge: 1009,
  /** Something went wrong at this end that should not have: a fault to report. */
  fault: 1011,
  protocol: 4400,
  fenced: 4401,
  sessionEnded: 4403,
  halfOpen: 4408,
} as const;

/**
 * Frames, faults and the end of a transport, kept until somebody listens: they may come before.
 *
 * Each callback that a transport gives to a socket, a channel or a timer goes through `guard`: an error there must end this transport, and not
 * the process.
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

  /** Once: what comes later is the echo of the first. */
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
