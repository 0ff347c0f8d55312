/** `hob cluster status`: shows the machines, the tenants, and which machine has the lease of each tenant. */
import { CLUSTER } from '../../line/options.ts';
import { STORE_JSON } from '../../line/shapes.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob cluster status` */
export const clusterStatus: Verb = {
  name: 'cluster status',
  about: 'says which machines live, where each tenant is, which machine has its lease, and how far standbys are behind',
  options: [CLUSTER],
  examples: ['hob cluster status', 'hob cluster status --json'],
  json:
    '{ hosts: { name: string, address?: string, heardMs: number, live: boolean }[],\n' +
    `  tenants: { name: string, pin?: string, place?: string, store?: ${STORE_JSON} }[] }`,
  codes: { 1: 'the database has no cluster, or does not answer; or a tenant has no machine' },
  hardened: true,
  async run(given, { line, json, table }) {
    const { withCluster } = await import('../../cluster/drivers/manage.ts');
    const { machineTable, replicationLines, tenantTable } = await import('../../cluster/lines.ts');
    const status = await withCluster(given, (cluster) => cluster.status());
    table(...machineTable(status));
    line('');
    table(...tenantTable(status));
    for (const text of replicationLines(status)) line(text);
    const { hosts, tenants } = status;
    json({ hosts, tenants: tenants.map(({ name, pin, place, store }) => ({ name, pin, place, store })) });
    return tenants.every(({ store }) => store?.holder !== undefined) ? 0 : 1;
  },
};
