/** `hob cluster export`: the ledgers of all tenants. */
import { CLUSTER } from '../../line/options.ts';
import type { Verb } from '../../line/verb.ts';

/** `hob cluster export` */
export const clusterExport: Verb = {
  name: 'cluster export',
  operands: '[file]',
  about: 'writes the ledgers of all tenants as JSON Lines, in the order of their commits: { "tenant", "line" }',
  options: [CLUSTER],
  examples: ['hob cluster export all.jsonl', 'hob cluster export | head'],
  codes: { 1: 'the database has no cluster, or does not answer; or the file cannot be written' },
  hardened: true,
  async run(given, { line }) {
    const { writeLines } = await import('@hob/host/programs');
    const { withCluster } = await import('../../cluster/drivers/manage.ts');
    const { exportLines } = await import('../../cluster/lines.ts');
    const { absolute } = await import('../../drivers/places.ts');
    const [file] = given.operands;
    const to = file === undefined ? undefined : absolute(file);
    const count = await withCluster(given, (cluster) => writeLines(to, exportLines(cluster.ledgers())));
    if (file !== undefined) line(`wrote ${count} lines`);
    return 0;
  },
};
