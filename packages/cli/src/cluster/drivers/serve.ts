/**
 * `hob cluster serve`: runs one machine of a cluster.
 *
 * Promise: it serves the tenants that are placed here. It relays connections for other tenants to the machines that
 * serve them. On SIGINT, SIGTERM and SIGHUP the process hands over its tenants before it ends, also during its start.
 */
import { type Cluster, openCluster, openLink, routesOf } from '@hob/cluster';
import { openFrontDoor, sentinelHome } from '@hob/host';
import { endWithProcess, leaveMemoryOutOfCores } from '@hob/host/programs';
import { CapError } from '@hob/vat';
import { openLog } from '../../daemon/drivers/log.ts';
import { openMetricsDoor } from '../../daemon/drivers/metrics-door.ts';
import { standardError } from '../../daemon/drivers/serve.ts';
import type { TellChoice } from '../../daemon/drivers/tell.ts';
import { openMetrics } from '../../line/open-metrics.ts';
import { clusterFamilies } from '../families.ts';
import { Tenants } from '../tenants.ts';
import type { ClusterFile } from './file.ts';
import { rereadCluster } from './reread.ts';

interface ClusterChoice {
  readonly cluster: ClusterFile;
  /** The file of the log. Undefined: the standard error. */
  readonly log: string | undefined;
  /** The port for a program that collects metrics. Undefined: there is none. */
  readonly metrics: number | undefined;
  readonly tell: TellChoice;
  readonly say: (line: string) => void;
}

/** A machine that serves. */
interface ClusterServing {
  readonly pid: number;
  readonly name: string;
  /** The address of the front door. The address of a tenant is `url/TENANT`. */
  readonly url: string;
  /** The address at which the other machines reach this one. */
  readonly link: string;
}

/** Serves until the process ends. Errors: `Mistake`, those of `openCluster`, `openLink` and `openFrontDoor`. */
export async function serveCluster(choice: ClusterChoice): Promise<ClusterServing> {
  const log = choice.log === undefined ? standardError(choice.say) : openLog(choice.log, { now: () => Date.now() });
  leaveMemoryOutOfCores();
  const parts = new AsyncDisposableStack();
  const close = (): Promise<void> => parts.disposeAsync();
  // Called before anything is opened: a signal may come when a tenant is open and this machine is not ready yet.
  endWithProcess({ close, stop: close }, choice.cluster.state);
  process.once('exit', (code) => {
    log.write(`process ${process.pid} ends with ${code}`);
    log.close();
  });
  try {
    const serving = await opened(choice, parts, log.write);
    log.write(`process ${process.pid} is the machine ${serving.name} of a cluster`);
    return serving;
  } catch (error) {
    await close();
    throw error;
  }
}

/** Opens the link, the front door and the cluster. All are closed with `parts`. */
async function opened(
  { cluster: file, log, metrics, tell }: ClusterChoice,
  parts: AsyncDisposableStack,
  write: (line: string) => void,
): Promise<ClusterServing> {
  const { name, database, state } = file;
  const { address: known, ...way } = file.link;
  const fault = (error: unknown): void => write(`error ${(error as Error)?.stack ?? String(error)}`);
  let cluster: Cluster | undefined;
  /** Until this machine has joined, it does not know where a tenant is. Clients get 503, and try again. */
  const joining = { open: () => Promise.reject(new CapError('unavailable', 'this machine has not joined yet')) };
  const link = parts.use(await openLink({ ...way, take: (stream) => front.take(stream), fault }));
  const front = await openFrontDoor(file.door, {
    elsewhere: (tenant) => (cluster === undefined ? joining : routesOf(cluster, link)(tenant)),
    fault,
  });
  parts.defer(() => front.close());
  const sentinel = sentinelHome();
  const tenants = new Tenants({
    tenants: file.tenants,
    own: ownOf(file, log),
    tell,
    front,
    write,
    status: async () => await cluster?.status(),
  });
  const address = known ?? `${way.at.host}:${link.port}`;
  const joins = openCluster({
    ...{ ...database.at, name, stateDir: state, address },
    ...(database.leaseMs !== undefined && { leaseMs: database.leaseMs }),
    ...(sentinel !== undefined && { sentinel }),
    open: (tenant) => tenants.open(tenant),
  });
  parts.defer(async () => await (await joins.catch(() => undefined))?.close());
  const joined = (cluster = await joins);
  const over = new AbortController();
  parts.defer(() => over.abort());
  const take = (next: ClusterFile, before: ClusterFile): void => {
    tenants.check(ownOf(next, log));
    // A door gets or loses TLS at the next start only.
    if (next.door.tls !== undefined && file.door.tls !== undefined) front.renew(next.door.tls);
    try {
      link.pin(next.link.peers);
    } catch (error) {
      if (before.door.tls !== undefined) front.renew(before.door.tls);
      throw error;
    }
    tenants.take(next.tenants, ownOf(next, log));
  };
  rereadCluster(file, { take, write }, over.signal);
  if (metrics !== undefined) {
    const text = async (): Promise<string> =>
      openMetrics(clusterFamilies(await joined.status(), await tenants.counts()));
    write(`metrics are at ${(await openMetricsDoor(metrics, text)).url}`);
  }
  return { pid: process.pid, name, url: front.url, link: address };
}

/** Files and folders of a machine that no root of a manifest may hold. */
const ownOf = ({ files, state }: ClusterFile, log: string | undefined): readonly string[] =>
  [...files, state, sentinelHome(), log].filter((path) => path !== undefined);
