/** `hob cluster add`, `remove` and `pin`: the tenants of a cluster. */
import { Mistake } from '../../line/mistake.ts';
import { CLUSTER } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

const CODES = { 1: 'the database has no cluster, or does not answer; or the cluster has no such tenant' };

/** `hob cluster add` */
export const clusterAdd: Verb = {
  name: 'cluster add',
  operands: '<tenant>',
  about: 'adds a tenant, which is served from now on. A removed tenant comes back with its sessions and its ledger',
  options: [CLUSTER],
  examples: ['hob cluster add acme'],
  json: '{ tenant: string }',
  codes: { 1: 'the database has no cluster, or does not answer; or no tenant may have this name' },
  hardened: true,
  async run(given, { line, json }) {
    const { withCluster } = await import('../../cluster/drivers/manage.ts');
    const [tenant = ''] = given.operands;
    await withCluster(given, (cluster) => cluster.addTenant(tenant));
    line(`${tenant} is a tenant now. Each machine needs a manifest for it, under tenants in its file`);
    json({ tenant });
    return 0;
  },
};

/** `hob cluster remove` */
export const clusterRemove: Verb = {
  name: 'cluster remove',
  operands: '<tenant>',
  about:
    'removes a tenant: no machine serves it any more. Its data stays in the database, and hob cluster add brings it back',
  options: [CLUSTER],
  examples: ['hob cluster remove acme'],
  json: '{ tenant: string }',
  codes: CODES,
  hardened: true,
  async run(given, { line, json }) {
    const { withCluster } = await import('../../cluster/drivers/manage.ts');
    const [tenant = ''] = given.operands;
    await withCluster(given, async (cluster) => {
      // A mistyped name would otherwise look like a tenant that was removed.
      if (!(await cluster.status()).tenants.some(({ name }) => name === tenant))
        throw new Mistake(`the cluster has no tenant ${JSON.stringify(tenant)}: hob cluster status lists them`);
      await cluster.removeTenant(tenant);
    });
    line(`${tenant} is not served any more. Its data is still in the schema hob_tenant_${tenant}`);
    json({ tenant });
    return 0;
  },
};

/** `hob cluster pin` */
export const clusterPin: Verb = {
  name: 'cluster pin',
  operands: '<tenant> [machine]',
  about:
    'moves a tenant to a machine, for as long as that machine lives. If no machine is named, the tenant goes back to its usual place',
  options: [CLUSTER],
  examples: ['hob cluster pin acme beta', 'hob cluster pin acme'],
  json: '{ tenant: string, machine?: string }',
  codes: CODES,
  hardened: true,
  async run(given, { line, say, json }) {
    const { withCluster } = await import('../../cluster/drivers/manage.ts');
    const [tenant = '', machine] = given.operands;
    const lives = await withCluster(given, async (cluster) => {
      await cluster.pin(tenant, machine);
      return (await cluster.status()).hosts.some(({ name, live }) => name === machine && live);
    });
    line(machine === undefined ? `${tenant} moves to its usual place` : `${tenant} moves to ${machine}`);
    if (machine !== undefined && !lives)
      say(`hob: the machine ${machine} does not live now: ${tenant} stays at its usual place until it does`);
    json({ tenant, machine });
    return 0;
  },
};
