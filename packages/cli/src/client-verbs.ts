/**
 * The verbs that only talk to a host. Granters and their scripts call them often, so in a tarball they are a bundle
 * (`client.ts`). A bundle has its own copy of each module that it uses, so these verbs open no store.
 */
import type { Verb } from './line/verb.ts';

/** The loader of each of these verbs, by the name of the verb. */
export const CLIENT = {
  status: async (): Promise<Verb> => (await import('./verbs/host/status.ts')).status,
  metrics: async (): Promise<Verb> => (await import('./verbs/host/metrics.ts')).metrics,
  stop: async (): Promise<Verb> => (await import('./verbs/host/stop.ts')).stop,
  inbox: async (): Promise<Verb> => (await import('./verbs/granter/inbox.ts')).inbox,
  grant: async (): Promise<Verb> => (await import('./verbs/granter/grant.ts')).grant,
  refuse: async (): Promise<Verb> => (await import('./verbs/granter/refuse.ts')).refuse,
  list: async (): Promise<Verb> => (await import('./verbs/granter/list.ts')).list,
  revoke: async (): Promise<Verb> => (await import('./verbs/granter/revoke.ts')).revoke,
  narrow: async (): Promise<Verb> => (await import('./verbs/granter/narrow.ts')).narrow,
  renew: async (): Promise<Verb> => (await import('./verbs/granter/renew.ts')).renew,
  give: async (): Promise<Verb> => (await import('./verbs/granter/give.ts')).give,
  name: async (): Promise<Verb> => (await import('./verbs/granter/name.ts')).name,
  sessions: async (): Promise<Verb> => (await import('./verbs/granter/sessions.ts')).sessions,
  end: async (): Promise<Verb> => (await import('./verbs/granter/end.ts')).end,
  confirm: async (): Promise<Verb> => (await import('./verbs/granter/confirm.ts')).confirm,
  wishes: async (): Promise<Verb> => (await import('./verbs/granter/wishes.ts')).wishes,
  accept: async (): Promise<Verb> => (await import('./verbs/granter/accept.ts')).accept,
  'ledger show': async (): Promise<Verb> => (await import('./verbs/granter/ledger.ts')).ledger,
};
type ClientVerb = keyof typeof CLIENT;

/** Returns the verb of these that a command line names, if any. Undefined with `--store`, which needs a database. */
export function clientVerb(args: readonly string[]): ClientVerb | undefined {
  const [word = '', next = '-'] = args;
  if (args.some((each) => /^--store(?:=|$)/.test(each))) return undefined;
  // `hob ledger --grant G3` is `hob ledger show --grant G3`.
  if (word === 'ledger') return /^(?:-(?!-help$|h$).*|show)$/.test(next) ? 'ledger show' : undefined;
  // `hob 'ledger show'` is one word, and not a verb.
  return Object.hasOwn(CLIENT, word) && !word.includes(' ') ? (word as ClientVerb) : undefined;
}
