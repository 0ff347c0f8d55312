/** Starts the services of a compose file without a container engine: runs their commands on folders of a test. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parse } from 'yaml';
import { type HobHome, Running } from './hob.ts';

interface Service {
  readonly entrypoint?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly volumes: readonly string[];
}

export interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: object;
}

/** Reads a file of `packages/cli/container`. */
export const composeIn = (name: string): Compose =>
  parse(readFileSync(new URL(`../container/${name}`, import.meta.url), 'utf8'), { merge: true }) as Compose;

/** Fails unless each volume has a name, no port is open, and each of two hosts has its own state and sentinel. */
export function expectApart({ services, volumes }: Compose, names: readonly string[]): void {
  expect(Object.keys(services)).toEqual(names);
  const mounts = Object.values(services).flatMap((service) => service.volumes);
  const named = mounts.map((mount) => mount.split(':')[0] ?? '').filter((name) => !name.startsWith('./'));
  expect(new Set(named)).toEqual(new Set(Object.keys(volumes)));
  expect(new Set(mounts.filter((mount) => /:\/(?:state|sentinel)$/.test(mount))).size).toBe(4);
  for (const service of Object.values(services)) expect(Object.keys(service)).not.toContain('ports');
}

/** Starts the command of a service, with the folders of `home` in place of those of the container. */
export function startService({ entrypoint = [], environment }: Service, home: HobHome, socket: string): Running {
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
