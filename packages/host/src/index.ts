/** The public face of `@hob/host`. */
export type { Code, Printed, Program } from './code.ts';
export { sentinelHome } from './drivers/state-home.ts';
export type { Grant, Granter } from './grants.ts';
export { openHost } from './host.ts';
export type { LedgerReader } from './ledger-reader.ts';
export type { Answer } from './powerbox/answers.ts';
export { card } from './powerbox/card.ts';
export type { Request } from './powerbox/inbox.ts';
export type { Judge } from './powerbox/judge.ts';
export type { SessionFace } from './sessions.ts';
export type { StartOptions } from './start.ts';
export type { GrantTerms, Scope } from './terms.ts';
export type { Host, HostOptions, NewSession, Session, Started } from './types.ts';
