/** `container/compose.yaml`: a database, a host and a standby. The test starts the commands of its services on folders of its own. */
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { openCluster } from '../../../../test/postgres-cluster.ts';
import { type Compose, composeIn, expectApart, startService } from '../../test/compose.ts';
import { hobHome } from '../../test/hob.ts';

const compose = composeIn('compose.yaml');
const service = (name: string): Compose['services'][string] => compose.services[name] as Compose['services'][string];

test('each volume has a name, no port is open, and each host has a state and a sentinel of its own', () => {
  expectApart(compose, ['database', 'hob', 'standby']);
});

requires('postgres', 'linux')(
  'what it starts is a host, and a standby that takes over when that is killed',
  async () => {
    const cluster = await openCluster();
    onTestFinished(() => cluster.remove());
    await cluster.sql`CREATE DATABASE hob`;
    const host = startService(service('hob'), hobHome(), cluster.socket);
    await host.shows(/see its requests/);
    const standby = startService(service('standby'), hobHome(), cluster.socket);
    await standby.shows(/it serves as soon as/);
    host.child.kill('SIGKILL');
    await standby.shows(/see its requests/);
    expect(standby.child.exitCode).toBe(null);
  },
  300_000,
);
