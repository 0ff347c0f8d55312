/** The verbs that only talk to a host: what granters and their scripts call. None of them may open a store. */
import type { ClientVerb } from './line/bundled-verbs.ts';
import type { Verb } from './line/verb.ts';

/** The loader of each of them, by its name. */
export const CLIENT: Readonly<Record<ClientVerb, () => Promise<Verb>>> = {
  status: async () => (await import('./verbs/host/status.ts')).status,
  metrics: async () => (await import('./verbs/host/metrics.ts')).metrics,
  stop: async () => (await import('./verbs/host/stop.ts')).stop,
  inbox: async () => (await import('./verbs/granter/inbox.ts')).inbox,
  grant: async () => (await import('./verbs/granter/grant.ts')).grant,
  refuse: async () => (await import('./verbs/granter/refuse.ts')).refuse,
  list: async () => (await import('./verbs/granter/list.ts')).list,
  revoke: async () => (await import('./verbs/granter/revoke.ts')).revoke,
  narrow: async () => (await import('./verbs/granter/narrow.ts')).narrow,
  renew: async () => (await import('./verbs/granter/renew.ts')).renew,
  give: async () => (await import('./verbs/granter/give.ts')).give,
  name: async () => (await import('./verbs/granter/name.ts')).name,
  sessions: async () => (await import('./verbs/granter/sessions.ts')).sessions,
  end: async () => (await import('./verbs/granter/end.ts')).end,
  confirm: async () => (await import('./verbs/granter/confirm.ts')).confirm,
  wishes: async () => (await import('./verbs/granter/wishes.ts')).wishes,
  accept: async () => (await import('./verbs/granter/accept.ts')).accept,
  'ledger show': async () => (await import('./verbs/granter/ledger.ts')).ledger,
};
