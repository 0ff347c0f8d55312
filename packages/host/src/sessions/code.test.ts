/** A program runs over what its session holds, by that session's grants, and over nothing else. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { openGuests } from '@hob/guest';
import { E, type Far } from '@hob/vat';
import { type TestClock, testClock } from '@hob/vat/testing';
import type { Connected } from '@hob/vat/wire';
import { expect, onTestFinished, test } from 'vitest';
import { code, held, lines, type TestHost, testHost } from '../../test/test-host.ts';
import type { Code, CodeRun, Printed, Request, SessionFace } from '../index.ts';

interface Shop extends TestHost {
  readonly files: string;
  readonly clock: TestClock;
}
/**
 * A directory and `code` are offered; nothing is granted. Without a sandbox, which `packages/guest` tests,
 * these are as they are with one.
 */
async function shop(): Promise<Shop> {
  const clock = testClock();
  const home = await testHost({ clock });
  const files = join(home.folder, 'files');
  mkdirSync(files);
  writeFileSync(join(files, 'a'), 'one\n');
  const dir = await openFsCap(files);
  onTestFinished(async () => {
    await home.close();
    await dir.close();
  });
  await home.host.offer('files', dir);
  await home.host.offerCode(() => openGuests({ isolation: 'ses-only', pool: 1 }));
  return { ...home, files, clock };
}
const grant = (
  home: TestHost,
  offer: string,
  terms: object = {},
  session = home.session.id,
  as = offer,
): Promise<{ id: string }> => E(home.granter).grant(session, as, offer, terms) as unknown as Promise<{ id: string }>;

type Agent = Connected<SessionFace>;
const start = (agent: Agent, source: string, options?: object): Promise<Far<CodeRun>> =>
  E(held<Code>(agent, 'code')).run(source, options) as unknown as Promise<Far<CodeRun>>;
const run = async (agent: Agent, source: string): Promise<unknown> =>
  ((await E(await start(agent, source)).result()) as { readonly value: unknown }).value;
/** Parts of what it prints, until one has the text. */
async function printed(job: Far<CodeRun>, text: string): Promise<string> {
  const out = (await E(job).console()) as unknown as Far<Printed>;
  let all = '';
  while (!all.includes(text)) {
    const part = (await E(out).next()) as string | undefined;
    if (part === undefined) throw new Error(`it ended, and had printed ${all}`);
    all += part;
  }
  return all;
}
/** The request that the granter gets, once a program asks. Fails if the program ends without asking. */
async function askedBy(home: TestHost, job: Far<CodeRun>): Promise<Request> {
  let ended = false;
  E(job)
    .result()
    .then(
      () => (ended = true),
      () => (ended = true),
    );
  while (!ended) {
    const [request] = await E(home.granter).inbox();
    if (request !== undefined) return request as Request;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('it ended, and asked nothing');
}
/** Goes on reading until it is refused, and says how. */
const READS = `
  console.log('begins');
  for (let n = 0; ; n += 1)
    try { await E(files).readText('a') } catch ({ code, message }) { return { n, code, message } }`;

test('a program has the session’s caps by petname, prints while it runs, and its result is the value that it returns', async () => {
  const home = await shop();
  await grant(home, 'code');
  await grant(home, 'files');
  await grant(home, 'files', {}, home.session.id, 'more-files');
  const agent = await home.enter(home.session.secret);
  const job = await start(
    agent,
    `const names: string[] = Object.keys(caps).sort();
     console.log('begins');
     await E(files).write('b', '<!-- import("x") -->');
     return { names, text: await E(E(caps['more-files']).subdir('.')).readText('b'), code: typeof code };`,
  );
  expect(await printed(job, 'begins')).toBe('begins\n');
  expect(await E(job).result()).toMatchObject({
    value: { names: ['files', 'more-files'], text: '<!-- import("x") -->', code: 'undefined' },
    console: 'begins\n',
  });
  const calls = (await lines(home.host, 'call')).map(({ method }) => method);
  expect(calls).toEqual(expect.arrayContaining(['run', 'write', 'subdir', 'readText']));
  expect((await lines(home.host, 'result')).filter(({ method }) => method === 'run')).toMatchObject([{ code: 'ok' }]);
  const types = await E(held<Code>(agent, 'code')).types();
  expect(types).toContain('declare const files: Directory;');
  expect(types).not.toContain('"code"');
  expect(types).not.toContain('const code:');
});

test('the error of a failed program names its line and the remedy, and nothing of the host', async () => {
  const home = await shop();
  await grant(home, 'code');
  const agent = await home.enter(home.session.secret);
  const said = async (source: string): Promise<string> =>
    await E(await start(agent, source))
      .result()
      .then(
        () => 'it did not fail',
        ({ message }: Error) => message,
      );
  expect(await said('const a = 1;\n  null.x;')).toMatch(/line 2, column \d+.*null/);
  expect(await said('import fs from "fs"')).toMatch(/^line 1, column 1: an import.*Use what you hold/);
  expect(await code(E(held<Code>(agent, 'code')).run(5 as never))).toBe('invalid');
  expect(await code(start(agent, '1', { limit: {} }))).toBe('invalid');
  expect(await code(start(agent, '1', { limits: { cpuMs: 1e9 } }))).toBe('invalid');
});

test('only a session with its own `code` runs programs: not its neighbour, not its child, not the bearer of a sturdyref', async () => {
  const home = await shop();
  await grant(home, 'code');
  await grant(home, 'files');
  const agent = await home.enter(home.session.secret);
  const other = await home.enter((await home.host.openSession({ name: 'other', granters: ['owner'] })).secret);
  const { secret } = await E(agent.bootstrap).spawnChild({ name: 'child', caps: { files: 'files' } });
  const child = await home.enter(secret);
  for (const without of [other, child]) expect(await code(start(without, 'return 1'))).toBe('no-such-object');
  // The bearer of a sturdyref holds nothing in this session. Else it would have all that the session holds.
  const { sturdyref } = await E(home.granter).mint(home.session.id, 'code', {});
  const bearer = (await home.enter(sturdyref)) as unknown as Connected<Code>;
  expect(await code(E(bearer.bootstrap).run('return Object.keys(caps)'))).toBe('denied');
  expect(await code(E(bearer.bootstrap).types())).toBe('denied');
});

test('a child session with `code` runs programs with its own caps and not with its parent’s', async () => {
  const home = await shop();
  await grant(home, 'code');
  await grant(home, 'files');
  await grant(home, 'files', { uses: 5 }, home.session.id, 'few');
  const agent = await home.enter(home.session.secret);
  const { secret } = await E(agent.bootstrap).spawnChild({ name: 'child', caps: { code: 'code', mine: 'few' } });
  const child = await home.enter(secret);
  expect(await run(child, 'return [Object.keys(caps), typeof files, await E(mine).readText("a")]')).toEqual([
    ['mine'],
    'undefined',
    'one\n',
  ]);
  expect(await run(agent, 'return Object.keys(caps).sort()')).toEqual(['few', 'files']);
});

test('of two sessions’ programs that run at once, neither sees the other’s caps or globals', async () => {
  const home = await shop();
  const other = await home.host.openSession({ name: 'other', granters: ['owner'] });
  await grant(home, 'code');
  await grant(home, 'files');
  await grant(home, 'code', {}, other.id);
  const [mine, theirs] = await Promise.all([home.enter(home.session.secret), home.enter(other.secret)]);
  const look = 'try { globalThis.mark = 1 } catch {} return [Object.keys(caps), typeof files, typeof mark]';
  const [here, there] = await Promise.all([run(mine, look), run(theirs, look)]);
  expect(here).toMatchObject([['files'], 'object', expect.any(String)]);
  expect(there).toMatchObject([[], 'undefined', expect.any(String)]);
  // The next program of a session does not find what the one before set either.
  expect(await run(theirs, 'return typeof mark')).toBe('undefined');
});

test('a cap that a program stored stops working when its grant is revoked, used up or expires', async () => {
  const home = await shop();
  await grant(home, 'code', { for: 3_600_000 });
  const { id } = await grant(home, 'files', { for: 3_600_000 });
  const agent = await home.enter(home.session.secret);
  const job = await start(agent, READS);
  await printed(job, 'begins');
  await E(home.granter).revoke({ grant: id });
  expect(await E(job).result()).toMatchObject({ value: { code: 'revoked' } });

  await grant(home, 'files', { uses: 3, for: 3_600_000 }, home.session.id, 'three');
  expect(await run(agent, READS.replaceAll('files', 'three'))).toMatchObject({ n: 3, code: 'exhausted' });

  await grant(home, 'files', { for: 60_000 }, home.session.id, 'minute');
  const late = await start(agent, READS.replaceAll('files', 'minute'));
  await printed(late, 'begins');
  await home.clock.advance(61_000);
  expect(await E(late).result()).toMatchObject({ value: { code: 'expired' } });
});

test('running programs end with the grant of `code` and with the session', async () => {
  const home = await shop();
  const { id } = await grant(home, 'code');
  await grant(home, 'files');
  const agent = await home.enter(home.session.secret);
  const job = await start(agent, "console.log('begins'); for (;;);");
  await printed(job, 'begins');
  const result = code(E(job).result());
  await E(home.granter).revoke({ grant: id });
  expect(await result).toBe('revoked');
  expect(await code(start(agent, 'return 1'))).toBe('revoked');

  await grant(home, 'code', {}, home.session.id, 'again');
  const other = (await E(held<Code>(agent, 'again')).run(
    "console.log('begins'); await new Promise(() => {})",
  )) as unknown as Far<CodeRun>;
  await printed(other, 'begins');
  const ended = code(E(other).result());
  await home.session.end();
  expect(await ended).not.toBe('ok');
  // It was told when its process was gone: a line for each.
  expect((await lines(home.host, 'result')).filter(({ method }) => method === 'run')).toMatchObject([
    { code: 'revoked' },
    { code: 'revoked' },
  ]);
});

test('a gated call of a program waits for a person, and costs the program no processor time', async () => {
  const home = await shop();
  await grant(home, 'code');
  await grant(home, 'files', { gated: ['write'] });
  const agent = await home.enter(home.session.secret);
  const job = await start(
    agent,
    "console.log('asks'); await E(files).write('a', 'two'); return await E(files).readText('a')",
    { limits: { cpuMs: 5000 } },
  );
  await printed(job, 'asks');
  const asked = await askedBy(home, job);
  expect(asked).toMatchObject({ effect: expect.stringContaining('replaces the file'), waiting: true });
  await E(home.granter).answer(asked.id, { grant: {}, digest: asked.digest } as never);
  expect(await E(job).result()).toMatchObject({ value: 'two' });

  const refused = await start(agent, "return await E(files).write('a', 'three').catch(({ code }) => code)");
  const { id, digest } = await askedBy(home, refused);
  await E(home.granter).answer(id, { refuse: 'not now', digest } as never);
  expect(await E(refused).result()).toMatchObject({ value: 'denied' });
  expect(await E(await home.session.cap<FsCap>('files')).readText('a')).toBe('two');
});

test('one use is one program', async () => {
  const home = await shop();
  await grant(home, 'code', { uses: 2 });
  const agent = await home.enter(home.session.secret);
  const evaluate = (source: string): Promise<unknown> => E(held<Code>(agent, 'code')).evaluate(source);
  expect(await evaluate('return 6 * 7')).toMatchObject({ value: 42, console: '' });
  const codes = await Promise.all([code(evaluate('return 1')), code(evaluate('return 1'))]);
  expect(codes.sort()).toEqual(['exhausted', 'ok']);
});

test('the number of programs at once is limited, and an aborted one does not count', async () => {
  const home = await shop();
  await grant(home, 'code');
  const agent = await home.enter(home.session.secret);
  const jobs = await Promise.all(Array.from({ length: 8 }, () => start(agent, 'await new Promise(() => {})')));
  expect(await code(start(agent, 'return 1'))).toBe('limit');
  await E(jobs[0] as Far<CodeRun>).abort();
  expect(await code(E(jobs[0] as Far<CodeRun>).result())).toBe('revoked');
  expect(await run(agent, 'return 1')).toBe(1);
  await Promise.all(jobs.map((job) => E(job).abort()));
});
