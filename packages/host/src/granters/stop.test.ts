/** `hob stop`, against processes that end, that hang, and that are gone. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, E, type Far } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { Program } from '../../../../test/processes.ts';
import { code, lines, scratch, testHost } from '../../test/test-host.ts';
import { orderStop, readStopOrder, writeAddress } from '../drivers/state-dir.ts';
import { openHost, type SessionFace } from '../index.ts';

interface Wedge {
  count(): number;
  spin(): void;
  arm(): void;
}
interface Ready {
  readonly url: string;
  readonly secret?: string;
  readonly states: readonly (readonly [petname: string, state: string, usesLeft?: number])[];
}

function place(): { readonly folder: string; readonly state: string } {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { folder, state: join(folder, 'state') };
}

function program(file: string, ...args: readonly string[]): Program {
  const made = new Program(file, args);
  onTestFinished(async () => {
    made.kill('SIGKILL');
    await made.ended;
  });
  return made;
}

async function wedgeable(state: string): Promise<{ readonly host: Program; readonly ready: Ready }> {
  const host = program('../../test/wedged-child.ts', state);
  const line = await host.line((each) => each.startsWith('{"url"'));
  if (line === undefined) throw new Error(`the host did not start: ${host.lines.join('\n')}`);
  return { host, ready: JSON.parse(line) as Ready };
}

async function stop(state: string, ...more: readonly string[]): Promise<string> {
  const asked = program('hob', 'stop', '--state', state, ...more);
  expect(await asked.ended).toBe(0);
  return asked.lines.join('\n');
}

async function enter({ url, secret = '' }: Ready): Promise<Far<Wedge>> {
  const connection = await connect<SessionFace>(url, { secret });
  onTestFinished(async () => {
    connection.close();
    await connection.closed;
  });
  return E(connection.bootstrap).cap('wedge') as unknown as Far<Wedge>;
}

test('stop revokes all grants of all granters on a running host and ends it, without a secret', async () => {
  const { state } = place();
  const { host, ready } = await wedgeable(state);
  const wedge = await enter(ready);
  expect(await E(wedge).count()).toBe(1);
  expect(await stop(state)).toBe('stopped: every grant is revoked');
  expect(await host.ended).toBe(0);
  expect(existsSync(join(state, 'host.json'))).toBe(false);
  expect(readStopOrder(state)).toBeUndefined();
  const again = await wedgeable(state);
  expect(again.ready.states).toEqual([['wedge', 'revoked', 99]]);
  expect(await code(E(await enter({ ...ready, url: again.ready.url })).count())).toBe('revoked');
});

test('a host whose vat hangs in an endless turn is killed after the wait; acknowledged changes stay, and the next host revokes everything first', async () => {
  const { state } = place();
  const { host, ready } = await wedgeable(state);
  const wedge = await enter(ready);
  expect(await E(wedge).count()).toBe(1);
  expect(await E(wedge).count()).toBe(2);
  const spins = code(E(wedge).spin());
  expect(await host.line((line) => line === 'spins')).toBe('spins');
  // It answers nobody any more, and hears no signal either.
  expect(await Promise.race([code(E(wedge).count()), new Promise((done) => setTimeout(done, 500, 'nothing'))])).toBe('nothing'); // biome-ignore format: one line
  host.kill('SIGTERM');
  expect(await Promise.race([host.ended, new Promise((done) => setTimeout(done, 500, 'nothing'))])).toBe('nothing');
  expect(await stop(state, '--wait', '1s')).toMatch(/^the host did not answer and was killed: every grant is revoked/);
  expect(await host.ended).toBe('SIGKILL');
  await spins;
  expect(existsSync(join(state, 'host.json'))).toBe(false);
  const again = await wedgeable(state);
  const [grant] = again.ready.states;
  expect(grant?.slice(0, 2)).toEqual(['wedge', 'revoked']);
  // Two were acknowledged; the third and the fourth may be on the disk or not, and none came back.
  expect(grant?.[2]).toBeLessThanOrEqual(98);
  expect(readStopOrder(state)).toBeUndefined();
});

test('a stored message that would make the next host hang too does not run, because its grant has ended before', async () => {
  const { state } = place();
  const { host, ready } = await wedgeable(state);
  const wedge = await enter(ready);
  await E(wedge).arm();
  host.kill('SIGKILL');
  await host.ended;
  // Without the stop the next one spins as soon as it is there.
  const hung = program('../../test/wedged-child.ts', state);
  expect(await hung.line((each) => each === 'spins')).toBe('spins');
  hung.kill('SIGKILL');
  await hung.ended;
  expect(await stop(state)).toMatch(/^no host is running on this state: every grant is revoked before/);
  const { host: last, ready: after } = await wedgeable(state);
  expect(after.states).toEqual([['wedge', 'revoked', 99]]);
  expect(await code(E(await enter({ ...ready, url: after.url })).count())).toBe('revoked');
  expect(last.lines).not.toContain('spins');
});

test('the next host carries out the order once, before its program can use a grant, with a line for each grant', async () => {
  const home = await testHost();
  onTestFinished(() => home.close());
  const state = join(home.folder, 'state');
  await home.host.offer('bell', { ring: async () => 'ding' });
  await home.host.addGranter('second');
  const other = await home.host.openSession({ name: 'other', granters: ['second'] });
  await E(home.granter).grant(home.session.id, 'bell', 'bell', { scope: 'permanent' });
  await E(await home.host.granter('second')).grant(other.id, 'bell', 'bell', { uses: 3 });
  await home.host.close();
  orderStop(state, 'somebody said so');
  let host = await openHost({ stateDir: state });
  onTestFinished(() => host.close());
  const told = await lines(host, 'revoke');
  expect(told).toHaveLength(2);
  for (const line of told) expect(line).toMatchObject({ by: 'hob stop', surface: 'process', why: 'somebody said so' });
  await host.offer('bell', { ring: async () => 'ding' });
  expect(await code(E(await (await host.session(other.id)).cap<{ ring(): string }>('bell')).ring())).toBe('revoked');
  // Later grants are not touched by it.
  await E(await host.granter('owner')).grant(home.session.id, 'new', 'bell', {});
  await host.close();
  host = await openHost({ stateDir: state });
  expect((await E(await host.granter('owner')).list({ live: true })).map(({ petname }) => petname)).toEqual(['new']);
  expect(await host.verify()).toMatchObject({ ok: true });
});

test('a program can stop its own host; calls under way break, and the host stays closed', async () => {
  const home = await testHost();
  onTestFinished(() => home.close());
  const state = join(home.folder, 'state');
  await home.host.offer('bell', { wait: (_args: unknown, { signal }: { signal: AbortSignal }) => new Promise((_, no) => signal.addEventListener('abort', () => no(signal.reason))) }); // biome-ignore format: one line
  await E(home.granter).grant(home.session.id, 'bell', 'bell', {});
  const waits = code(E(await home.session.cap<{ wait(): string }>('bell')).wait());
  await home.host.stop('enough');
  expect(['revoked', 'unavailable', 'vat-halted']).toContain(await waits);
  const host = await openHost({ stateDir: state });
  onTestFinished(() => host.close());
  expect((await E(await host.granter('owner')).list()).map(({ state: is }) => is)).toEqual(['revoked']);
});

test('an address file that names another process ends nothing: only the process that has the store open is ended', async () => {
  const { state } = place();
  const { host } = await wedgeable(state);
  host.kill('SIGKILL');
  await host.ended;
  const bystander = program('../../test/wedged-child.ts', join(state, '..', 'elsewhere'));
  await bystander.line((each) => each.startsWith('{"url"'));
  writeAddress(state, { url: 'ws://127.0.0.1:1', pid: bystander.child.pid as number });
  expect(await stop(state, '--wait', '1s')).toMatch(/^no host is running on this state/);
  expect(bystander.child.exitCode ?? bystander.child.signalCode).toBeNull();
});

test('no order is written to a folder that is not the state of a host', async () => {
  const { folder } = place();
  writeFileSync(join(folder, 'letter.txt'), 'mine');
  const asked = program('hob', 'stop', '--state', folder);
  expect(await asked.ended).toBe(1);
  expect(asked.lines.join('\n')).toMatch(/^hob: that folder is not the state of a host/);
  expect(existsSync(join(folder, 'stop'))).toBe(false);
});
