/** The public face of `@hob/host`. */

export type { HttpFace, HttpFaces, HttpSession } from './door/http-face.ts';
export type { HttpPage, HttpPages } from './door/http-pages.ts';
export type { ServeOptions } from './door/where.ts';
export { sentinelHome } from './drivers/state-home.ts';
export type { CallDecision, CallFacts, CallFirewall, LoopCall, LoopGuard } from './firewall.ts';
export type { Acceptance, Granter } from './granters/grants.ts';
export type { LedgerReader } from './granters/ledger-reader.ts';
export type { LocalGranter, LocalOptions } from './granters/local-granter.ts';
export type { Grant } from './granters/own-rows.ts';
export type { StartOptions } from './granters/start.ts';
export { openHost } from './open-host.ts';
export type { RequestAnswer } from './powerbox/answer-request.ts';
export { card } from './powerbox/card.ts';
export type { Request } from './powerbox/inbox.ts';
export type { Judge } from './powerbox/judge.ts';
export type { Asked } from './powerbox/request.ts';
export type { Change, ChangeAsker } from './sessions/ask-change.ts';
export type { CancellableCall, NotedResult } from './sessions/calls.ts';
export type { Code, CodeRun, Printed } from './sessions/code.ts';
export type { Holding } from './sessions/holdings.ts';
export type { AskForMore, SessionAnswers, SessionFace } from './sessions/sessions.ts';
export type { RequestNotice } from './state/host-powers.ts';
export type { KeptChange, KeptTexts } from './state/kept.ts';
export type { OwnName } from './state/records.ts';
export type { CallLevel, GrantTerms, Scope } from './state/terms.ts';
export { type SafeText, safeLines, safeText } from './text/safe-text.ts';
export type { AgentPowers, Host, HostCode, HostOptions, NewSession, OfferOptions, Session, Started } from './types.ts';
