/** The public face of `@hob/host`. */
export type { Grant, Granter } from './grants.ts';
export { type Host, type HostOptions, openHost, type Session } from './host.ts';
export type { LedgerReader } from './ledger-reader.ts';
export type { SessionFace } from './sessions.ts';
