/**
 * The host of `sessions.ts`, in a process of its own. It opens the given state, reports how long that took,
 * and does what its parent asks.
 */
import './lockdown.ts';
import { openHost } from '@hob/host';
import { type Definition, define, E } from '@hob/vat';

interface Bell {
  ring(): string;
  /** Data of that many bytes, back again. */
  echo(text: string): string;
}
const BellActor: Definition<Bell, []> = define('bench.bell', () => ({ ring: () => 'ding', echo: (text) => text }));

export type Order = { readonly fill: number } | 'memory' | 'close';
export interface Opened {
  readonly ms: number;
  readonly url: string;
  readonly sessions: number;
}
export interface Memory {
  readonly used: number;
  readonly rss: number;
}

const began = performance.now();
const host = await openHost({ stateDir: process.argv[2] ?? '', definitions: [BellActor] });
await host.offer('bell', await host.vats.vat('bench').root('bell', () => BellActor()));
const granter = await host.granter('owner').catch(async () => (await host.addGranter('owner')).granter);
const { url } = await host.serve();
const ms = performance.now() - began;

async function fill(n: number): Promise<readonly string[]> {
  const secrets: string[] = [];
  const first = (await host.sessions()).length;
  for (let done = 0; done < n; done += 500)
    await Promise.all(
      Array.from({ length: Math.min(500, n - done) }, async (_, i) => {
        const session = await host.openSession({ name: `s${first + done + i}`, granters: ['owner'] });
        await E(granter).grant(session.id, 'bell', 'bell', { uses: 1_000_000, until: Date.now() + 80 * 86_400_000 });
        secrets.push(session.secret);
      }),
    );
  return secrets;
}

process.on('disconnect', () => process.exit());
process.on('message', async (order: Order) => {
  if (order === 'close') {
    await host.close();
    process.exit(0);
  }
  if (order === 'memory') {
    globalThis.gc?.();
    const { heapUsed, external, rss } = process.memoryUsage();
    return void process.send?.({ used: heapUsed + external, rss } satisfies Memory);
  }
  process.send?.(await fill(order.fill));
});
process.send?.({ ms, url, sessions: (await host.sessions()).length } satisfies Opened);
