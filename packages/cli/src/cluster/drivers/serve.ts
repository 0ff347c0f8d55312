/**
 * `hob cluster serve`: runs one machine of a cluster.
 *
 * Promise: it serves the tenants that are placed here, each from the manifest that this machine has for it. It relays
 * connections for other tenants to the machines that serve them. A tenant that cannot be served stops no other tenant.
 * On SIGINT, SIGTERM and SIGHUP the process hands its tenants over before it ends.
 */
import { type Cluster, openCluster, openLink, routesOf, type TenantParts } from '@hob/cluster';
import { openFrontDoor, sentinelHome } from '@hob/host';
import { endWithProcess, leaveMemoryOutOfCores, readStopOrder } from '@hob/host/programs';
import { storeHosts } from '@hob/store-postgres';
import { CapError } from '@hob/vat';
import { openLog } from '../../daemon/drivers/log.ts';
import { openMetricsDoor } from '../../daemon/drivers/metrics-door.ts';
import { standardError, takeState } from '../../daemon/drivers/serve.ts';
import { checkServed, openServedHost, type ServedHost } from '../../daemon/drivers/served-host.ts';
import type { TellChoice } from '../../daemon/drivers/tell.ts';
import { storeNow } from '../../daemon/served/store.ts';
import { hidesMore } from '../../daemon/served.ts';
import { readManifest } from '../../drivers/manifest-file.ts';
import { usualPlaces } from '../../drivers/places.ts';
import { openMetrics } from '../../line/open-metrics.ts';
import { clusterFamilies } from '../families.ts';
import type { ClusterFile } from './file.ts';

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
  const { name, database, state, door, link: linked } = choice.cluster;
  const { address: known, ...way } = linked;
  const log = choice.log === undefined ? standardError(choice.say) : openLog(choice.log, { now: () => Date.now() });
  const fault = (error: unknown): void => log.write(`error ${(error as Error)?.stack ?? String(error)}`);
  leaveMemoryOutOfCores();
  let cluster: Cluster | undefined;
  /** Until this machine has joined, it does not know where a tenant is. It answers 503, so clients try again. */
  const joining = { open: () => Promise.reject(new CapError('unavailable', 'this machine has not joined yet')) };
  await using parts = new AsyncDisposableStack();
  const link = parts.use(await openLink({ ...way, take: (stream) => front.take(stream), fault }));
  const front = parts.adopt(
    await openFrontDoor(door, {
      elsewhere: (tenant) => (cluster === undefined ? joining : routesOf(cluster, link)(tenant)),
      fault,
    }),
    (one) => one.close(),
  );
  const tenants = new Tenants(choice, { front, write: log.write });
  const sentinel = sentinelHome();
  const address = known ?? `${way.at.host}:${link.port}`;
  const joined = (cluster = parts.use(
    await openCluster({
      ...{ ...database.at, name, stateDir: state, address },
      ...(database.leaseMs !== undefined && { leaseMs: database.leaseMs }),
      ...(sentinel !== undefined && { sentinel }),
      open: (tenant) => tenants.open(tenant),
    }),
  ));
  if (choice.metrics !== undefined) {
    const text = async (): Promise<string> =>
      openMetrics(clusterFamilies(await joined.status(), await tenants.counts()));
    log.write(`metrics are at ${(await openMetricsDoor(choice.metrics, text)).url}`);
  }
  const all = parts.move();
  const close = (): Promise<void> => all.disposeAsync();
  endWithProcess({ close, stop: close }, state);
  process.once('exit', (code) => {
    log.write(`process ${process.pid} ends with ${code}`);
    log.close();
  });
  log.write(`process ${process.pid} is the machine ${name} of a cluster`);
  return { pid: process.pid, name, url: front.url, link: address };
}

type Front = Awaited<ReturnType<typeof openFrontDoor>>;

/** Opens tenants, and keeps those that are open here. */
class Tenants {
  readonly #choice: ClusterChoice;
  readonly #front: Front;
  readonly #write: (line: string) => void;
  readonly #open = new Map<string, ServedHost>();
  /** The last reason why a tenant could not be served. A tenant is tried again and again: the same reason is logged once. */
  readonly #said = new Map<string, string>();

  constructor(
    choice: ClusterChoice,
    { front, write }: { readonly front: Front; readonly write: (line: string) => void },
  ) {
    [this.#choice, this.#front, this.#write] = [choice, front, write];
  }

  /** Opens the host of a tenant. Errors: `invalid` (no manifest for it, or one with mistakes), those of a host. */
  async open(parts: TenantParts): Promise<Pick<ServedHost['host'], 'vats' | 'counts' | 'close'>> {
    const { name, stateDir } = parts;
    try {
      const served = await this.#served(parts);
      const { host } = served;
      this.#open.set(name, served);
      this.#said.delete(name);
      this.#write(`tenant ${name} is served here`);
      const close = async (): Promise<void> => {
        this.#open.delete(name);
        try {
          await (readStopOrder(stateDir) === undefined ? served.close() : served.stop());
        } finally {
          this.#write(`tenant ${name} is not served here any more`);
        }
      };
      return { vats: host.vats, counts: () => host.counts(), close };
    } catch (error) {
      const why = (error as Error).message;
      if (this.#said.get(name) !== why) this.#write(`tenant ${name} is not served: ${why}`);
      this.#said.set(name, why);
      throw typeof (error as { code?: unknown }).code === 'string' ? error : new CapError('invalid', why);
    }
  }

  /** The numbers of the open tenants, by name. */
  async counts(): Promise<ReadonlyMap<string, Awaited<ReturnType<ServedHost['host']['counts']>>>> {
    const all = [...this.#open].map(async ([name, { host }]) => [name, await host.counts()] as const);
    const done = await Promise.allSettled(all);
    return new Map(done.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : [])));
  }

  async #served({ name, store, stateDir, onCheckpoint }: TenantParts): Promise<ServedHost> {
    const { cluster, tell } = this.#choice;
    const tenant = Object.hasOwn(cluster.tenants, name) ? cluster.tenants[name] : undefined;
    if (tenant === undefined)
      throw new CapError(
        'invalid',
        `this machine has no manifest for it: name one under tenants in ${cluster.file}, and restart hob cluster serve`,
      );
    const log = (line: string): void => this.#write(`${name}: ${line}`);
    const read = readManifest(usualPlaces(tenant.manifest));
    for (const line of [...read.warnings, ...hidesMore(read.plan)]) log(line);
    const files = [...cluster.files, cluster.state, ...(this.#choice.log === undefined ? [] : [this.#choice.log])];
    const choice = { ...{ read, files, tell, log, say: log }, state: stateDir, secretsKey: `${stateDir}.secrets.key` };
    const roots = await checkServed(choice);
    takeState(stateDir);
    return await openServedHost(
      {
        ...choice,
        open: async () => ({ options: { store }, hosts: () => storeNow(() => storeHosts(store)) }),
        more: { onCheckpoint, most: tenant.most },
        listen: (host, faces, pages) => host.serve({ front: this.#front, name }, faces, pages),
      },
      roots,
    );
  }
}
