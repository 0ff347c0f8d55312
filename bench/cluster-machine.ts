/** One machine of a cluster with a door and a link, in a process of its own, for `cluster-machines.ts`. */
import './lockdown.ts';
import { type Cluster, openCluster, openLink, routesOf } from '@hob/cluster';
import { openFrontDoor, openHost } from '@hob/host';

const [url = '', name = '', stateDir = ''] = process.argv.slice(2);
let cluster: Cluster | undefined;
const starting = { open: () => Promise.reject(new Error('this machine has not joined yet')) };
const link = await openLink({ at: { host: '127.0.0.1', port: 0 }, take: (stream) => front.take(stream) });
const front = await openFrontDoor(
  {},
  { elsewhere: (tenant) => (cluster === undefined ? starting : routesOf(cluster, link)(tenant)) },
);
cluster = await openCluster({
  ...{ url, name, stateDir, address: `127.0.0.1:${link.port}` },
  async open({ name: tenant, ...parts }) {
    const host = await openHost(parts);
    await host.offer('bell', { ring: async () => 'ding' });
    await host.serve({ front, name: tenant });
    process.send?.({ open: tenant });
    return host;
  },
});
process.send?.({ url: front.url });
process.on('disconnect', () => process.exit());
process.on('message', () => {
  globalThis.gc?.();
  process.send?.({ rss: process.memoryUsage().rss });
});
