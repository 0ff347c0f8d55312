/** A host whose disk fails, as a process of its own: what it says at the door, and what waits for it. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, E } from '@hob/vat';
import { afterEach, beforeEach, expect } from 'vitest';
import { knock } from '../../../test/knock.ts';
import { requires } from '../../../test/needs.ts';
import { Program, type Ready, readiness } from '../../../test/processes.ts';
import { scratch, shout } from '../test/test-host.ts';
import type { SessionFace } from './index.ts';

let folder: string;
let programs: Program[];
beforeEach(() => {
  folder = scratch();
  programs = [];
  mkdirSync(join(folder, 'root'));
  writeFileSync(join(folder, 'root', 'notes.txt'), 'for the agent\n');
});
afterEach(async () => {
  await Promise.all(programs.map((program) => program.stop()));
  rmSync(folder, { recursive: true, force: true });
});

async function start(known?: Ready): Promise<readonly [Program, Ready]> {
  const port = known === undefined ? '0' : new URL(known.url).port;
  const args = ['--root', join(folder, 'root'), '--state', join(folder, 'state'), '--port', port];
  const program = new Program('workspace', args);
  programs.push(program);
  return [program, await readiness(program, known)];
}

/** From now on no write of this process to a file succeeds. */
const failDisk = ({ child }: Program): void =>
  void execFileSync('prlimit', ['--pid', String(child.pid), '--fsize=0:0']);

async function post(url: string, secret: string | undefined): Promise<string> {
  const head = [
    `POST /object/${'a'.repeat(52)} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    ...(secret === undefined ? [] : [`Authorization: Bearer ${secret}`]),
    'Content-Length: 2',
  ];
  return (await shout(url, `${head.join('\r\n')}\r\n\r\n{}`)).text.slice(9, 12);
}

requires('linux', 'prlimit')(
  'while the store fails a valid secret gets 503, never 401, at the door and for an object URL; without one it is 401',
  async () => {
    const [host, { url, session, granter }] = await start();
    failDisk(host);
    for (const secret of [session.secret, granter.secret, session.secret])
      expect(await knock(url, { secret })).toBe('HTTP 503');
    for (const secret of [session.secret, granter.secret]) expect(await post(url, secret)).toBe('503');
    expect(await post(url, undefined)).toBe('401');
    expect(await knock(url, { secret: '' })).toBe('HTTP 401');
    expect(await knock(url, { secret: session.secret, origin: 'http://evil.example' })).toBe('HTTP 403');
  },
);

requires('linux', 'prlimit')(
  'an agent that comes while the store fails waits, and is let in with the same secret once the host is started again',
  async () => {
    const [host, ready] = await start();
    failDisk(host);
    expect(await knock(ready.url, { secret: ready.session.secret })).toBe('HTTP 503');
    const entering = connect<SessionFace>(ready.url, { secret: ready.session.secret, patienceMs: 300_000 });
    entering.catch(() => {});
    // It has heard 503, too, before the host goes: the answer to who came first was written first.
    expect(await knock(ready.url, { secret: ready.session.secret })).toBe('HTTP 503');
    await new Promise((resolve) => setTimeout(resolve, 100));
    host.kill('SIGKILL');
    await host.ended;
    await start(ready);
    const { bootstrap, close, closed } = await entering;
    const workspace = E(bootstrap).cap('workspace') as Promise<{ readText(path: string): Promise<string> }>;
    expect(await E(workspace).readText('notes.txt')).toBe('for the agent\n');
    close();
    await closed;
  },
);
