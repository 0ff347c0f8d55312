/**
 * What a line can be about: a closed set, and the one table of it (docs/ledger.md is the long form).
 *
 * The fields beside are the usual ones; a line carries those that are known. Names, never values: of arguments a line holds
 * only a salted commitment (`args`) and their number (`argc`).
 */
import type { EncodedArgs } from '../core/ledger-entry.ts';
export const KINDS = {
  genesis: 'the first line: stream (a random id of this ledger), boot, key (whose signatures count)',
  checkpoint: 'the host vouches for all lines before this one: note (a signed C2SP checkpoint)',
  cut: 'earlier lines were dropped: from, to (their numbers), first (the hash of line 1), tree (what the tree goes on from after line `to`), by. A checkpoint follows at once',
  redact: 'the arguments of an earlier line were deleted: line (its seq), by, why',
  restart: 'the store was opened again: boot, epoch. What was under way before this line is unknown',
  restored:
    'the store is older than it had been, or nobody can tell: era, missing (how many commits, where that is known), why. Limited grants of before wait for a person',
  trust: 'a person has looked at a store that was put back, and lets its grants go on: era, by',
  session:
    'a session began or ended, its secret was changed, or a person had it opened anew: session, what, parent, granters, by, why, grants, before',
  grant:
    'a granter let a session hold something: grant, session, petname, by, surface, offered, parent, chain, until, uses, methods',
  sturdyref: 'a secret that opens one grant was made or exchanged: grant, session, what, by, surface',
  request:
    'a session asked for something, or a call began to wait for a granter: request, session, chain, digest, asks, grant, method. What is asked again for a file that changed says stale: the request before',
  approve: 'a granter said yes to a request: request, session, digest, by, surface, grant',
  deny: 'a granter or judge said no to a request: request, session, digest, by, surface, why, lasting',
  withdraw: 'a request ended without an answer: request, session, digest, code',
  confirm: 'a granter let a grant of a store that was put back go on: grant, by',
  narrow: 'a granter took away from a grant: grant, by, uses, until, methods',
  renew: 'a granter let a grant last longer: grant, by, until',
  call: 'a call was accepted and, if limited, charged; committed before it goes out: grant, session, method, args, argc, argsCut, use',
  'give-back': 'uses were given back that calls cost which nobody was asked about: grant, uses',
  result: 'what became of a call that failed, or of a job: grant, method, code, job, mounts, usage, args, argc',
  refuse:
    'a call was not let through: grant, session, method, code; or meter, code. With count, since: so many more like it',
  revoke: 'a granter ended a grant: grant, by, surface, why',
  expire: 'a grant ended by time or by its last use: grant, code',
  'host-stop': 'the host closed in good order',
} as const;

export type LineKind = keyof typeof KINDS;

/** What is to become a line: everything but the kinds that the ledger itself writes. */
export interface Entry {
  readonly kind: Exclude<LineKind, 'genesis' | 'restart' | 'restored' | 'trust' | 'checkpoint' | 'cut' | 'redact'>;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly args?: EncodedArgs | undefined;
}
