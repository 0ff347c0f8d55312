/**
 * Another machine: a process with a link and the hosts of some tenants. It gets its link and the names as a message, and
 * sends the port of its link and the secret of a session of each host.
 */
import '@hob/host/lockdown';
import { join } from 'node:path';
import { openFrontDoor, openHost } from '@hob/host';
import { E } from '@hob/vat';
import { type LinkOptions, openLink } from '../src/index.ts';

export interface OtherMachine {
  readonly link: Pick<LinkOptions, 'key' | 'cert' | 'peers'>;
  readonly names: readonly string[];
  /** For the states of its hosts. */
  readonly folder: string;
}

export interface OtherReady {
  readonly port: number;
  readonly url: string;
  /** By the names of the hosts. */
  readonly secrets: Readonly<Record<string, string>>;
}

process.once('message', async ({ link: options, names, folder }: OtherMachine) => {
  const front = await openFrontDoor();
  const link = await openLink({ ...options, at: { host: '127.0.0.1', port: 0 }, take: (stream) => front.take(stream) });
  const secrets: Record<string, string> = {};
  for (const name of names) {
    const host = await openHost({ stateDir: join(folder, name) });
    const { granter } = await host.addGranter('owner');
    // `wait` returns when this process has ended.
    await host.offer('bell', { ring: async (word = 'ding') => `${name} ${word}`, wait: () => new Promise(() => {}) });
    const session = await host.openSession({ name: 'work', granters: ['owner'] });
    await E(granter).grant(session.id, 'bell', 'bell', {});
    await host.serve({ front, name });
    secrets[name] = session.secret;
  }
  process.send?.({ port: link.port, url: front.url, secrets } satisfies OtherReady);
});
