/**
 * One machine, in a process of its own, for `front.ts`. With `there` it relays `acme` over the link to another one, and
 * without it serves `acme` at a front door and at a door of its own. Sends its ports, addresses and secret.
 */
import './lockdown.ts';
import { openLink, routesOf } from '@hob/cluster';
import { openFrontDoor, openHost } from '@hob/host';
import { E } from '@hob/vat';

export interface MachineOptions {
  readonly key: string;
  readonly cert: string;
  readonly peers: Readonly<Record<string, string>>;
  readonly folder: string;
  /** The address of the machine that serves `acme`. */
  readonly there?: string;
}

export interface MachineReady {
  readonly link: string;
  readonly front: string;
  readonly plain?: string;
  readonly secret?: string;
}

process.once('disconnect', () => process.exit());
process.once('message', async ({ key, cert, peers, folder, there }: MachineOptions) => {
  const link = await openLink({ at: { host: '127.0.0.1', port: 0 }, key, cert, peers, take: (stream) => front.take(stream) }); // biome-ignore format: one line
  const elsewhere = routesOf(
    { where: () => (there === undefined ? undefined : { name: 'there', address: there }) },
    link,
  );
  const front = await openFrontDoor({}, { elsewhere });
  const ready = { link: `127.0.0.1:${link.port}`, front: `${front.url}/acme` };
  if (there !== undefined) return void process.send?.(ready satisfies MachineReady);
  const host = await openHost({ stateDir: folder });
  await host.offer('bell', { ring: async (n: number) => n });
  const { granter } = await host.addGranter('owner');
  const session = await host.openSession({ name: 'work', granters: ['owner'] });
  await E(granter).grant(session.id, 'bell', 'bell', {});
  await host.serve({ front, name: 'acme' });
  const { url: plain } = await host.serve();
  process.send?.({ ...ready, plain, secret: session.secret } satisfies MachineReady);
});
