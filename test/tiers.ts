/**
 * Which test files run when. `HOB_TIER` names the tier; without it every file runs.
 *
 * | tier | command | files |
 * | --- | --- | --- |
 * | `check` | `npm run check` | those under 2.5 s of processor time on an idle machine, once each: not over `native`, and of both regimes in `locked` |
 * | `test` | `npm test` | all but `deepFiles` |
 * | `deep` | `npm run test:deep` | `deepFiles`, and those that import `test/depth.ts`, in full |
 *
 * No test asserts a time, so a file that grows slow fails nothing; `npm run check` names it at the end.
 */
import { globSync, readFileSync } from 'node:fs';

export const tiers = ['check', 'test', 'deep'] as const;

/**
 * Whole files of kills, races, users and kernels, of the real Hermes, of agent hosts, of the SDKs of agent loops, of the packed
 * packages, and those that start dozens of hosts and commands. `npm test` keeps the files in which the main job runs:
 * `serve`, `main-job`, `examples`, `commands`, `readme`.
 */
export const deepFiles: readonly string[] = [
  'examples/agentdojo/agentdojo.test.ts',
  'examples/cluster.test.ts',
  'examples/demo/demo.test.ts',
  'examples/tools.test.ts',
  'packages/{caps-net,cluster,revocable,store-postgres}/crash/*.test.ts',
  'packages/vat/crash/{follower,powercut,thread}.test.ts',
  'packages/caps-fs/src/escapes-launched.test.ts',
  'packages/caps-fs/src/race-attacker.test.ts',
  'packages/caps-net/src/net/clients.test.ts',
  'packages/cluster/src/link/relay.test.ts',
  'packages/host/src/door/drivers/relay.test.ts',
  'packages/caps-shell/src/steps.test.ts',
  'packages/cli/src/acp/acp.test.ts',
  'packages/cli/src/cluster/{cluster,compose}.test.ts',
  'packages/cli/src/daemon/{compose,postgres}.test.ts',
  'packages/cli/src/daemon/at-rest.test.ts',
  'packages/cli/src/daemon/chats/chats.test.ts',
  'packages/cli/src/daemon/console.test.ts',
  'packages/cli/src/daemon/custody.test.ts',
  'packages/cli/src/daemon/drafts.test.ts',
  'packages/cli/src/daemon/http.test.ts',
  'packages/cli/src/daemon/messages.test.ts',
  'packages/cli/src/daemon/inbox/inbox.test.ts',
  'packages/cli/src/daemon/hooks-killed.test.ts',
  'packages/cli/src/daemon/killed.test.ts',
  'packages/cli/src/daemon/ledger-part.test.ts',
  'packages/cli/src/daemon/names.test.ts',
  'packages/cli/src/daemon/reach.test.ts',
  'packages/cli/src/daemon/runs/killed.test.ts',
  'packages/cli/src/daemon/tasks/tasks.test.ts',
  'packages/cli/src/recipes/real/*.test.ts',
  'packages/cli/src/recipes/drivers/box.test.ts',
  'packages/cli/src/daemon/mcp-clients.test.ts',
  'packages/cli/src/daemon/tell.test.ts',
  'packages/cli/src/daemon/terminal.test.ts',
  'packages/cli/src/daemon/wishes.test.ts',
  'packages/cli/src/plan/servers.test.ts',
  'packages/cli/src/verbs/granter/granter.test.ts',
  'packages/cli/src/verbs/host/host.test.ts',
  'packages/cli/src/verbs/manifest/card-verb.test.ts',
  'packages/cli/src/verbs/manifest/init.test.ts',
  'packages/cli/src/verbs/manifest/suggest.test.ts',
  'packages/console/src/{attack,console,groups,keyboard,people,pictures}.test.ts',
  'packages/firewall/src/crisis/learned/teach.test.ts',
  'packages/guest/src/attack.test.ts',
  'packages/host/src/crash.test.ts',
  'packages/host/src/crowd.test.ts',
  'packages/host/src/granters/start.test.ts',
  'packages/host/src/handover.test.ts',
  'packages/mcp/src/servers/{hostile,place,real,tool}.test.ts',
  'packages/vat/src/ledger/crash.test.ts',
  'test-bisim/*bisim.test.ts',
  'test/api.test.ts',
  'test/browser.test.ts',
  'test/hermes.test.ts',
  'test/native-build.test.ts',
  'test/native.test.ts',
  'test/needs.test.ts',
  'test/pack.test.ts',
  'test/packed-cli.test.ts',
  'test/packed-deploy.test.ts',
  'test/packed-items.test.ts',
  'test/publish.test.ts',
  'test/release-run.test.ts',
  'test/tutorial.test.ts',
  'packages/mcp/src/face/face.test.ts',
  'packages/mcp/src/stdio.test.ts',
  'packages/mcp/src/http/http.test.ts',
  'packages/mcp/src/http/browser.test.ts',
  'packages/mcp/src/http/conformance.test.ts',
  'packages/caps-shell/src/{ahead,begun}.test.ts',
  'packages/caps-shell/src/kill.test.ts',
  'packages/caps-shell/src/waiting.test.ts',
  'packages/cli/src/daemon/firewall-faces.test.ts',
  'packages/cli/src/daemon/granters.test.ts',
  'packages/cli/src/daemon/runs/runs.test.ts',
  'packages/cli/src/daemon/runs/schedules.test.ts',
  'packages/host/src/granters/stop.test.ts',
  'packages/host/src/programs/own-host.test.ts',
  'packages/host/src/programs/serve-workspace.test.ts',
  'packages/host/src/programs/session-flags.test.ts',
  'packages/host/src/programs/week.test.ts',
  'packages/host/src/sessions/removal.test.ts',
  'packages/vat/src/durable/attacks.test.ts',
  'packages/vat/src/ledger/retain.test.ts',
  'packages/vat/src/store/history.test.ts',
  'test/deployment.test.ts',
  'test/exit-codes.test.ts',
  'test/mutants.test.ts',
  'packages/host/src/programs/by-secret.test.ts',
  'packages/host/src/programs/answer-by-secret.test.ts',
  'packages/vat/src/captp/keeping.test.ts',
  'packages/caps-net/src/net/forward.test.ts',
  'packages/host/src/sessions/grace.test.ts',
  'packages/vat/src/ledger/cut.test.ts',
  'packages/host/src/durable.test.ts',
  'packages/host/src/terminal.test.ts',
  'packages/cli/src/plan/messages.test.ts',
  'packages/cli/src/plan/program-net.test.ts',
  'packages/host/src/powerbox/own/own-files.test.ts',
  'packages/host/src/powerbox/own/own-objects.test.ts',
  'packages/cli/src/daemon/firewall.test.ts',
  'test/readme-again.test.ts',
  'test/leaks.test.ts',
  'bench/durable.test.ts',
  'packages/vat/src/captp/endo-drops.test.ts',
  'packages/vat/src/captp/attack.test.ts',
  'packages/acp/src/hostile.test.ts',
  'packages/acp/src/wrap.test.ts',
  'packages/host/src/dead-ids.test.ts',
  'packages/host/src/ensure.test.ts',
  'packages/caps-shell/src/attack.test.ts',
  'packages/vat/src/vats/faults.test.ts',
  'packages/vat/src/ledger/runs.test.ts',
  'packages/cluster/src/{checkpoints,cluster,processes}.test.ts',
  'packages/store-postgres/src/{faults,taken-over,versions}.test.ts',
  'packages/vat/src/captp/fence.test.ts',
];

/** These take minutes, mostly waiting for disks, servers and processes that end. They begin before all others. */
export const firstFiles: readonly string[] = [
  'packages/vat/crash/{crash,faults}.test.ts',
  'packages/{caps-net,cluster,store-postgres}/crash/*.test.ts',
];

/** These take half a minute and more. They begin first in their regime. */
export const earlyFiles: readonly string[] = [
  'test/{release-run,packed-cli,pack,exit-codes,readme-again,native,api,commands}.test.ts',
];

/** Over 2.5 s of processor time, their programs included: left out by `npm run check` alone. */
export const slowFiles: readonly string[] = [
  'examples/examples.test.ts',
  'examples/postgres.test.ts',
  'packages/acp/src/requests.test.ts',
  'packages/caps-fs/src/drivers/native.test.ts',
  'packages/caps-fs/src/escapes-fuzz.test.ts',
  'packages/caps-fs/src/escapes-table.test.ts',
  'packages/caps-fs/src/files/draft.test.ts',
  'packages/caps-fs/src/files/listing.test.ts',
  'packages/caps-fs/src/locked.test.ts',
  'packages/caps-fs/src/race-kill.test.ts',
  'packages/caps-fs/src/root/admission.test.ts',
  'packages/caps-fs/src/root/life.test.ts',
  'packages/caps-fs/src/search/seek.test.ts',
  'packages/caps-fs/src/versions.test.ts',
  'packages/caps-net/src/http/http.test.ts',
  'packages/caps-net/src/net/{attack,net}.test.ts',
  'packages/caps-shell/src/covered.test.ts',
  'packages/caps-shell/src/granted.test.ts',
  'packages/caps-shell/src/life.test.ts',
  'packages/caps-shell/src/readonly.test.ts',
  'packages/caps-shell/src/shell.test.ts',
  'packages/cli/src/cluster/drivers/reread.test.ts',
  'packages/cli/src/daemon/main-job.test.ts',
  'packages/cli/src/daemon/mcp.test.ts',
  'packages/cli/src/daemon/metrics/metrics.test.ts',
  'packages/cli/src/daemon/program-host.test.ts',
  'packages/cli/src/daemon/serve.test.ts',
  'packages/cli/src/line.test.ts',
  'packages/cli/src/plan/decide-commands.test.ts',
  'packages/cli/src/plan/decide.test.ts',
  'packages/cli/src/plan/examples.test.ts',
  'packages/cli/src/plan/http.test.ts',
  'packages/cli/src/plan/sessions.test.ts',
  'packages/cluster/src/link/link.test.ts',
  'packages/cluster/src/{export,hand-over,manage,membership}.test.ts',
  'packages/console/src/{crowd,passkey,under-fire}.test.ts',
  'packages/firewall/src/crisis/evidence.test.ts',
  'packages/firewall/src/criteria.test.ts',
  'packages/firewall/src/hooks/hooks.test.ts',
  'packages/guest/src/guests.test.ts',
  'packages/guest/src/render-types.test.ts',
  'packages/guest/src/{compiled,forged}.test.ts',
  'packages/host/src/call-ends.test.ts',
  'packages/host/src/directory-shares.test.ts',
  'packages/host/src/door/drivers/front.test.ts',
  'packages/host/src/door/drivers/listener.test.ts',
  'packages/host/src/door/drivers/places.test.ts',
  'packages/host/src/door/http-face.test.ts',
  'packages/host/src/door/object-call.test.ts',
  'packages/host/src/granters/granter.test.ts',
  'packages/host/src/granters/own-names.test.ts',
  'packages/host/src/host.test.ts',
  'packages/host/src/lockdown.test.ts',
  'packages/host/src/passkeys/passkeys.test.ts',
  'packages/host/src/powerbox/cost.test.ts',
  'packages/host/src/powerbox/draft.test.ts',
  'packages/host/src/powerbox/gate.test.ts',
  'packages/host/src/powerbox/offer-text.test.ts',
  'packages/host/src/powerbox/request.test.ts',
  'packages/host/src/powerbox/restart.test.ts',
  'packages/host/src/seed.test.ts',
  'packages/host/src/sessions/code.test.ts',
  'packages/host/src/sessions/sessions.test.ts',
  'packages/host/src/sharing/sturdyrefs.test.ts',
  'packages/host/src/state/local-name.test.ts',
  'packages/host/src/state/order.test.ts',
  'packages/host/src/store-fails.test.ts',
  'packages/host/src/text/safe-text.test.ts',
  'packages/host/src/tools/other-host.test.ts',
  'packages/host/src/{firewall,postgres}.test.ts',
  'packages/manifest/src/file/published.test.ts',
  'packages/manifest/src/hostile.test.ts',
  'packages/manifest/src/import/widen.test.ts',
  'packages/manifest/src/words/except.test.ts',
  'packages/mcp/src/servers/readme.test.ts',
  'packages/revocable/src/durable.test.ts',
  'packages/revocable/src/terms/like.test.ts',
  'packages/store-postgres/src/tls.test.ts',
  'packages/store-postgres/src/{full-disk,hosts,store}.test.ts',
  'packages/tools/src/tools.test.ts',
  'packages/vat/crash/{crash,faults}.test.ts',
  'packages/vat/src/captp/python.test.ts',
  'packages/vat/src/captp/random.test.ts',
  'packages/vat/src/captp/rings.test.ts',
  'packages/vat/src/captp/scenarios.test.ts',
  'packages/vat/src/durable/{golden,restart}.test.ts',
  'packages/vat/src/ledger/arguments.test.ts',
  'packages/vat/src/ledger/checkpoint.test.ts',
  'packages/vat/src/ledger/ledger.test.ts',
  'packages/vat/src/readme.test.ts',
  'packages/vat/src/store/store.test.ts',
  'test-bisim/foreign.test.ts',
  'test/commands.test.ts',
  'test/readme.test.ts',
];

/**
 * These change what belongs to the whole process, or count what is in it. All other files share one. A source that is
 * nested too deeply spoils Node's stripping of types for its process: `prepare` has one.
 */
export const ownProcess: readonly string[] = [
  'packages/guest/src/{compiled,forged}.test.ts',
  'packages/guest/src/source/prepare.test.ts',
  'packages/vat/src/captp/fence.test.ts',
];

/**
 * Files of `vat` and `revocable` that can differ without `lockdown()`: values, errors, references, turns, actors, and
 * what the dialects make of them. The store, the ledger, transports and limits use nothing that lockdown changes.
 */
export const differInPlain: readonly string[] = [
  'packages/vat/src/*.test.ts',
  'packages/vat/src/{core,turn,actor,actors,eventual,vats}/*.test.ts',
  'packages/vat/src/captp/dialects/*.test.ts',
  'packages/vat/src/captp/{captp,commit,endo,endo-values,hostile,order,settled,streams}.test.ts',
  'packages/vat/src/durable/{codec,first,restart}.test.ts',
  'packages/revocable/src/{*,forwarder/*,terms/*}.test.ts',
];

/**
 * Files of that list that do not run in `plain`, because they cannot differ: faults put into our own classes, programs
 * that run in a process of their own, and tests of text. Also grants over restarts: other files test each part of them
 * in `plain` (`codec`, `restart`, the terms).
 */
export const sameInPlain: readonly string[] = [
  'packages/revocable/src/durable.test.ts',
  'packages/revocable/src/terms/like.test.ts',
  'packages/{vat,revocable}/src/readme.test.ts',
  'packages/vat/src/vats/faults.test.ts',
];

/**
 * Tests of directories that the C part cannot change: they go over both backends by themselves, or over none (text,
 * queues, arguments).
 */
export const sameInNative: readonly string[] = [
  'packages/caps-fs/src/{escapes,race}-*.test.ts',
  'packages/caps-fs/src/{locked,strangers,versions}.test.ts',
  'packages/caps-fs/src/base/arguments.test.ts',
  'packages/caps-fs/src/beside-others.test.ts',
  'packages/caps-fs/src/drivers/*.test.ts',
  'packages/caps-fs/src/root/{admission,path}.test.ts',
  'packages/caps-fs/src/search/{glob,ignore}.test.ts',
  'packages/caps-fs/src/search/drivers/*.test.ts',
];

/** The test files that match `patterns` and belong to the tier; paths from the checkout, with `/`. */
export function filesOf(
  tier: string | undefined,
  patterns: readonly string[],
  except: readonly string[] = [],
): string[] {
  const exclude = [...except, '**/node_modules/**', '**/dist/**', 'test/fixtures/**'];
  const files = globSync([...patterns], { exclude }).map((file) => file.replaceAll('\\', '/'));
  return files.sort().filter(memberOf(tier));
}

function memberOf(tier: string | undefined): (file: string) => boolean {
  if (tier === undefined || tier === '') return () => true;
  const inDeep = new Set(globSync([...deepFiles]));
  const slow = new Set(globSync([...slowFiles]));
  if (tier === 'check') return (file) => !inDeep.has(file) && !slow.has(file);
  if (tier === 'test') return (file) => !inDeep.has(file);
  if (tier === 'deep') return (file) => inDeep.has(file) || readFileSync(file, 'utf8').includes("/depth.ts'");
  throw new Error(`HOB_TIER is one of ${tiers.join(', ')}, not ${tier}`);
}
