/** The shapes that several verbs print with `--json`, for their help. */

export const GRANT_JSON =
  '{ id: string, grant: string, session: string, cap: string, state: string, usesLeft?: number, until: number,\n  madeUntil?: number, parent?: string, asks?: boolean, waits?: "every" | "some", drafts?: boolean,\n  called?: string }';
export const REQUEST_JSON =
  '{ id: string, request: string, kind: "grant" | "call", session: string, cap: string, effect: string,\n  digest: string, waiting: boolean, leftMs: number, terms?: object, draft?: boolean,\n  flags: string[], called?: string }';
export const SESSION_JSON = '{ id: string, session: string, name: string, parent?: string, called?: string }';
export const STORE_JSON: string =
  '{ epoch: number, versions: { tables: number, serves: number },\n' +
  '  holder?: { name?: string, leaseMs: number, connected: boolean },\n' +
  '  standbys: { name?: string, heardMs?: number }[], replication: { mode: "synchronous" | "asynchronous" | "none",\n' +
  '  standbys: { name: string, state: string, sync: string, unsentBytes: number, unflushedBytes: number,\n' +
  '  flushMs?: number }[], hidden: number } } | { wrong: string }';
