/**
 * `hob serve`: a host with the sessions of its manifests.
 *
 * Promise: the host serves only if the whole manifest can be started. Its granter is reached on a socket in a folder
 * of mode 0700, and no secret of the granter is made known. It ends on SIGINT, SIGTERM and SIGHUP. Files that a killed
 * host left never hold up the next one.
 */
import { consoleLink, consolePages } from '@hob/console';
import type { JudgeRunner } from '@hob/firewall';
import { type Granter, type Host, type HostOptions, openHost, type RequestNotice, sentinelHome } from '@hob/host';
import {
  endWithProcess,
  granterSocket,
  holderOf,
  leaveMemoryOutOfCores,
  openPrivateFolder,
  openStateDir,
  readStopOrder,
} from '@hob/host/programs';
import type { Plan } from '@hob/manifest';
import type { Far } from '@hob/vat';
import { dateText, machine } from '../../drivers/machine.ts';
import { type ReadManifest, readManifest, realRoots } from '../../drivers/manifest-file.ts';
import { ownCode } from '../../drivers/own-code.ts';
import { agentsFolder, hooksFolder, usualPlaces } from '../../drivers/places.ts';
import type { NamedStore } from '../../drivers/store-file.ts';
import { logLines } from '../../line/log-text.ts';
import { Mistake } from '../../line/mistake.ts';
import { PlanSessions } from '../../plan/sessions.ts';
import { type DaemonStatus, daemonOf } from '../daemon.ts';
import { ledgerKeeper } from '../keep-ledger.ts';
import { servedMetrics } from '../metrics/served.ts';
import { type RunsGate, runsGate, Schedules } from '../runs/schedules.ts';
import { servedCard } from '../served/card.ts';
import { definitions } from '../served/definitions.ts';
import { servedFaces } from '../served/faces.ts';
import { checkSandbox } from '../served/sandboxed.ts';
import { servedStore } from '../served/store.ts';
import { suggestedTo } from '../served/suggested.ts';
import { hidesMore, openServed, type Served, wishesAtStart } from '../served.ts';
import { servedFirewall } from '../served-firewall.ts';
import { servedGranters } from '../served-granters.ts';
import { servedJudge } from '../served-judge.ts';
import { servedSecrets } from '../served-secrets.ts';
import { ServedWishes } from '../wishes.ts';
import { copier, removeCopies } from './copies.ts';
import { endWithStore } from './end-with-store.ts';
import { hookRunner } from './hooks.ts';
import { LedgerCopy } from './ledger-copy.ts';
import { type Log, openLog } from './log.ts';
import { runTask } from './run-task.ts';
import { keyFiles, keyRingAt } from './secrets-key.ts';
import { openTelling, type TellChoice } from './tell.ts';
import { lookAgainAndAgain, sha256 } from './wishes.ts';

/** How long a session is kept after it lost its last connection. */
const GRACE_MS = 3_600_000;

/** The manifest to serve, and the places of the host. */
interface ServeChoice {
  /** Undefined: the manifest at the usual place. */
  readonly manifest: string | undefined;
  /** `org=FILE` and so on. */
  readonly layers: readonly string[];
  readonly state: string;
  /** The folder of the sentinel. Undefined: the usual one. */
  readonly sentinel: string | undefined;
  /** The database of the state. Undefined: its store is in its folder. */
  readonly store: NamedStore | undefined;
  /** Whether to wait while another host has that database. */
  readonly standby: boolean;
  /** The file of the log. Undefined: the standard error. */
  readonly log: string | undefined;
  /** Where to listen on this machine. Undefined: any free port. */
  readonly port: number | undefined;
  /** The port for a program that collects metrics. Undefined: there is none. */
  readonly metrics: number | undefined;
  readonly say: (line: string) => void;
  readonly tell: TellChoice;
  /** The place of the key of the secrets. */
  readonly secretsKey: string;
}

/** Returns the private folder of its sockets. Errors: `Mistake` (another process serves it). */
function takeState(state: string): string {
  const { folder } = granterSocket(state);
  openStateDir(state);
  leaveMemoryOutOfCores();
  checkFree(state);
  return folder;
}

/** An error with its stack, for the log of the machine. */
const inFull = (error: unknown): string => (error instanceof Error && error.stack) || String(error);

/** Serves until the process ends. Errors: `Mistake`, and those of a host. */
export async function serve(choice: ServeChoice): Promise<DaemonStatus> {
  const { manifest, layers, state, store, standby, log: logFile, port, say, tell, secretsKey } = choice;
  const read = readManifest(usualPlaces(manifest), layers);
  const { plan } = read;
  for (const line of [...read.warnings, ...hidesMore(plan)]) say(line);
  const sentinel = choice.sentinel ?? sentinelHome();
  const roots = realRoots(plan, [state, ...filesOf(choice, read, sentinel)]);
  await checkSandbox(plan);
  const folder = takeState(state);
  if (standby) say('hob: it serves as soon as no other host has the store');
  const log = logFile === undefined ? standardError(say) : openLog(logFile, { now: () => Date.now() });
  const note = (line: string): void => log.write(line.replace(/^hob: /, ''));
  const told = openTelling(tell, note);
  let judge: JudgeRunner | undefined;
  let blank = (text: string): string => text;
  let suggest: HostOptions['suggest'];
  const { firewall, offered, received } = servedFirewall(plan, (hook) => hookRunner(hook, hooksFolder(state)));
  // A run that was due while the host was down may begin while it opens. It waits at this gate.
  const gate = runsGate();
  const kept = await servedStore(store, { sentinel, standby }, note);
  const host = await openHost({
    stateDir: state,
    onRequest: (notice) => asked(notice, told, judge),
    suggest: async (granter) => suggest?.(granter),
    definitions,
    ...(firewall && { firewall }),
    ...kept.options,
    graceMs: GRACE_MS,
    blank: (text) => blank(text),
    observe: ({ id, error }) => log.write(blank(`error ${id}: ${inFull(error)}`)),
  });
  const end = endWithProcess(host, state);
  const secrets = servedSecrets(host, keyRingAt(secretsKey), note);
  try {
    const granters = await servedGranters(host, plan, say);
    await secrets.open();
    blank = (text) => secrets.blanker().text(text);
    const parts = { plan, roots, machine: { ...machine, secret: secrets.value, blank }, offered };
    const { sessions, schedules } = await prepared(host, parts, { gate, say, log: log.write });
    // Done before the host has an address. A verb that finds an address and no folder would ask for a secret.
    openPrivateFolder(folder);
    judge = servedJudge(plan, { granter: granters.maker, secret: secrets.value, log: log.write });
    const pages = { ...consolePages(), ...(await servedCard(plan, secrets.value)) };
    const doors = await servedFaces({ ...parts, host, granter: granters.maker, received, log: log.write });
    const { url } = await host.serve(port === undefined ? {} : { port }, doors.faces, pages);
    for (const one of [schedules, doors]) one.begin({ sessions, url });
    const status = statusOf(read, url);
    const wishes = await servedWishes(host, read, sessions, { owner: granters.owner, say });
    removeCopies(folder);
    const metrics = await servedMetrics(choice.metrics, { host, store: kept, since: status.since }, note);
    const served: Served = { read, sessions, wishes, log: log.write };
    const what = async () => ({ files: read.texts, offers: await sessions.offers() });
    suggest = (to) => suggestedTo(to, { owner: granters.owner, manifest: read.file, served: what });
    const daemon = daemonOf({
      open: (name, below) => openServed(served, name, below),
      wishes: () => wishes.rows(),
      ...{ served: what, host, granters, status, metrics, hosts: kept.hosts },
      backup: copier(folder, (copy) => host.backup(copy)),
      places: () => sessions.places(),
      console: async () => consoleLink(url, (await host.entryCode('owner')).code),
      secrets: secrets.store,
      agents: agentsFolder(state),
      log: log.write,
    });
    await host.serveGranter({ granter: 'owner', daemon });
    lookAgainAndAgain(() => wishes.endChanged());
    keepLedger(host, plan, note);
    log.write(`process ${process.pid} serves a manifest in the mode ${plan.mode}, with ${Object.keys(plan.caps).length} caps`); // biome-ignore format: one line
    logsItsEnd(log, host);
    if (host.restoredBecause !== undefined) say(`hob: ${host.restoredBecause}: hob list shows the grants that wait, hob confirm G3 lets one work`); // biome-ignore format: one line
    // A stop that was ordered while the host opened may have found nobody to signal.
    if (readStopOrder(state) !== undefined) end();
    return status;
  } catch (error) {
    told.close();
    void judge?.close();
    await host.close().catch(() => {});
    throw error;
  }
}

/** The files that no root of a manifest may hold, besides the state. An agent may write what a root holds. */
function filesOf(
  { store, log, tell, secretsKey }: ServeChoice,
  { layers, plan }: ReadManifest,
  sentinel: string | undefined,
): readonly string[] {
  const named = [sentinel, log, tell.webhookKeyFile, plan.ledger?.path];
  const beside = [...named.filter((path) => path !== undefined), ...(store?.files ?? [])];
  return [...layers.map((layer) => layer.file), ...beside, ...keyFiles(secretsKey), ...ownCode()];
}

/** Errors: `Mistake`. */
function checkFree(state: string): void {
  const holder = holderOf(state);
  if (holder !== 'nobody')
    throw new Mistake(`process ${holder.pid ?? '?'} serves this state already: hob status shows it, hob stop ends it`);
}

/** Ends the sessions that no agent has entered. The `hob start` that opened them ended with the earlier host. */
async function endLeft(host: Host, schedules: ReadonlySet<string>): Promise<void> {
  for (const session of await host.sessions())
    if (session.parent === undefined && !schedules.has(session.id))
      await session.endUnlessEntered('its host ended before its agent entered');
}

type Prepared = Omit<ConstructorParameters<typeof PlanSessions>[1], 'schedules'>;

interface Told {
  readonly gate: RunsGate;
  readonly say: (line: string) => void;
  readonly log: (line: string) => void;
}

/** The sessions of a plan, with everything that they share, and its schedules. Errors: `Mistake`. */
async function prepared(
  host: Host,
  parts: Prepared,
  { gate, say, log }: Told,
): Promise<{ readonly sessions: PlanSessions; readonly schedules: Schedules }> {
  const schedules = await Schedules.open({ ...parts, host, gate, runTask, log });
  await endLeft(host, await schedules.held());
  const sessions = new PlanSessions(host, { ...parts, schedules });
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

/** Under systemd these lines go to the journal. */
const standardError = (say: (line: string) => void): Log => ({
  write: (text) => {
    for (const line of logLines(text)) say(`hob: ${line}`);
  },
  close() {},
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

/** Copies the ledger and drops old lines, as the manifest says, until the process ends. */
function keepLedger(host: Host, { ledger: { path, keepMs } = {} }: Plan, log: (line: string) => void): void {
  const copy = path === undefined ? undefined : new LedgerCopy(path, (from) => host.ledger({ from }));
  lookAgainAndAgain(ledgerKeeper({ host, keepMs, copy, now: machine.now, log }));
}

function asked(notice: RequestNotice, told: ReturnType<typeof openTelling>, judge: JudgeRunner | undefined): void {
  told.request(notice);
  judge?.look();
}

function logsItsEnd(log: Log, host: Host): void {
  process.once('exit', (code) => {
    log.write(`process ${process.pid} ends with ${code}`);
    log.close();
  });
  endWithStore(host, (line) => log.write(line));
}
