/**
 * The kinds of ledger lines: a closed set. docs/ledger.md describes each.
 *
 * The fields named here are the usual ones; a line holds those that are known. It holds names, never values:
 * of arguments only a salted commitment (`args`) and their number (`argc`).
 */
import type { EncodedArgs } from '../core/ledger-entry.ts';
export const KINDS = {
  genesis: 'the first line: stream (a random id of this ledger), boot, key (whose signatures count)',
  checkpoint: 'the host vouches for all lines before this one: note (a signed C2SP checkpoint)',
  cut: 'earlier lines were dropped: from, to (their numbers), first (the hash of line 1), tree (what the tree goes on from after line `to`), by. A checkpoint follows at once',
  redact: 'the arguments of an earlier line were deleted: line (its seq), by, why',
  restart: 'the store was opened again: boot, epoch. The outcome of work before this line is unknown',
  restored:
    'the store is older than it had been, or nobody can tell: era, missing (how many commits, where that is known), why. Earlier grants with a limit wait until a person confirms them',
  trust: 'a person has looked at a store that was put back, and lets its grants go on: era, by',
  session:
    'a session began or ended, its secret was changed, or a person had it opened anew: session, what, parent, granters, by, why, grants, before',
  grant:
    'a granter let a session hold something: grant, session, petname, by, surface, offered, parent, chain, until, uses, methods',
  made: 'a call of a grant made objects with terms of their own (begin), or their time is over (expire): what, grant, made (their name), until, uses, methods',
  sturdyref: 'a secret that opens one grant was made or exchanged: grant, session, what, by, surface',
  request:
    'a session asked for something, or a call began to wait for a granter: request, session, chain, digest, asks, grant, method. A request that replaces one whose file has changed says stale: the request before. With draft, the caller does not wait',
  approve:
    'a granter said yes to a request: request, session, digest, by, surface, grant, passkey (the one that signed it)',
  deny: 'a granter or judge said no to a request: request, session, digest, by, surface, why, lasting',
  withdraw: 'a request ended without an answer: request, session, digest, code',
  confirm: 'a granter let a grant of a store that was put back go on: grant, by',
  narrow: 'a granter took away from a grant: grant, by, uses, until, methods',
  renew: 'a granter let a grant last longer: grant, by, until',
  call: 'a call was accepted and, if limited, charged; committed before it goes out: grant, session, method, args, argc, argsCut, use, act (the digest of the approved request), back (a callback), made (of an object that a call of the grant made), parts and bytes (of the sink that the call closes)',
  assess: 'programs of the person who runs the host have looked at a call: grant, method, the assessment, hooks',
  hook: 'programs have looked at the answer of a call: grant, method, hooks',
  review: 'a change that went on at once is in review: grant, request, what',
  'give-back': 'uses of calls that no granter was shown were given back: grant, uses',
  result:
    'what became of a call that failed, of each call of an audited grant, of a stream, or of a job: grant, method, code, back, job, mounts, usage, args, argc, stream (read or write), parts, bytes',
  refuse:
    'a call was not let through: grant, session, method, code; or meter, code. With count, since: so many more like it',
  revoke: 'a granter ended a grant: grant, by, surface, why',
  accept:
    'a granter accepted a text by its hash, or that ended: what (begin, end), name, sha256, by, surface, why, grants',
  name: 'a granter gave a thing a name of its own, or took that away: what (begin, end), grant or session or request, name, by, surface',
  draft: 'a drafted change was begun, or could not be made: request, session, grant, method, what (begin, fail), code',
  seal: 'a tool of a server was sealed (begin), its definition changed (change), or a granter approved the change (accept): what, server, tool, seal, was',
  expire: 'a grant ended by time: grant, code',
  cancel: 'a session cancelled a call or a request of its own: session, call (the name that it gave the call)',
  passkey: 'a granter added or removed a passkey: what, granter, passkey (its id), by, surface',
  secret:
    'a secret was stored or removed, or all were put under another key: what, name (never the value), by, surface',
  'host-stop': 'the host closed in good order',
} as const;

export type LineKind = keyof typeof KINDS;

/** An entry to be written as a line. The kinds that the ledger writes itself are left out. */
export interface KnownLedgerEntry {
  readonly kind: Exclude<LineKind, 'genesis' | 'restart' | 'restored' | 'trust' | 'checkpoint' | 'cut' | 'redact'>;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly args?: EncodedArgs | undefined;
}
