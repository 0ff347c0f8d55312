/** What a session runs over: ordered, reliable frames, and a close that gives its reason. */
export interface Duplex {
  send(frame: string | Uint8Array): void;
  /** Bytes accepted and not yet handed to the system. */
  readonly buffered: number;
  onFrame(then: (frame: string | Uint8Array) => void): void;
  onClose(then: (why: { readonly code: number; readonly reason: string }) => void): void;
  close(code: number, reason: string): void;
}

/** Close codes of a Hob connection, and what they tell the peer. */
export const closeCodes = {
  normal: 1000,
  goingAway: 1001,
  tooLarge: 1009,
  protocol: 4400,
  fenced: 4401,
  sessionEnded: 4403,
} as const;
