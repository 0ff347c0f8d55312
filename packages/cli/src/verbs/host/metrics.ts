/** `hob metrics`: the metrics of a host, for a program that collects them. */
import { STATE, STORE } from '../../line/options.ts';
import { textOf, type Verb } from '../../line/verb.ts';

/** `hob metrics` */
export const metrics: Verb = {
  name: 'metrics',
  about: 'prints the metrics of the host as OpenMetrics text. With --store: only those of the database',
  options: [STATE, STORE],
  examples: ['hob metrics', 'hob metrics --store ~/.config/hob/store.yaml'],
  codes: { 1: 'no host serves the state, or the database does not answer' },
  hardened: true,
  async run(given, { line }) {
    if (textOf(given, 'store') !== undefined) {
      const { hostsNamed } = await import('../../drivers/store-file.ts');
      const { storeFamilies } = await import('../../daemon/metrics/families.ts');
      const { openMetrics } = await import('../../line/open-metrics.ts');
      return print(openMetrics(storeFamilies(await hostsNamed(given))), line);
    }
    const { E } = await import('@hob/vat/peer');
    const { withDaemon } = await import('../../daemon/drivers/client.ts');
    return await withDaemon(given, async ({ daemon }) => print(await E(daemon).metrics(), line));
  },
};

function print(text: string, line: (text: string) => void): number {
  for (const each of text.trimEnd().split('\n')) line(each);
  return 0;
}
