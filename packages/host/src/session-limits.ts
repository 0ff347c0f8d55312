/** The most that one session, together with its child sessions, may use of the host. */

/**
 * Far above what an agent needs, and far below what would hurt other sessions. Bytes are bytes, the rest are
 * counts.
 */
export const sessionLimits: Readonly<Record<SessionLimit, number>> = Object.freeze({
  actors: 10_000,
  portraitBytes: 16 << 20,
  messages: 10_000,
  promises: 20_000,
  // An empty session has 4 rows, and each grant has 4.
  rows: 15_000,
  connections: 8,
  lines: 100_000,
  // Enough for that many usual lines. The ledger keeps only the beginning of long arguments.
  lineBytes: 48 << 20,
  argumentBytes: 4096,
});

type SessionLimit =
  | 'actors'
  | 'portraitBytes'
  | 'messages'
  | 'promises'
  | 'rows'
  | 'connections'
  | 'lines'
  | 'lineBytes'
  | 'argumentBytes';
