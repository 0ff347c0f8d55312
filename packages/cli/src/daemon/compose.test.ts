/** `container/compose.yaml`: a database, a host and a standby. What its services start is started here, on folders of the test. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { requires } from '../../../../test/needs.ts';
import { openCluster } from '../../../../test/postgres-cluster.ts';
import { type HobHome, hobHome, Running } from '../../test/hob.ts';

interface Service {
  readonly entrypoint?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
}
const file = new URL('../../container/compose.yaml', import.meta.url);
const compose = parse(readFileSync(file, 'utf8'), { merge: true }) as {
  readonly services: Readonly<Record<'database' | 'hob' | 'standby', Service>>;
  readonly volumes: object;
};

test('each volume has a name, no port is open, and each host has a state and a sentinel of its own', () => {
  const { services, volumes } = compose;
  expect(Object.keys(services)).toEqual(['database', 'hob', 'standby']);
  const mounts = Object.values(services).flatMap((service) => service.volumes);
  const named = mounts.map((mount) => mount.split(':')[0] ?? '').filter((name) => !name.startsWith('./'));
  expect(new Set(named)).toEqual(new Set(Object.keys(volumes)));
  expect(new Set(mounts.filter((mount) => /:\/(?:state|sentinel)$/.test(mount))).size).toBe(4);
  for (const service of Object.values(services)) expect(Object.keys(service)).not.toContain('ports');
});

/** Starts the command of a service, with the folders of `home` in place of those of the container. */
function start(name: 'hob' | 'standby', home: HobHome, socket: string): Running {
  const { entrypoint = [], environment } = compose.services[name];
  const [shell = '', ...words] = entrypoint;
  const places: Readonly<Record<string, string>> = { '/config': 'config', '/state': 'state' };
  const inTest = (word: string): string =>
    word
      .replaceAll('$$', '$')
      .replaceAll(/\/(?:config|state)\b(?=\/)/g, (path) => join(home.folder, places[path] ?? ''))
      .replace('--port 7710', '--port 0');
  for (const folder of ['state', 'bin']) mkdirSync(join(home.folder, folder), { mode: 0o700 });
  const [node = '', ...options] = home.words.map((word) => `'${word}'`);
  writeFileSync(join(home.folder, 'bin/hob'), `#!/bin/sh\nexec ${[node, ...options].join(' ')} "$@"\n`, {
    mode: 0o755,
  });
  const STORE = (environment['STORE'] ?? '').replace('/run/postgresql', encodeURIComponent(socket));
  const env = { ...home.env, STORE, PATH: `${join(home.folder, 'bin')}:${home.env['PATH']}` };
  const running = new Running(realpathSync(`/bin/${shell}`), words.map(inTest), env, home.folder);
  home.track(running);
  return running;
}

requires('postgres', 'linux')(
  'what it starts is a host, and a standby that takes over when that is killed',
  async () => {
    const cluster = await openCluster();
    onTestFinished(() => cluster.remove());
    await cluster.sql`CREATE DATABASE hob`;
    const host = start('hob', hobHome(), cluster.socket);
    await host.shows(/see its requests/);
    const standby = start('standby', hobHome(), cluster.socket);
    await standby.shows(/it serves as soon as/);
    host.child.kill('SIGKILL');
    await standby.shows(/see its requests/);
  },
  300_000,
);
