/**
 * The host and the agents of `console.ts`, each in a process of its own.
 *
 *   console-host.ts host STATE          serves the console, and an empty page beside it
 *   console-host.ts agent URL SECRET    asks, or calls a cap until it is refused, and tells when
 */
import './lockdown.ts';
import { consoleLink, consolePages } from '@hob/console';
import { openHost } from '@hob/host';
import { connect, E } from '@hob/vat';

/** `link`: a new link for the page. Of an agent: what to ask for, or the cap to call until it is refused. */
export type Order = 'link' | 'close' | { readonly ask: number } | { readonly callUntilRefused: string };

export interface Opened {
  readonly url: string;
  /** Of the granter. */
  readonly owner: string;
  readonly session: string;
  /** Of the agent. */
  readonly agent: string;
}

interface Bell {
  ring(): string;
}
interface Session {
  cap(name: string): Bell;
  request(ask: object): object;
}

/** ms since 1970 by the clock of the machine, which the browser reads, too. */
const wall = (): number => performance.timeOrigin + performance.now();

const [what = '', at = '', secret = ''] = process.argv.slice(2);
process.on('disconnect', () => process.exit(1));
if (what === 'host') await serve();
else await act();

async function serve(): Promise<void> {
  const host = await openHost({ stateDir: at });
  await host.offer('bell', { ring: async () => 'ding' });
  const { secret: owner } = await host.addGranter('owner');
  const session = await host.openSession({ name: 'work', granters: ['owner'] });
  const body = new TextEncoder().encode('<!doctype html><title>empty</title><p>empty');
  const { url } = await host.serve({}, {}, { ...consolePages(), '/empty': { type: 'text/html; charset=utf-8', body } });
  process.on('message', async (order: Order) => {
    if (order === 'link') process.send?.(consoleLink(url, (await host.entryCode('owner')).code));
    if (order !== 'close') return;
    await host.close();
    process.exit(0);
  });
  process.send?.({ url, owner, session: session.id, agent: session.secret } satisfies Opened);
}

async function act(): Promise<void> {
  const { bootstrap } = await connect<Session>(at, { secret });
  process.on('message', async (order: Exclude<Order, string>) => {
    if ('ask' in order) {
      const asked = wall();
      E(bootstrap)
        .request({ asks: 'bell', terms: { uses: order.ask + 1, for: 60_000 }, why: `request ${order.ask}` })
        .catch(() => {});
      return void process.send?.(asked);
    }
    const bell = E(bootstrap).cap(order.callUntilRefused);
    await E(bell).ring();
    process.send?.('calls');
    for (;;) {
      const code = await E(bell)
        .ring()
        .then(
          () => undefined,
          (error: { readonly code?: string }) => error.code,
        );
      // A session may write so many lines a day, and each call is some.
      if (code === undefined) await new Promise((done) => setTimeout(done, 2));
      else if (code !== 'revoked') throw new Error(`the agent was refused with ${code}`);
      else return void process.send?.(wall());
    }
  });
  process.send?.('open');
}
