/** A door of one machine to the tenants of another, over the link, with the other machine as a process of its own. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FrontDoor, openFrontDoor, type SessionFace } from '@hob/host';
import { CapError, connect, E, type Far } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { certificate } from '../../../../test/certificate.ts';
import { knock } from '../../../../test/knock.ts';
import type { OtherMachine, OtherReady } from '../../test/other-machine.ts';
import { openLink } from './drivers/link.ts';
import { routesOf } from './routes.ts';
import type { Link } from './types.ts';

interface Bell {
  ring(word?: string): Promise<string>;
  wait(): Promise<string>;
}

interface Machines extends OtherReady {
  readonly front: FrontDoor;
  readonly link: Link;
  readonly child: ChildProcess;
}

/** A door here, and another machine that serves `acme` and `globex`. */
async function machines(): Promise<Machines> {
  const [here, there] = [certificate('here'), certificate('there')];
  const folder = mkdtempSync(join(tmpdir(), 'hob-other-'));
  const child = fork(new URL('../../test/other-machine.ts', import.meta.url));
  onTestFinished(async () => {
    const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
    child.kill('SIGKILL');
    await gone;
    rmSync(folder, { recursive: true, force: true });
  });
  const message: OtherMachine = { link: { ...there, peers: { here: here.cert } }, names: ['acme', 'globex'], folder };
  child.send(message);
  const ready = (await once(child, 'message'))[0] as OtherReady;
  const link = await openLink({ ...here, at: { host: '127.0.0.1', port: 0 }, peers: { there: there.cert }, take: (stream) => stream.destroy() }); // biome-ignore format: one line
  const address = `127.0.0.1:${ready.port}`;
  const where = (name: string) => (Object.hasOwn(ready.secrets, name) ? { name: 'there', address } : undefined);
  const front = await openFrontDoor({}, { elsewhere: routesOf({ where }, link) });
  onTestFinished(async () => {
    await front.close();
    await link.close();
  });
  return { ...ready, front, link, child };
}

async function bellOf(
  { front, secrets }: Machines,
  tenant: string,
): Promise<{ bell: Far<Bell>; closed: Promise<{ code: number }> }> {
  // biome-ignore format: one line
  const connection = await connect<SessionFace>(`${front.url}/${tenant}`, { secret: secrets[tenant] ?? '', patienceMs: 0 }); // biome-ignore format: one line
  onTestFinished(async () => {
    connection.close();
    await connection.closed;
  });
  return { bell: E(connection.bootstrap).cap('bell') as unknown as Far<Bell>, closed: connection.closed };
}

const code = (promise: Promise<unknown>): Promise<string> => promise.then(() => 'ok', (error: CapError) => error.code); // biome-ignore format: one line

test('tenants of another machine are reached by the door of this one: in order, and each with its own secret', async () => {
  const at = await machines();
  const [acme, globex] = [await bellOf(at, 'acme'), await bellOf(at, 'globex')];
  const rung = await Promise.all(Array.from({ length: 200 }, (_, n) => E(n % 2 ? acme.bell : globex.bell).ring(String(n)))); // biome-ignore format: one line
  expect(rung).toEqual(Array.from({ length: 200 }, (_, n) => `${n % 2 ? 'acme' : 'globex'} ${n}`));
  expect(await knock(`${at.front.url}/acme`, { secret: at.secrets['globex'] ?? '' })).toBe('HTTP 401');
  expect(await knock(`${at.front.url}/acme`, { secret: at.secrets['acme'] ?? '', host: 'evil.example' })).toBe('HTTP 403'); // biome-ignore format: one line
  expect(await knock(`${at.front.url}/other`, { secret: at.secrets['acme'] ?? '' })).toBe('HTTP 404');
});

test('a machine that is killed in the middle ends the connections that it served; then it is unavailable', async () => {
  const at = await machines();
  const { bell, closed } = await bellOf(at, 'acme');
  expect(await E(bell).ring()).toBe('acme ding');
  const waiting = code(E(bell).wait());
  await E(bell).ring();
  at.child.kill('SIGKILL');
  expect(await waiting).toBe('disconnected');
  expect((await closed).code).toBe(1006);
  expect(await knock(`${at.front.url}/acme`, { secret: at.secrets['acme'] ?? '' })).toBe('HTTP 503');
  expect(await code(bellOf(at, 'acme'))).toBe('unavailable');
});

test('a machine that is paused keeps strangers waiting, and no known caller of another host out', async () => {
  const at = await machines();
  const { bell } = await bellOf(at, 'acme');
  expect(await E(bell).ring()).toBe('acme ding');
  at.child.kill('SIGSTOP');
  const status = knock(`${at.front.url}/globex`, { secret: at.secrets['globex'] ?? '' });
  // Its own tenants are not there. The door goes on.
  expect(await knock(`${at.front.url}/nobody`, { secret: 'hob1_x' })).toBe('HTTP 404');
  const ringing = E(bell).ring('again');
  at.child.kill('SIGCONT');
  expect(await ringing).toBe('acme again');
  expect(['open', 'HTTP 503']).toContain(await status);
});

test('a pin that is removed ends what is relayed over it', async () => {
  const at = await machines();
  const { bell, closed } = await bellOf(at, 'acme');
  expect(await E(bell).ring()).toBe('acme ding');
  at.link.pin({});
  expect((await closed).code).toBe(1006);
  expect(await knock(`${at.front.url}/acme`, { secret: at.secrets['acme'] ?? '' })).toBe('HTTP 503');
});

test('a tenant that is flooded with strangers keeps nobody of another one out', async () => {
  const at = await machines();
  const { bell } = await bellOf(at, 'acme');
  const strangers = Array.from({ length: 300 }, () => new WebSocket(`${at.front.url}/globex`, ['hob.1'], { headers: { authorization: 'Bearer no' } })); // biome-ignore format: one line
  const gone = strangers.map((each) => new Promise<void>((done) => each.on('error', () => {}).once('close', () => done()))); // biome-ignore format: one line
  // A busy machine may answer 503. Clients then try again.
  const enters = async (name: string): Promise<Far<Bell>> => {
    for (;;) {
      const entered = await bellOf(at, name).catch((error: unknown) => error);
      if (!(entered instanceof CapError)) return (entered as Awaited<ReturnType<typeof bellOf>>).bell;
      expect(entered.code).toBe('unavailable');
    }
  };
  expect(await E(await enters('acme')).ring()).toBe('acme ding');
  await Promise.all(gone);
  expect(await E(await enters('globex')).ring()).toBe('globex ding');
  await code(E(bell).ring());
});
