/** `container/compose-cluster.yaml`, with the file that docs/deployment.md shows. The test starts the commands of its services on folders of its own. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { openCluster } from '../../../../test/postgres-cluster.ts';
import { blocks } from '../../../../test/readme.ts';
import { type Compose, composeIn, expectApart, startService } from '../../test/compose.ts';
import { type HobHome, hobHome, type Running } from '../../test/hob.ts';

const compose = composeIn('compose-cluster.yaml');
const page = readFileSync(new URL('../../../../docs/deployment.md', import.meta.url), 'utf8');

test('each volume has a name, no port is open, and each machine has a state and a sentinel of its own', () => {
  expectApart(compose, ['database', 'alpha', 'beta']);
});

requires('postgres', 'linux')(
  'its services are two machines of a cluster; when one is killed, the other serves its tenants',
  async () => {
    const server = await openCluster();
    onTestFinished(() => server.remove());
    await server.sql`CREATE DATABASE hob`;
    const [file = ''] = blocks(page, 'yaml').filter((text) => text.startsWith('name: alpha'));
    const start = (name: 'alpha' | 'beta'): { readonly home: HobHome; readonly host: Running } => {
      const home = hobHome();
      // With folders of the test, and with ports that are free.
      const own = file.replace('name: alpha', `name: ${name}`).replaceAll('/state/', `${join(home.folder, 'state')}/`).replaceAll(/port: \d+/g, 'port: 0'); // biome-ignore format: one line
      writeFileSync(join(home.folder, 'config/cluster.yaml'), own);
      writeFileSync(join(home.folder, 'config/acme.yaml'), readFileSync(join(home.folder, 'config/hob.yaml')));
      return { home, host: startService(compose.services[name] as Compose['services'][string], home, server.socket) };
    };
    const alpha = start('alpha');
    await alpha.host.shows(/see the cluster/);
    const beta = start('beta');
    await beta.host.shows(/see the cluster/);
    const words = ['--cluster', join(beta.home.folder, 'config/cluster.yaml')];
    expect((await beta.home.run('cluster', 'add', 'acme', ...words)).err).toBe('');
    expect((await beta.home.run('cluster', 'pin', 'acme', 'alpha', ...words)).err).toBe('');
    await alpha.host.shows(/tenant acme is served here/);
    alpha.host.child.kill('SIGKILL');
    await beta.host.shows(/tenant acme is served here/);
  },
  300_000,
);
