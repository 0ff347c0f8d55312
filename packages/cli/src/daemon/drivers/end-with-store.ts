/**
 * Ends the process of a host whose store is gone.
 *
 * After a failed commit a host goes on from its store. Without a store it would keep its port and serve nothing, and
 * nothing would start it again.
 */
import type { Host } from '@hob/host';

/** The time that the host gets to close, in ms. Then the process ends anyway. */
const LAST_MS = 5000;

/** Ends the process with 1 once the store of the host is gone. `log` gets a line about it first. */
export function endWithStore(host: Host, log: (line: string) => void): void {
  const stop = host.vats.onLoss(() => {
    host.counts().catch(({ code }: { readonly code?: string }) => {
      if (code !== 'vat-halted') return;
      log('the store is gone, so this process ends: start it again when the store can be reached');
      setTimeout(() => process.exit(1), LAST_MS).unref();
      const end = (): void => process.exit(1);
      void host.close().then(end, end);
    });
  });
  // After these signals the host closes its store itself. That is no loss.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, stop);
}
