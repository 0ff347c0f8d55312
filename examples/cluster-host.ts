/**
 * One machine of a cluster. It serves its share of the tenants, and its front door leads to the tenants of all machines.
 *
 *   createdb hob
 *   npm run -s node -- examples/cluster-host.ts alpha.json
 *
 * The file describes this machine, and lists the others. Each machine has a file of its own:
 *
 *   { "name": "alpha", "url": "postgres:///hob?host=/run/postgresql&user=me", "stateDir": "./alpha", "door": 7710,
 *     "link": 7711, "key": "alpha.key", "cert": "alpha.pem", "peers": { "beta": "beta.pem" }, "tenants": ["acme"] }
 *
 * It listens on loopback, so all machines of this cluster are processes on one computer. The README of @hob/cluster,
 * "Three machines", shows how keys are made, and what to change for several computers.
 */
import '@hob/host/lockdown';
import { readFileSync } from 'node:fs';
import { type Cluster, openCluster, openLink, routesOf, type TenantParts } from '@hob/cluster';
import { type Host, openFrontDoor, openHost } from '@hob/host';

interface Config {
  readonly name: string;
  readonly url: string;
  readonly stateDir: string;
  readonly door: number;
  readonly link: number;
  readonly key: string;
  readonly cert: string;
  readonly peers: Readonly<Record<string, string>>;
  readonly tenants: readonly string[];
  readonly leaseMs?: number;
}

// Listens for signals from the start: a tenant may be open before this machine is ready.
const stopped = new Promise((stop) => process.once('SIGINT', stop).once('SIGTERM', stop));

const [file = 'alpha.json'] = process.argv.slice(2);
const text = (name: string): string => readFileSync(name, 'utf8');
const config = JSON.parse(text(file)) as Config;
const peers = Object.fromEntries(Object.entries(config.peers).map(([name, pem]) => [name, text(pem)]));
const { name, url, stateDir, leaseMs = 10_000 } = config;

let cluster: Cluster | undefined;
/** Until this machine has joined, it does not know where a tenant is. Clients get 503, and try again. */
const starting = { open: () => Promise.reject(new Error('this machine has not joined yet')) };
const link = await openLink({
  at: { host: '127.0.0.1', port: config.link },
  ...{ key: text(config.key), cert: text(config.cert), peers },
  take: (stream) => front.take(stream),
});
const front = await openFrontDoor(
  { port: config.door },
  { elsewhere: (tenant) => (cluster === undefined ? starting : routesOf(cluster, link)(tenant)) },
);

/** Opens the host of a tenant: what it offers, and who may grant it. */
async function open({ name: tenant, ...parts }: TenantParts): Promise<Host> {
  const host = await openHost(parts);
  try {
    await host.offer('bell', { ring: async (word: string) => console.log(`${tenant}: ${word}`) });
    const { secret } = await host.ensureGranter('ann');
    // Shown on a terminal only, and only once: when the tenant is opened for the first time, on whichever machine.
    if (secret !== undefined && process.stdout.isTTY) console.log(`${tenant}: the secret of ann is ${secret}`);
    await host.serve({ front, name: tenant });
  } catch (error) {
    await host.close();
    throw error;
  }
  console.log(`${tenant} is served here`);
  return host;
}

try {
  cluster = await openCluster({ url, name, stateDir, address: `127.0.0.1:${link.port}`, leaseMs, open });
  for (const tenant of config.tenants) await cluster.addTenant(tenant);
  console.log(`${name} is ready at ${front.url}`);
  await stopped;
  await cluster.close();
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = 1;
} finally {
  await front.close();
  await link.close();
}
