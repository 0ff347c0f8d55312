/**
 * Where each verb of `hob` is, in the order in which the help lists them.
 *
 * A command line loads the file of its own verb and no other: editors, commit hooks and agents call `hob` often, and
 * reading modules is most of the time that a verb takes.
 */
import { CLIENT } from './client-verbs.ts';
import { DATA } from './data-verbs.ts';
import { withNewName } from './line/older-names.ts';
import type { Verb } from './line/verb.ts';

export { runNamed as runLine } from './drivers/line.ts';

type Load = () => Promise<Verb>;

/** The loader of each verb, by its name. */
export const TABLE: Readonly<Record<string, Load>> = {
  serve: async () => (await import('./verbs/host/serve.ts')).serve,
  host: async () => (await import('./verbs/host/host.ts')).hostVerb,
  workspace: async () => (await import('./verbs/host/workspace.ts')).workspace,
  start: async () => (await import('./verbs/host/start.ts')).start,
  acp: async () => (await import('./verbs/host/acp.ts')).acp,
  mcp: async () => (await import('./verbs/host/mcp.ts')).mcp,
  recipe: async () => (await import('./verbs/host/recipe.ts')).recipe,
  status: CLIENT.status,
  metrics: CLIENT.metrics,
  stop: CLIENT.stop,
  console: async () => (await import('./verbs/host/console.ts')).consoleVerb,

  inbox: CLIENT.inbox,
  grant: CLIENT.grant,
  refuse: CLIENT.refuse,
  list: CLIENT.list,
  revoke: CLIENT.revoke,
  narrow: CLIENT.narrow,
  renew: CLIENT.renew,
  give: CLIENT.give,
  name: CLIENT.name,
  sessions: CLIENT.sessions,
  end: CLIENT.end,
  confirm: CLIENT.confirm,
  wishes: CLIENT.wishes,
  accept: CLIENT.accept,
  'granter list': async () => (await import('./verbs/granter/granters.ts')).granterList,
  'granter secret': async () => (await import('./verbs/granter/granters.ts')).granterSecret,
  'sturdyref mint': async () => (await import('./verbs/granter/sturdyref.ts')).sturdyrefMint,
  'sturdyref list': async () => (await import('./verbs/granter/sturdyref.ts')).sturdyrefList,
  'sturdyref rotate': async () => (await import('./verbs/granter/sturdyref.ts')).sturdyrefRotate,

  'ledger show': CLIENT['ledger show'],
  'ledger verify': DATA['ledger verify'],
  'ledger export': async () => (await import('./verbs/granter/ledger-export.ts')).ledgerExport,
  'ledger retain': async () => (await import('./verbs/granter/ledger-retain.ts')).ledgerRetain,

  init: async () => (await import('./verbs/manifest/init.ts')).init,
  check: DATA.check,
  explain: DATA.explain,
  'assess replay': async () => (await import('./verbs/manifest/assess-replay.ts')).assessReplay,
  suggest: async () => (await import('./verbs/manifest/suggest.ts')).suggest,
  import: async () => (await import('./verbs/import.ts')).importVerb,
  card: async () => (await import('./verbs/manifest/card.ts')).card,

  'secret set': async () => (await import('./verbs/secrets/set.ts')).secretSet,
  'secret list': async () => (await import('./verbs/secrets/list.ts')).secretList,
  'secret remove': async () => (await import('./verbs/secrets/remove.ts')).secretRemove,
  'secret rotate': async () => (await import('./verbs/secrets/rotate.ts')).secretRotate,

  'cluster serve': async () => (await import('./verbs/cluster/serve.ts')).clusterServe,
  'cluster status': async () => (await import('./verbs/cluster/status.ts')).clusterStatus,
  'cluster add': async () => (await import('./verbs/cluster/tenants.ts')).clusterAdd,
  'cluster remove': async () => (await import('./verbs/cluster/tenants.ts')).clusterRemove,
  'cluster pin': async () => (await import('./verbs/cluster/tenants.ts')).clusterPin,
  'cluster export': async () => (await import('./verbs/cluster/export.ts')).clusterExport,
  'cluster verify': async () => (await import('./verbs/cluster/verify.ts')).clusterVerify,

  doctor: async () => (await import('./verbs/host/doctor.ts')).doctor,
  unit: async () => (await import('./verbs/host/unit.ts')).unit,
  backup: async () => (await import('./verbs/host/backup.ts')).backup,
  restore: async () => (await import('./verbs/host/restore.ts')).restore,
  completion: async () => (await import('./verbs/manifest/completion.ts')).completionOf(allVerbs),
  version: async () => (await import('./verbs/version.ts')).version,
};

/** Loads every verb. */
export const allVerbs = async (): Promise<readonly Verb[]> =>
  await Promise.all(Object.values(TABLE).map(async (load) => await load()));

/** The verbs among which a command line chooses: one, those of a group, or all if its first word names none. */
export async function verbsFor(given: readonly string[]): Promise<readonly Verb[]> {
  const [word = ''] = withNewName(given).args;
  const meant = Object.entries(TABLE).filter(([name]) => name.split(' ')[0] === word);
  return meant.length === 0 ? await allVerbs() : await Promise.all(meant.map(async ([, load]) => await load()));
}
