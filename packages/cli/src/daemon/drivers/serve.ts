/**
 * `hob serve`: a process that serves one host with the sessions of its manifests.
 *
 * Promise: it ends on SIGINT, SIGTERM and SIGHUP. Files that a killed host left never hold up the next one.
 */
import { type Host, sentinelHome } from '@hob/host';
import { holderOf } from '@hob/host/client';
import { endWithProcess, leaveMemoryOutOfCores, openStateDir, readStopOrder } from '@hob/host/programs';
import { readManifest } from '../../drivers/manifest-file.ts';
import { usualPlaces } from '../../drivers/places.ts';
import type { NamedStore } from '../../drivers/store-file.ts';
import { logLines } from '../../line/log-text.ts';
import { Mistake } from '../../line/mistake.ts';
import type { DaemonStatus } from '../daemon.ts';
import { servedStore } from '../served/store.ts';
import { hidesMore } from '../served.ts';
import { endWithStore } from './end-with-store.ts';
import { type Log, openLog } from './log.ts';
import { checkServed, openServedHost } from './served-host.ts';
import type { TellChoice } from './tell.ts';

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

/** Makes the folder of a state, or checks it. Errors: `Mistake` (another process serves it), those of `openStateDir`. */
export function takeState(state: string): void {
  openStateDir(state);
  leaveMemoryOutOfCores();
  const holder = holderOf(state);
  if (holder !== 'nobody')
    throw new Mistake(`process ${holder.pid ?? '?'} serves this state already: hob status shows it, hob stop ends it`);
}

/** Serves until the process ends. Errors: `Mistake`, and those of a host. */
export async function serve(choice: ServeChoice): Promise<DaemonStatus> {
  const { manifest, layers, state, store, standby, port, say, ...given } = choice;
  const read = readManifest(usualPlaces(manifest), layers);
  for (const line of [...read.warnings, ...hidesMore(read.plan)]) say(line);
  const sentinel = given.sentinel ?? sentinelHome();
  const files = [sentinel, given.log, ...(store?.files ?? [])].filter((path) => path !== undefined);
  const roots = await checkServed({ ...given, read, state, files });
  takeState(state);
  if (standby) say('hob: it serves as soon as no other host has the store');
  const log = given.log === undefined ? standardError(say) : openLog(given.log, { now: () => Date.now() });
  let end = (): void => {};
  const { host, status } = await openServedHost(
    {
      ...{ ...given, read, state, files, say, log: log.write },
      open: (note) => servedStore(store, { sentinel, standby }, note),
      opened: (host) => {
        end = endWithProcess(host, state);
      },
      listen: (host, faces, pages) => host.serve(port === undefined ? {} : { port }, faces, pages),
    },
    roots,
  );
  log.write(`process ${process.pid} serves a manifest in the mode ${status.mode}, with ${Object.keys(status.caps).length} caps`); // biome-ignore format: one line
  logsItsEnd(log, host);
  // A stop that was ordered while the host opened may have found nobody to signal.
  if (readStopOrder(state) !== undefined) end();
  return status;
}

/** Under systemd these lines go to the journal. */
export const standardError = (say: (line: string) => void): Log => ({
  write: (text) => {
    for (const line of logLines(text)) say(`hob: ${line}`);
  },
  close() {},
});

function logsItsEnd(log: Log, host: Host): void {
  process.once('exit', (code) => {
    log.write(`process ${process.pid} ends with ${code}`);
    log.close();
  });
  endWithStore(host, (line) => log.write(line));
}
