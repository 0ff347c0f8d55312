/** Things that a session made through a cap that names them. The agent, other sessions and the server are the attackers. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type HttpCap, makeHttpCap } from '@hob/caps-net';
import { connect, E, type Far } from '@hob/vat';
import type { Effects } from '@hob/vat/forwarder';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { type Scene, scene } from '../../../test/asking.ts';
import { outcome } from '../../../test/outcome.ts';
import { code, held } from '../../../test/test-host.ts';
import type { GrantTerms, SessionFace } from '../../index.ts';

interface Tracker {
  open(title: string): Promise<unknown>;
  comment(issue: unknown, text?: string): Promise<string>;
  move(issue: unknown, to: unknown): Promise<string>;
  branch(name: string): Promise<string>;
}

const EFFECTS: Effects = {
  open: { class: 'C', makes: { issue: 'issue' } },
  comment: { class: 'C', names: { issue: 0 } },
  move: { class: 'C', names: { issue: 0, branch: 1 } },
  branch: { class: 'C', makes: { branch: '' } },
};
const TERMS: GrantTerms = { gated: ['comment', 'move'], own: true };

/** A tracker whose issues have numbers. Others made the first ten. */
function tracker(): Tracker {
  let last = 10;
  return {
    open: async () => {
      last += 1;
      return { issue: last };
    },
    comment: async (issue) => `comment on ${issue}`,
    move: async (issue, to) => `${issue} to ${to}`,
    branch: async (name) => name,
  };
}

async function granted(at: Scene, terms: GrantTerms = TERMS, offer: Tracker = tracker()): Promise<Far<Tracker>> {
  await at.host.offer('tracker', offer, { effects: EFFECTS });
  await E(at.owner).grant(at.session.id, 'tracker', 'tracker', terms);
  return held<Tracker>(at.agent, 'tracker');
}

test('what a session made it changes without a question; what others made asks, whatever the names look like', async () => {
  const at = await scene();
  const cap = await granted(at);
  const { issue } = (await E(cap).open('mine')) as { readonly issue: number };
  expect(await outcome(at, E(cap).comment(issue, 'more'))).toBe('ok');
  for (const other of [10, 12, String(issue), `${issue} `, [issue], { issue }, null, Number.NaN, '', 'x'.repeat(2_000)])
    expect([other, await outcome(at, E(cap).comment(other))]).toEqual([other, 'asked']);
  expect(await outcome(at, E(cap).comment(undefined))).toBe('asked');
  // A kind of thing has its own names, and a call that names two of them needs both.
  expect(await outcome(at, E(cap).move(issue, 'main'))).toBe('asked');
  expect(await outcome(at, E(cap).move(issue, issue))).toBe('asked');
  await E(cap).branch('fix');
  expect(await outcome(at, E(cap).move(issue, 'fix'))).toBe('ok');
  expect(await outcome(at, E(cap).move(10, 'fix'))).toBe('asked');
  expect(await outcome(at, E(cap).comment('fix'))).toBe('asked');
});

test('what a call that failed, or that names nothing, says is nobody’s own', async () => {
  const at = await scene();
  const results: unknown[] = [];
  const cap = await granted(at, TERMS, {
    ...tracker(),
    open: async () => {
      const result = results.shift();
      if (result instanceof Error) throw result;
      return result;
    },
  });
  for (const result of [
    undefined,
    'issue',
    { number: 3 },
    { issue: null },
    { issue: {} },
    { issue: '' },
    { issue: 0.5 },
  ])
    await E(cap).open(String(results.push(result)));
  results.push(Object.assign(new Error('no'), { issue: 3 }));
  expect(await code(E(cap).open('x'))).not.toBe('ok');
  for (const issue of [3, 0.5, '', null, 'issue', undefined])
    expect([issue, await outcome(at, E(cap).comment(issue))]).toEqual([issue, 'asked']);
});

test('own things are those of one grant: another session, a child and another grant of the same session ask', async () => {
  const at = await scene();
  const cap = await granted(at);
  const { issue } = (await E(cap).open('mine')) as { readonly issue: number };
  const other = await at.host.openSession({ name: 'other', granters: ['owner'] });
  await E(at.owner).grant(other.id, 'tracker', 'tracker', TERMS);
  const stranger = held<Tracker>(await at.enterAs<SessionFace>(other.secret), 'tracker');
  const { secret } = await at.child('low', { tracker: 'tracker' });
  const child = held<Tracker>(await at.enterAs<SessionFace>(secret), 'tracker');
  await E(at.owner).grant(at.session.id, 'again', 'tracker', TERMS);
  const again = held<Tracker>(at.agent, 'again');
  for (const one of [stranger, child, again]) expect(await outcome(at, E(one).comment(issue))).toBe('asked');
  // A child makes nothing its own, nor its parent's.
  const made = (await E(child).open('of the child')) as { readonly issue: number };
  for (const one of [child, cap]) expect(await outcome(at, E(one).comment(made.issue))).toBe('asked');
  expect(await outcome(at, E(cap).comment(issue))).toBe('ok');
});

test('each call that makes something can wait, too; without the word own, or on a cap that names nothing, all wait', async () => {
  const at = await scene();
  const cap = await granted(at, { gated: true, own: true });
  const opening = E(cap).open('mine') as Promise<{ readonly issue: number }>;
  const [asked] = await at.inbox();
  await at.answer(asked!, { grant: {} });
  expect(await outcome(at, E(cap).comment((await opening).issue))).toBe('ok');
  await E(at.owner).grant(at.session.id, 'plain', 'tracker', { gated: ['comment'] });
  const plain = held<Tracker>(at.agent, 'plain');
  const { issue } = (await E(plain).open('mine')) as { readonly issue: number };
  expect(await outcome(at, E(plain).comment(issue))).toBe('asked');
  await at.host.offer('silent', tracker());
  await E(at.owner).grant(at.session.id, 'silent', 'silent', TERMS);
  const silent = held<Tracker>(at.agent, 'silent');
  await E(silent).open('mine');
  expect(await outcome(at, E(silent).comment(11))).toBe('asked');
  for (const wrong of [{ makes: 'issue' }, { makes: { issue: 1 } }, { names: { issue: -1 } }, { names: { issue: 0.5 } }])
    expect(await code(at.host.offer('wrong', tracker(), { effects: { open: { class: 'C', ...wrong } as never } }))).toBe('invalid'); // biome-ignore format: one line
});

test('property: over all orders of calls, a call goes on without a question exactly if the session made all that it names', async () => {
  const at = await scene();
  let run = 0;
  const name = fc.integer({ min: 9, max: 14 });
  const act = fc.oneof(
    fc.record({ act: fc.constant('open' as const) }),
    fc.record({ act: fc.constant('comment' as const), name }),
    fc.record({ act: fc.constant('branch' as const), name }),
    fc.record({ act: fc.constant('move' as const), name, to: name }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 4, maxLength: 16 }), async (acts) => {
      run += 1;
      await at.host.offer(`tracker-${run}`, tracker(), { effects: EFFECTS });
      const session = await at.host.openSession({ name: `run-${run}`, granters: ['owner'] });
      await E(at.owner).grant(session.id, 'tracker', `tracker-${run}`, TERMS);
      const cap = (await session.cap<Tracker>('tracker')) as Far<Tracker>;
      const [issues, branches] = [new Set<number>(), new Set<string>()];
      for (const one of acts) {
        if (one.act === 'open') issues.add(((await E(cap).open('x')) as { readonly issue: number }).issue);
        else if (one.act === 'branch') branches.add(await E(cap).branch(`b${one.name}`));
        else {
          const isOwn = issues.has(one.name) && (one.act === 'comment' || branches.has(`b${one.to}`));
          const call = one.act === 'comment' ? E(cap).comment(one.name) : E(cap).move(one.name, `b${one.to}`);
          expect(await outcome(at, call)).toBe(isOwn ? 'ok' : 'asked');
        }
      }
      await session.end();
    }),
    { numRuns: 15 },
  );
}, 120_000);

/** A server of issues. What it answers to a POST of `/repo/issues` is chosen by the test. */
async function issues() {
  const seen: string[] = [];
  let answer: readonly [status: number, location: string | undefined] = [201, '/repo/issues/17'];
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      seen.push(`${request.method} ${request.url}`);
      const [status, location] =
        request.method === 'POST' || request.method === 'PUT' ? answer : ([200, undefined] as const);
      response.writeHead(status, location === undefined ? {} : { location }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close().closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return { origin: `http://127.0.0.1:${port}`, seen, answers: (...next: typeof answer) => void (answer = next) };
}

test('an issue that a POST of the session made it changes without a question: the server chose its name', async () => {
  const at = await scene();
  const web = await issues();
  const cap = makeHttpCap({ origin: web.origin, prefix: '/repo', addresses: ['127.0.0.1'], methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] }); // biome-ignore format: one line
  onTestFinished(() => cap[Symbol.asyncDispose]());
  await at.host.offer('api', cap);
  await E(at.owner).grant(at.session.id, 'api', 'api', { gated: ['fetch', 'fetchText'], own: true });
  const api = held<HttpCap>(at.agent, 'api');
  /** A POST, to which a person says yes. */
  const post = async (path: string, method = 'POST'): Promise<string | undefined> => {
    const sending = E(api).fetchText(path, { method, body: '{}' });
    const [asked] = await at.inbox();
    await at.answer(asked!, { grant: {} });
    return (await sending).made;
  };
  const changing = (path: string, method = 'PATCH') => outcome(at, E(api).fetchText(path, { method }));
  const made = await post('issues');
  expect(made).toBe('/repo/issues/17');
  expect(await changing('/repo/issues/17')).toBe('ok');
  expect(await changing('/repo/issues/17', 'DELETE')).toBe('ok');
  const others = [
    '/repo/issues/18',
    '/repo/issues',
    '/repo/issues/17/comments',
    '/repo/issues/17?x=1',
    '/repo/issues/1',
    '/repo/issues/170',
  ];
  for (const other of others) expect([other, await changing(other)]).toEqual([other, 'asked']);
  // The stream of an answer says it, too.
  web.answers(201, `${web.origin}/repo/issues/19`);
  const sending = E(api).fetch('issues', { method: 'POST' });
  await at.answer((await at.inbox())[0]!, { grant: {} });
  const { made: streamed, body } = await sending;
  await E(body as never as { return(): Promise<void> }).return();
  expect([streamed, await changing('/repo/issues/19')]).toEqual(['/repo/issues/19', 'ok']);
  // A hostile or careless server names what is no new thing of this cap.
  const named: readonly (readonly [number, string | undefined])[] = [
    [201, '/repo/issues'],
    [201, '/repo/issues/'],
    [201, '/repo'],
    [201, '/repo/'],
    [201, '/other/1'],
    [201, '/repo/../other/1'],
    [201, 'http://127.0.0.1:9/repo/issues/20'],
    [201, '//evil.example/repo/issues/20'],
    [201, 'http://user@127.0.0.1/repo/issues/20'],
    [201, '%'],
    [201, undefined],
    [200, '/repo/issues/20'],
    [202, '/repo/issues/20'],
  ];
  for (const [status, location] of named) {
    web.answers(status, location);
    expect([status, location, await post('issues')]).toEqual([status, location, undefined]);
  }
  // The one who puts something chooses its name, so it may be somebody else's later.
  for (const location of ['/repo/files/a', '/repo/files/b']) {
    web.answers(201, location);
    expect(await post('files/a', 'PUT')).toBe(undefined);
  }
  for (const path of ['/repo/issues', '/repo/issues/20', '/repo/files/a', '/repo/files/b'])
    expect(await changing(path)).toBe('asked');
  expect(web.seen.filter((line) => line.startsWith('PATCH'))).toEqual([
    'PATCH /repo/issues/17',
    'PATCH /repo/issues/19',
  ]);
});

test('kill -9: a thing stays the session’s own, and one that was made when the host died asks', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-own-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const [state, issuesFile] = [join(folder, 'state'), join(folder, 'issues')];
  writeFileSync(issuesFile, '');
  let secret = '';
  const during = async (act: (cap: Far<Tracker>) => Promise<unknown>): Promise<void> => {
    const file = new URL('../../../test/own-objects-child.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [file, state, issuesFile], { stdio: ['pipe', 'pipe', 'inherit'] });
    const gone = new Promise((resolve) => child.once('close', resolve));
    const line = await new Promise<string>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', resolve);
      void gone.then(() => reject(new Error('the host ended')));
    });
    const told = JSON.parse(line) as { readonly url: string; readonly secret?: string };
    secret = told.secret ?? secret;
    const agent = await connect<SessionFace>(told.url, { secret });
    await act(held<Tracker>(agent, 'tracker'));
    agent.close();
    await agent.closed;
    child.kill('SIGKILL');
    await gone;
  };
  await during((cap) => E(cap).open('first'));
  writeFileSync(`${issuesFile}.kill`, '');
  await during((cap) => code(E(cap).open('second')));
  rmSync(`${issuesFile}.kill`);
  await during(async (cap) => {
    expect(await E(cap).comment(1, 'more')).toBe('1: more');
    const how = await Promise.race([
      code(E(cap).comment(2)),
      E(cap)
        .open('third')
        .then(() => 'waits'),
    ]);
    expect(how).toBe('waits');
  });
});
