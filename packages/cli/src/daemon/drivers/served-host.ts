/**
 * Opens a host with the sessions of its manifests. The caller chooses its store and its address.
 *
 * Promise: it serves only if the whole manifest can be started. Its granter is reached on a socket in a folder of mode
 * 0700, and no secret of the granter is shown. `close` ends everything that works for the host: programs, tool servers,
 * chats, judges, and timers that look at files.
 */
import { consoleLink, consolePages } from '@hob/console';
import type { JudgeRunner } from '@hob/firewall';
import { type Granter, type Host, type HostOptions, type HttpFaces, type HttpPages, openHost, type RequestNotice } from '@hob/host'; // biome-ignore format: one line
import { granterSocket } from '@hob/host/client';
import { openPrivateFolder } from '@hob/host/programs';
import type { Plan } from '@hob/manifest';
import { CapError, type Far } from '@hob/vat';
import { dateText, machine } from '../../drivers/machine.ts';
import { type ReadManifest, realRoots } from '../../drivers/manifest-file.ts';
import { ownCode } from '../../drivers/own-code.ts';
import { agentsFolder, hooksFolder } from '../../drivers/places.ts';
import type { RealRoots } from '../../plan/directories.ts';
import { PlanSessions } from '../../plan/sessions.ts';
import { type DaemonStatus, daemonOf } from '../daemon.ts';
import { ledgerKeeper } from '../keep-ledger.ts';
import { servedMetrics } from '../metrics/served.ts';
import { type RunsGate, type RunTask, runsGate, Schedules } from '../runs/schedules.ts';
import { servedCard } from '../served/card.ts';
import { definitions } from '../served/definitions.ts';
import { servedFaces } from '../served/faces.ts';
import { checkSandbox } from '../served/sandboxed.ts';
import type { ServedStore } from '../served/store.ts';
import { suggestedTo } from '../served/suggested.ts';
import { openServed, type Served, wishesAtStart } from '../served.ts';
import { servedFirewall } from '../served-firewall.ts';
import { servedGranters } from '../served-granters.ts';
import { servedJudge } from '../served-judge.ts';
import { servedSecrets } from '../served-secrets.ts';
import { ServedWishes } from '../wishes.ts';
import { copier, removeCopies } from './copies.ts';
import { hookRunner } from './hooks.ts';
import { LedgerCopy } from './ledger-copy.ts';
import { runTask } from './run-task.ts';
import { keyFiles, keyRingAt } from './secrets-key.ts';
import { openTelling, type TellChoice } from './tell.ts';
import { lookAgainAndAgain, sha256 } from './wishes.ts';

/** How long a session is kept after it lost its last connection. */
const GRACE_MS = 3_600_000;

/** The manifest to serve, and what the host needs for it. */
interface ServedChoice {
  readonly read: ReadManifest;
  readonly state: string;
  /**
   * Further files that no root of the manifest may hold. The state, the manifests, the keys and the code are always
   * checked. An agent may be able to write everything in a root.
   */
  readonly files: readonly string[];
  readonly tell: TellChoice;
  /** The path of the key of the secrets, or `fd:N`. */
  readonly secretsKey: string;
  /** The name of the tenant, the same on each machine. Undefined: the process has this host only. */
  readonly tenant?: string;
  /** The port for a program that collects metrics. Undefined: there is none. */
  readonly metrics?: number | undefined;
  /** Opens the store. If it rejects, the host is not opened. */
  readonly open: (note: (line: string) => void) => Promise<ServedStore>;
  /** Further options of the host. */
  readonly more?: Pick<HostOptions, 'onCheckpoint' | 'most'>;
  /** Called when the host is open, before it has an address. */
  readonly opened?: (host: Host) => void;
  /** Gives the host an address. */
  readonly listen: (host: Host, faces: HttpFaces, pages: HttpPages) => Promise<{ readonly url: string }>;
  /** Writes a line for the person who starts it. */
  readonly say: (line: string) => void;
  /** Writes a line of the log. */
  readonly log: (line: string) => void;
}

/** A host that serves. */
export interface ServedHost {
  readonly host: Host;
  readonly status: DaemonStatus;
  close(): Promise<void>;
  /** Revokes every grant, and closes. `hob stop` has ordered it. */
  stop(): Promise<void>;
}

/** An error with its stack, for the log of the machine. */
const inFull = (error: unknown): string => (error instanceof Error && error.stack) || String(error);

/**
 * Checks the roots and the sandbox, before anything is opened. Returns the real folders of the roots. Errors: `Mistake`,
 * `unavailable`.
 */
export async function checkServed(choice: RootsChoice): Promise<RealRoots> {
  const roots = checkedRoots(choice);
  await checkSandbox(choice.read.plan);
  return roots;
}

/** The roots of a manifest, and what none of them may hold. */
export type RootsChoice = Pick<ServedChoice, 'read' | 'state' | 'files' | 'tell' | 'secretsKey'>;

/** Returns the real folders of the roots. Errors: `Mistake`. */
export function checkedRoots({ read, state, files, tell, secretsKey }: RootsChoice): RealRoots {
  const { paths, plan } = read;
  const named = [tell.webhookKeyFile, plan.ledger?.path].filter((path) => path !== undefined);
  const own = [...paths, ...files, ...named, ...keyFiles(secretsKey), ...ownCode()];
  return realRoots(plan, [state, ...own]);
}

/** Opens the host of a manifest, and serves it. `roots` are those of `checkServed`. Errors: `Mistake`, and those of a host. */
export async function openServedHost(choice: ServedChoice, roots: RealRoots): Promise<ServedHost> {
  const { read, state, tell, say, log } = choice;
  const note = (line: string): void => log(line.replace(/^hob: /, ''));
  const later: Later = { blank: (text) => text, suggest: undefined, judge: undefined, sessions: undefined };
  const told = openTelling(tell, note, choice.tenant);
  const over = new AbortController();
  over.signal.addEventListener('abort', () => {
    told.close();
    void later.judge?.close();
  });
  const firewall = servedFirewall(read.plan, (hook) => hookRunner(hook, hooksFolder(state)));
  // A run that was due while the host was down may begin while it opens. It waits at this gate.
  const gate = runsGate(choice.tenant);
  let host: Host | undefined;
  const ending = (how: 'close' | 'stop') => async (): Promise<void> => {
    over.abort(new CapError('unavailable', 'the host has ended'));
    try {
      await host?.[how]();
    } finally {
      await later.sessions?.close();
    }
  };
  const [close, stop] = [ending('close'), ending('stop')];
  try {
    const kept = await choice.open(note);
    host = await openHost({
      stateDir: state,
      onRequest: (notice) => asked(notice, told, later.judge),
      suggest: async (granter) => later.suggest?.(granter),
      definitions,
      ...(firewall.firewall && { firewall: firewall.firewall }),
      ...kept.options,
      ...choice.more,
      graceMs: GRACE_MS,
      blank: (text) => later.blank(text),
      observe: ({ id, error }) => log(later.blank(`error ${id}: ${inFull(error)}`)),
    });
    choice.opened?.(host);
    const status = await begin(choice, roots, { host, kept, gate, firewall, later, end: over.signal, note });
    if (host.restoredBecause !== undefined) say(`hob: ${host.restoredBecause}: hob list shows the grants that wait, hob confirm G3 lets one work`); // biome-ignore format: one line
    return { host, status, close, stop };
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
}

/**
 * Parts that need the open host. `begin` sets them. Until then nothing is blanked, suggested or judged.
 */
interface Later {
  blank: (text: string) => string;
  suggest: HostOptions['suggest'];
  judge: JudgeRunner | undefined;
  /** Closed with the host, also if it fails to open: with their directories, scratch folders and tool servers. */
  sessions: PlanSessions | undefined;
}

interface OpenHost {
  readonly host: Host;
  readonly kept: ServedStore;
  readonly gate: RunsGate;
  readonly firewall: ReturnType<typeof servedFirewall>;
  readonly later: Later;
  /** Aborted when the host ends. */
  readonly end: AbortSignal;
  readonly note: (line: string) => void;
}

/** Serves the manifest of an open host. */
async function begin(
  { read, state, secretsKey, metrics: port, listen, say, log }: ServedChoice,
  roots: RealRoots,
  { host, kept, gate, firewall: { offered, received }, later, end, note }: OpenHost,
): Promise<DaemonStatus> {
  const { plan } = read;
  const { folder } = granterSocket(state);
  const granters = await servedGranters(host, plan, say);
  const { maker: granter, owner } = granters;
  const secrets = servedSecrets(host, keyRingAt(secretsKey), note);
  await secrets.open();
  const blank = (text: string): string => secrets.blanker().text(text);
  later.blank = blank;
  const runTask = untilEnd(end);
  const parts = { plan, roots, machine: { ...machine, secret: secrets.value, blank }, offered };
  const { sessions, schedules } = await prepared(host, parts, { gate, runTask, later, say, log });
  // Done before the host has an address. A verb that finds an address and no folder would ask for a secret.
  openPrivateFolder(folder);
  later.judge = servedJudge(plan, { granter, secret: secrets.value, log });
  const pages = { ...consolePages(), ...(await servedCard(plan, secrets.value)) };
  const doors = await servedFaces({ ...parts, host, granter, received, runTask, end, log });
  const { url } = await listen(host, doors.faces, pages);
  for (const one of [schedules, doors]) one.begin({ sessions, url });
  const status = statusOf(read, url);
  const wishes = await servedWishes(host, read, sessions, { owner, say });
  removeCopies(folder);
  const metrics = await servedMetrics(port, { host, store: kept, since: status.since }, note);
  const served: Served = { read, sessions, wishes, log };
  const what = async () => ({ files: read.texts, offers: await sessions.offers() });
  later.suggest = (to) => suggestedTo(to, { owner, manifest: read.file, served: what });
  const daemon = daemonOf({
    open: (name, below) => openServed(served, name, below),
    wishes: () => wishes.rows(),
    ...{ served: what, host, granters, status, metrics, hosts: kept.hosts },
    backup: copier(folder, (copy) => host.backup(copy)),
    places: () => sessions.places(),
    console: async () => consoleLink(url, (await host.entryCode('owner')).code),
    secrets: secrets.store,
    agents: agentsFolder(state),
    ...{ end, log },
  });
  await host.serveGranter({ granter: 'owner', daemon });
  lookAgainAndAgain(() => wishes.endChanged(), end);
  keepLedger(host, plan, { end, log: note });
  return status;
}

/** Runs a task until it is over or the host ends. In a cluster the process outlives its hosts. */
const untilEnd =
  (end: AbortSignal): RunTask =>
  (order) =>
    runTask({ ...order, end: AbortSignal.any([order.end, end]) });

/** Ends the sessions that no agent has entered. The `hob start` that opened them ended with the earlier host. */
async function endLeft(host: Host, schedules: ReadonlySet<string>): Promise<void> {
  for (const session of await host.sessions())
    if (session.parent === undefined && !schedules.has(session.id))
      await session.endUnlessEntered('its host ended before its agent entered');
}

type Prepared = Omit<ConstructorParameters<typeof PlanSessions>[1], 'schedules'>;

interface Told {
  readonly gate: RunsGate;
  readonly runTask: RunTask;
  readonly later: Later;
  readonly say: (line: string) => void;
  readonly log: (line: string) => void;
}

/** The sessions of a plan, with everything that they share, and its schedules. Errors: `Mistake`. */
async function prepared(
  host: Host,
  parts: Prepared,
  { gate, runTask, later, say, log }: Told,
): Promise<{ readonly sessions: PlanSessions; readonly schedules: Schedules }> {
  const schedules = await Schedules.open({ ...parts, host, gate, runTask, log });
  await endLeft(host, await schedules.held());
  const sessions = new PlanSessions(host, { ...parts, schedules });
  later.sessions = sessions;
  await sessions.prepare();
  await schedules.endLeft(sessions);
  for (const line of sessions.notes) say(line);
  return { sessions, schedules };
}

const statusOf = ({ file, layers, plan }: ReadManifest, url: string): DaemonStatus => ({
  ...{ pid: process.pid, manifest: file, layers, mode: plan.mode, url, since: Date.now() },
  ...(plan.firewall === undefined ? {} : { firewall: plan.firewall.mode }),
  caps: Object.fromEntries(Object.values(plan.caps).map(({ name, how }) => [name, how])),
});

async function servedWishes(
  host: Host,
  { plan }: ReadManifest,
  sessions: PlanSessions,
  { owner, say }: { readonly owner: Far<Granter> | undefined; readonly say: (line: string) => void },
): Promise<ServedWishes> {
  const reader = { directories: sessions.directories, hash: sha256, now: machine.now };
  const wishes = new ServedWishes(owner, plan, reader, dateText);
  // Nobody knows which lists were accepted or ended after the backup.
  if (host.restored) await wishes.endAll('the state was restored to an earlier one');
  for (const line of wishesAtStart(await wishes.rows())) say(line);
  return wishes;
}

/** Copies the ledger and drops old lines, as the manifest says. */
function keepLedger(
  host: Host,
  { ledger: { path, keepMs } = {} }: Plan,
  { end, log }: { readonly end: AbortSignal; readonly log: (line: string) => void },
): void {
  const copy = path === undefined ? undefined : new LedgerCopy(path, (from) => host.ledger({ from }));
  lookAgainAndAgain(ledgerKeeper({ host, keepMs, copy, now: machine.now, log }), end);
}

function asked(notice: RequestNotice, told: ReturnType<typeof openTelling>, judge: JudgeRunner | undefined): void {
  told.request(notice);
  judge?.look();
}
