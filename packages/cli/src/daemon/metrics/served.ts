/** The metrics of a served host as text: numbers of the host, and of its database if it has one. */
import type { Host } from '@hob/host';
import { version } from '@hob/host/line';
import { openMetrics } from '../../line/open-metrics.ts';
import { openMetricsDoor } from '../drivers/metrics-door.ts';
import type { ServedStore } from '../served/store.ts';
import { hostFamilies, storeFamilies } from './families.ts';

interface Measured {
  readonly host: Pick<Host, 'counts'>;
  readonly store: ServedStore;
  /** When the host began, in ms since 1970. */
  readonly since: number;
}

/**
 * Returns a function that reads the numbers each time it is called. If a port is given, also serves them there for a
 * program that collects metrics. Errors: `Mistake` (the port).
 */
export async function servedMetrics(
  port: number | undefined,
  { host, store, since }: Measured,
  log: (line: string) => void,
): Promise<() => Promise<string>> {
  const metrics = async (): Promise<string> => {
    const [counts, now] = await Promise.all([host.counts(), store.hosts()]);
    return openMetrics([...hostFamilies({ counts, version, since }), ...(now === undefined ? [] : storeFamilies(now))]);
  };
  if (port !== undefined) log(`metrics are at ${(await openMetricsDoor(port, metrics)).url}`);
  return metrics;
}
