/** `hob cluster serve`: runs one machine of a cluster. */
import { CLUSTER, TELLING } from '../../line/options.ts';
import { portOf } from '../../line/port.ts';
import { isGiven, textOf, type Verb } from '../../line/verb.ts';

/** `hob cluster serve` */
export const clusterServe: Verb = {
  name: 'cluster serve',
  about: 'joins the cluster of a PostgreSQL database, and serves the tenants that are placed here from their manifests',
  options: [
    CLUSTER,
    {
      flags: '--log <file>',
      about: 'where the log goes: rotated at 1 MiB, with 4 older files (default: the standard error)',
    },
    {
      flags: '--metrics <n>',
      about: 'a port of 127.0.0.1 where a program collects metrics: http://127.0.0.1:N/metrics (default: nowhere)',
    },
    ...TELLING,
  ],
  examples: ['hob cluster serve', 'hob cluster serve --cluster /etc/hob/alpha.yaml --metrics 9464'],
  json: '{ pid: number, name: string, url: string, link: string }',
  codes: {
    0: 'Ctrl-C, SIGTERM or SIGHUP ended it, and it has handed its tenants over',
    1: 'it did not start: the file has mistakes, the database does not answer, or another process has the name',
  },
  hardened: true,
  async run(given, { line, say, json }) {
    const { clusterFileOf, readCluster } = await import('../../cluster/drivers/file.ts');
    const { clusterPackage } = await import('../../cluster/drivers/manage.ts');
    const { absolute } = await import('../../drivers/places.ts');
    const cluster = readCluster(clusterFileOf(given));
    await clusterPackage();
    const { serveCluster } = await import('../../cluster/drivers/serve.ts');
    const [log, webhook, keyFile] = ['log', 'webhook', 'webhookKeyFile'].map((name) => textOf(given, name));
    const serving = await serveCluster({
      cluster,
      log: log === undefined ? undefined : absolute(log),
      metrics: portOf(given, 'metrics'),
      tell: {
        notify: isGiven(given, 'notify'),
        notifyWith: textOf(given, 'notifyWith'),
        webhook,
        webhookKeyFile: keyFile === undefined ? undefined : absolute(keyFile),
      },
      say,
    });
    line(`hob is the machine ${serving.name} of a cluster, and a door to all tenants: ${serving.url}/TENANT`);
    line('add a tenant:      hob cluster add TENANT');
    line('see the cluster:   hob cluster status');
    json(serving);
    // The process ends with a signal.
    return await new Promise<never>(() => {});
  },
};
