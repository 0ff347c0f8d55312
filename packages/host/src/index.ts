/** The public face of `@hob/host`. */

export { sentinelHome } from './drivers/state-home.ts';
export type { Grant, Granter } from './granters/grants.ts';
export type { LedgerReader } from './granters/ledger-reader.ts';
export type { StartOptions } from './granters/start.ts';
export { openHost } from './host.ts';
export type { Answer } from './powerbox/answers.ts';
export { card } from './powerbox/card.ts';
export type { Request } from './powerbox/inbox.ts';
export type { Judge } from './powerbox/judge.ts';
export type { Code, Printed, Program } from './sessions/code.ts';
export type { SessionFace } from './sessions/sessions.ts';
export type { GrantTerms, Scope } from './state/terms.ts';
export type { Host, HostOptions, NewSession, Session, Started } from './types.ts';
