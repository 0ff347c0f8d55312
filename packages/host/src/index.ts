/** The public face of `@hob/host`. */
export type { Grant, Granter, GrantTerms, Scope } from './grants.ts';
export { type Host, type HostOptions, type NewSession, openHost, type Session } from './host.ts';
export type { LedgerReader } from './ledger-reader.ts';
export type { SessionFace } from './sessions.ts';
