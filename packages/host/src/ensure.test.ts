/** A program that is started again finds what it made the first time. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { connect, E, type Far } from '@hob/vat';
import { expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { Program } from '../../../test/processes.ts';
import { blocks } from '../../../test/readme.ts';
import { code, lines, scratch, testHost } from '../test/test-host.ts';
import { openHost, type SessionFace } from './index.ts';

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

test('the first example of the README runs again, also after a kill, and grants once', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [example = ''] = blocks(readme, 'ts');
  const file = join(folder, 'try.ts');
  const state = join(folder, 'hob-state');
  const run = async (program: string): Promise<readonly [ended: number | string, said: readonly string[]]> => {
    writeFileSync(file, program.replace("'./hob-state'", JSON.stringify(state)));
    const started = new Program(file, []);
    return [await started.ended, started.lines];
  };
  const printed = [0, ["[ 'time' ]", expect.stringMatching(/^ws:\/\/127\.0\.0\.1:\d+$/)]];
  expect(await run(example)).toEqual(printed);
  expect(await run(example)).toEqual(printed);
  expect((await run(example.replace('await host.close()', "process.kill(process.pid, 'SIGKILL')")))[0]).toBe('SIGKILL');
  expect(await run(example)).toEqual(printed);
  const host = await openHost({ stateDir: state });
  onTestFinished(() => host.close());
  expect(await E(await host.granter('alice')).list()).toHaveLength(1);
  expect(await lines(host, 'grant')).toHaveLength(1);
});

test('an existing granter and session are returned without a secret; an ended session is not opened again', async () => {
  const home = await testHost();
  onTestFinished(() => home.close());
  const { host } = home;
  await host.offer('bell', { ring: async () => 'ding' });
  expect((await host.ensureGranter('owner')).secret).toBeUndefined();
  const second = await host.ensureGranter('second');
  expect(second.secret).toMatch(/^hob1_/);
  const made = await host.ensureSession({ name: 'demo', granters: ['second', 'owner'] });
  await E(second.granter).grant(made.id, 'bell', 'bell', { uses: 1 });
  const again = await host.ensureSession({ name: 'demo', granters: ['owner', 'second'] });
  expect(again).toMatchObject({ id: made.id, name: 'demo', secret: undefined });
  expect(await again.caps()).toEqual(['bell']);
  // Whoever grants decides over the session: another one does not get it under its old name.
  for (const granters of [[], ['owner'], ['owner', 'owner']])
    expect(await code(host.ensureSession({ name: 'demo', granters }))).toBe('invalid');
  const child = await host.ensureSession({ name: 'demo', parent: made.id });
  expect(child).toMatchObject({ parent: made.id, secret: expect.stringMatching(/^hob1_/) });
  await made.end();
  const other = await host.ensureSession({ name: 'demo', granters: ['second', 'owner'] });
  expect(other.id).not.toBe(made.id);
  expect(await other.caps()).toEqual([]);
});

test('sessions() returns the sessions themselves: what they hold, and how they end', async () => {
  const home = await testHost();
  onTestFinished(() => home.close());
  await home.host.offer('bell', { ring: async () => 'ding' });
  await E(home.granter).grant(home.session.id, 'bell', 'bell', {});
  await home.host.openSession({ name: 'other', parent: home.session.id });
  const [work, other, ...more] = await home.host.sessions();
  expect(more).toEqual([]);
  expect(work).toMatchObject({ id: home.session.id, name: 'work', secret: undefined });
  expect(other).toMatchObject({ name: 'other', parent: home.session.id });
  expect(await E(work?.cap<{ ring(): string }>('bell') as Promise<Far<{ ring(): string }>>).ring()).toBe('ding');
  await work?.end();
  await Promise.all([work?.ended, other?.ended, home.session.ended]);
  expect(await home.host.sessions()).toEqual([]);
});

test('the cap of a session has the type that its caller names, without a cast', async () => {
  const home = await testHost();
  onTestFinished(() => home.close());
  const { bootstrap } = await connect<SessionFace>(home.url, { secret: home.session.secret });
  const session = E(bootstrap);
  expectTypeOf(session.cap<FsCap>).returns.toEqualTypeOf<Promise<Far<FsCap>>>();
  expectTypeOf(session.resolve<FsCap>).returns.toEqualTypeOf<Promise<Far<FsCap>>>();
  expectTypeOf(session.request<FsCap>).returns.toEqualTypeOf<Promise<Far<FsCap>>>();
  expectTypeOf(session.caps).returns.toEqualTypeOf<Promise<readonly string[]>>();
  // Two messages, one round trip: the directory is not there, and the second breaks with the first.
  expect(await code(E(session.cap<FsCap>('workspace')).readText('notes.txt'))).toBe('no-such-object');
});
