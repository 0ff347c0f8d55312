/** Caps of another host: two hosts in this process, a real wire between them. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { changingMethods, type FsCap, openFsCap, readingMethods } from '@hob/caps-fs';
import { type ByteSource, connect, driver, E, type Far } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import type { Connected } from '@hob/vat/wire';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { code, held, lines, scratch, type TestHost, testHost } from '../../test/test-host.ts';
import { type Host, type OtherHost, openHost, openOtherHost, type SessionFace } from '../index.ts';

interface Work {
  slow(): Promise<string>;
  bytes(): ByteSource;
  tell(to: Far<{ hear(text: string): void }>): Promise<string>;
  deaf(to?: object): Promise<void>;
}

let folder: string;
let alpha: Host;
let port: string;
let secret: string;
let other: OtherHost;
let beta: TestHost;
let agent: Connected<SessionFace>;
let aborted: (() => void) | undefined;
let directories: FsCap[];
let begun: PromiseWithResolvers<void>;
let deaf: PromiseWithResolvers<void>;

const work = driver<Work>({
  slow: (_args, { signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener('abort', () => {
        // It takes a while to stop.
        setTimeout(() => {
          aborted?.();
          reject(new Error('aborted'));
        }, 100);
      });
      begun.resolve();
    }),
  bytes: () => {
    let given = 0;
    return driver<ByteSource>({
      next: async () => ((given += 1) > 3 ? undefined : new Uint8Array([given])),
      return: async () => {},
    }) as never;
  },
  tell: async ([to]) => {
    await E(to as Far<{ hear(text: string): void }>).hear('from alpha');
    return 'told';
  },
  // Ignores its signal.
  deaf: () => {
    begun.resolve();
    return deaf.promise;
  },
});

/** The machine with the directory. */
async function openAlpha(at = '0'): Promise<Host> {
  const host = await openHost({ stateDir: join(folder, 'alpha') });
  const notes = await openFsCap(join(folder, 'notes'));
  directories.push(notes);
  await host.offer('notes', notes);
  await host.offer('work', work);
  const { url } = await host.serve({ port: Number(at) });
  port = new URL(url).port;
  return host;
}

beforeEach(async () => {
  folder = scratch();
  begun = Promise.withResolvers();
  deaf = Promise.withResolvers();
  aborted = undefined;
  directories = [];
  mkdirSync(join(folder, 'notes', 'sub'), { recursive: true });
  mkdirSync(join(folder, 'alpha'));
  writeFileSync(join(folder, 'notes', 'a.txt'), 'alpha\n');
  writeFileSync(join(folder, 'notes', 'sub', 'b.txt'), 'below\n');
  alpha = await openAlpha();
  const { granter } = await alpha.addGranter('ann');
  const session = await alpha.openSession({ name: 'beta', granters: ['ann'] });
  secret = session.secret;
  for (const name of ['notes', 'work']) await E(granter).grant(session.id, name, name, { scope: 'permanent' });
  other = await openOtherHost({ url: `ws://127.0.0.1:${port}`, secret });
  beta = await testHost();
  await beta.host.offer('notes', other.cap('notes', [...readingMethods, ...changingMethods]));
  await beta.host.offer('work', other.cap('work', ['slow', 'bytes', 'tell']));
  agent = await beta.enter(beta.session.secret);
});
afterEach(async () => {
  deaf.resolve();
  await beta.close();
  await other.close();
  await alpha.close();
  for (const directory of directories) await directory.close();
  rmSync(folder, { recursive: true, force: true });
});

const grant = (name: string, terms: object): Promise<{ readonly id: string }> =>
  E(beta.granter).grant(beta.session.id, name, name, terms as never) as never;

test('an agent uses a directory of another machine: files, subdirectories, streams and callbacks, and both ledgers have its calls', async () => {
  await grant('notes', { uses: 10 });
  await grant('work', { scope: 'session' });
  const notes = held<FsCap>(agent, 'notes');
  expect(await E(notes).readText('a.txt')).toBe('alpha\n');
  await E(notes).write('c.txt', 'from beta\n');
  expect(await E(E(notes).subdir('sub')).readText('b.txt')).toBe('below\n');
  expect(await code(E(notes).readText('../alpha/store.db'))).toBe('PATH_ESCAPES');
  const stream = (await E(held<Work>(agent, 'work')).bytes()) as unknown as Far<ByteSource>;
  expect([await E(stream).next(), await E(stream).next()]).toEqual([new Uint8Array([1]), new Uint8Array([2])]);
  const heard: string[] = [];
  const ear = driver<{ hear(text: string): void }>({ hear: async ([text]) => void heard.push(text as string) });
  expect(await E(held<Work>(agent, 'work')).tell(ear as never)).toBe('told');
  expect(heard).toEqual(['from alpha']);
  for (const host of [alpha, beta.host])
    expect((await lines(host, 'call')).map(({ method }) => method)).toEqual(expect.arrayContaining(['readText', 'write', 'subdir', 'bytes', 'tell'])); // biome-ignore format: one line
});

test('while the other machine is away its caps are unavailable and cost no use, and they work again when it is back', async () => {
  await grant('notes', { uses: 3 });
  const notes = held<FsCap>(agent, 'notes');
  expect(await E(notes).readText('a.txt')).toBe('alpha\n');
  await alpha.close();
  await expect.poll(() => other.connected).toBe(false);
  for (let n = 0; n < 5; n += 1) expect(await code(E(notes).readText('a.txt'))).toBe('unavailable');
  alpha = await openAlpha(port);
  await expect.poll(() => other.connected, { timeout: 20_000 }).toBe(true);
  expect(await E(notes).readText('a.txt')).toBe('alpha\n');
  expect(await E(notes).readText('a.txt')).toBe('alpha\n');
  expect(await code(E(notes).readText('a.txt'))).toBe('exhausted');
});

test('a call that is under way when the other machine is lost has an unknown outcome', async () => {
  await grant('work', { scope: 'session' });
  const slow = code(E(held<Work>(agent, 'work')).slow());
  await begun.promise;
  await alpha.close();
  expect(await slow).toBe('unknown-outcome');
  alpha = await openAlpha(port);
});

test('attack: a revocation here ends the call there, before the revoker is told, and nothing passes afterwards', async () => {
  const { id } = await grant('work', { scope: 'session' });
  let wasAborted = false;
  aborted = () => void (wasAborted = true);
  const work = held<Work>(agent, 'work');
  const slow = code(E(work).slow());
  await begun.promise;
  await E(beta.granter).revoke({ grant: id });
  expect(wasAborted).toBe(true);
  expect(await slow).toBe('revoked');
  expect(await code(E(work).slow())).toBe('revoked');
});

test('attack: a call at another machine that ignores its cancellation, or cannot be cancelled, keeps no revoker here waiting', async () => {
  await other.close();
  const clock = testClock();
  other = await openOtherHost({ url: `ws://127.0.0.1:${port}`, secret, clock });
  await beta.host.offer('deaf', other.cap('work', ['deaf']));
  const { id } = await grant('deaf', { scope: 'session' });
  const first = code(E(held<Work>(agent, 'deaf')).deaf());
  await begun.promise;
  const revoked = E(beta.granter).revoke({ grant: id });
  expect(await first).toBe('revoked');
  // The test does not see when the call is cancelled. So it moves the clock until the revoker is done.
  const isOver = revoked.then(() => true);
  while (!(await Promise.race([isOver, wait(10, false)]))) clock.advance(1000);
  begun = Promise.withResolvers();
  const again = await E(beta.granter).grant(beta.session.id, 'with-object', 'deaf', { scope: 'session' } as never);
  const second = code(E(held<Work>(agent, 'with-object')).deaf(driver<{ hear(): void }>({ hear: () => {} })));
  await begun.promise;
  await E(beta.granter).revoke({ grant: (again as { readonly id: string }).id });
  expect(await second).toBe('revoked');
});

test('a revocation at the other machine ends the cap here, with its code', async () => {
  await grant('notes', { scope: 'session' });
  const notes = held<FsCap>(agent, 'notes');
  expect(await E(notes).readText('a.txt')).toBe('alpha\n');
  const ann = await alpha.granter('ann');
  for (const { id } of await E(ann).list()) await E(ann).revoke({ grant: id });
  expect(await code(E(notes).readText('a.txt'))).toBe('revoked');
});

test('a person sees the diff of a file of another machine before a gated call, and a file that changes meanwhile is not overwritten', async () => {
  await grant('notes', { gated: true });
  const notes = held<FsCap>(agent, 'notes');
  const write = code(E(notes).write('a.txt', 'beta\n'));
  await expect.poll(async () => (await E(beta.granter).inbox()).length).toBe(1);
  const [request] = await E(beta.granter).inbox();
  expect(request?.diff).toMatch(/-alpha\n\+beta/);
  writeFileSync(join(folder, 'notes', 'a.txt'), 'of somebody else\n');
  const { id, digest } = request as { readonly id: string; readonly digest: string };
  expect(await code(E(beta.granter).answer(id, { grant: {}, digest }))).toBe('STALE');
  await expect.poll(async () => (await E(beta.granter).inbox())[0]?.diff).toMatch(/-of somebody else/);
  const [again] = await E(beta.granter).inbox();
  await E(beta.granter).answer(String(again?.id), { grant: {}, digest: String(again?.digest) });
  expect(await write).toBe('ok');
  expect(readFileSync(join(folder, 'notes', 'a.txt'), 'utf8')).toBe('beta\n');
});

test('a method that was not named, and a cap that the session does not hold, are refused', async () => {
  await beta.host.offer('less', other.cap('notes', ['readText']));
  await beta.host.offer('none', other.cap('secrets', ['readText']));
  await grant('less', {});
  await grant('none', {});
  expect(await code(E(held<FsCap>(agent, 'less')).write('a.txt', 'x'))).toBe('no-such-method');
  expect(await E(held<FsCap>(agent, 'less')).readText('a.txt')).toBe('alpha\n');
  expect(await code(E(held<FsCap>(agent, 'none')).readText('a.txt'))).toBe('no-such-object');
  for (const wrong of [() => other.cap(7 as never, ['x']), () => other.cap('x', [])])
    expect(wrong).toThrow(/cap takes/);
  await expect(openOtherHost({ url: 'ws://127.0.0.1:1' } as never)).rejects.toMatchObject({ code: 'invalid' });
});

test('a wrong secret, and an address where nobody is, are told, and closing does not wait for them', async () => {
  const wrong = await openOtherHost({ url: `ws://127.0.0.1:${port}`, secret: 'hob1_wrong' });
  expect([wrong.connected, wrong.failure]).toEqual([false, 'denied']);
  const nobody = await openOtherHost({ url: 'ws://127.0.0.1:1', secret });
  expect([nobody.connected, nobody.failure]).toEqual([false, 'disconnected']);
  await Promise.all([wrong.close(), nobody.close()]);
  // The session is entered anew when another program has taken its place for a while.
  const displacing = await connect<SessionFace>(`ws://127.0.0.1:${port}`, { secret });
  onTestFinished(() => displacing.close());
  await expect.poll(() => other.connected, { timeout: 20_000 }).toBe(true);
});
