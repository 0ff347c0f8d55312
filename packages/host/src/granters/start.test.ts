/**
 * A start of the daemon on a state that an earlier start has used: nothing that has ended comes back by
 * itself.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, E, type Far } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { deep } from '../../../../test/depth.ts';
import { requires } from '../../../../test/needs.ts';
import { Program, type Ready, readiness } from '../../../../test/processes.ts';
import { facts, goldenState } from '../../test/golden.ts';
import { code, scratch } from '../../test/test-host.ts';
import { type Grant, type Granter, type Host, openHost, type SessionFace, type Started } from '../index.ts';

interface Directory {
  list(): Promise<unknown>;
}

let folder: string;
let programs: Program[];
beforeEach(() => {
  folder = scratch();
  programs = [];
  mkdirSync(join(folder, 'root'));
  writeFileSync(join(folder, 'root', 'notes.txt'), 'for the agent\n');
});
afterEach(async () => {
  for (const program of programs) program.kill('SIGKILL');
  await Promise.all(programs.map((program) => program.ended));
  rmSync(folder, { recursive: true, force: true });
});

const at = (...names: string[]): string => join(folder, ...names);

interface Running extends Ready {
  readonly program: Program;
  readonly granterFace: Far<Granter>;
  /** The output of the start. */
  text(): string;
}

/** A real start; `known` has the secrets of an earlier one. */
async function start(args: readonly string[] = [], known?: Ready, root = at('root')): Promise<Running> {
  const program = new Program('workspace', [
    '--root',
    root,
    '--state',
    at('state'),
    '--sentinel',
    at('sentinel'),
    ...args,
  ]);
  programs.push(program);
  const ready = await readiness(program, known);
  const granter = await connect<Granter>(ready.url, { secret: ready.granter.secret });
  onTestFinished(async () => {
    granter.close();
    await granter.closed;
  });
  return { ...ready, program, granterFace: granter.bootstrap, text: () => program.lines.join('\n') };
}

async function killed({ program }: Running): Promise<void> {
  program.kill('SIGKILL');
  await program.ended;
}

/** A call through a cap of the session: `ok`, or the code of the refusal. */
async function call({ url, session }: Ready, petname: string): Promise<string> {
  const agent = await connect<SessionFace>(url, { secret: session.secret });
  try {
    return await code(E(E(agent.bootstrap).cap(petname) as Promise<Directory>).list());
  } finally {
    agent.close();
    await agent.closed;
  }
}

async function grantOf({ granterFace, session }: Running, petname: string): Promise<Grant> {
  const grants = (await E(granterFace).list({ session: session.id })) as readonly Grant[];
  return grants.find((grant) => grant.petname === petname) as Grant;
}

async function ledger({ granterFace }: Running, kind: string): Promise<readonly Record<string, unknown>[]> {
  const lines = (await E(await E(granterFace).ledger()).lines()) as readonly string[];
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>).filter(({ k }) => k === kind);
}

test('a revoked grant stays revoked after a kill and a start, and the start says so and names --new-session', async () => {
  const first = await start();
  await E(first.granterFace).revoke({ grant: (await grantOf(first, 'workspace')).id }, 'enough');
  await killed(first);
  const second = await start([], first);
  expect(second.session).toEqual(first.session);
  expect(await call(second, 'workspace')).toBe('revoked');
  expect(await call(second, 'once')).toBe('ok');
  expect(second.text()).toMatch(/"workspace" {2}revoked/);
  expect(second.text()).toMatch(/--new-session/);
  expect(await ledger(second, 'grant')).toHaveLength(2);
});

test('an exhausted grant stays exhausted after a start, and so does one with the scope “once”', async () => {
  const first = await start(['--uses', '2']);
  for (const petname of ['workspace', 'workspace', 'once']) expect(await call(first, petname)).toBe('ok');
  await killed(first);
  const second = await start(['--uses', '2'], first);
  expect(second.session).toEqual(first.session);
  expect([await call(second, 'workspace'), await call(second, 'once')]).toEqual(['exhausted', 'exhausted']);
  expect(second.text()).toMatch(/"once" {2}used up/);
  await killed(second);
  // Other uses are no other grant, and are refused.
  const refused = new Program('workspace', [
    '--root',
    at('root'),
    '--state',
    at('state'),
    '--sentinel',
    at('sentinel'),
    '--uses',
    '50',
  ]);
  programs.push(refused);
  expect(await refused.ended).toBe(1);
  const third = await start([], first);
  expect(await call(third, 'workspace')).toBe('exhausted');
  expect(await ledger(third, 'grant')).toHaveLength(2);
});

test('a session that its granter ended is not opened again: the start says so, serves its granter, and grants nothing', async () => {
  const first = await start();
  await E(first.granterFace).end(first.session.id, 'enough');
  await killed(first);
  const second = await start([], first);
  expect(second.text()).toMatch(/^Hob serves no session/m);
  expect(second.text()).toMatch(/has ended.*\n.*--new-session/);
  expect(second.text()).not.toMatch(/hob1_/);
  expect(second.session).toMatchObject({ id: first.session.id, ended: true });
  expect(await code(connect(second.url, { secret: first.session.secret }))).toBe('denied');
  expect(await E(second.granterFace).sessions()).toEqual([]);
  expect(await ledger(second, 'grant')).toHaveLength(2);
});

test('after hob stop a start restores no grant', async () => {
  const first = await start();
  const stop = new Program('hob', ['stop', '--state', at('state')]);
  programs.push(stop);
  expect(await stop.ended).toBe(0);
  await first.program.ended;
  const second = await start([], first);
  expect([await call(second, 'workspace'), await call(second, 'once')]).toEqual(['revoked', 'revoked']);
});

requires(
  'linux',
  'cc',
  'userns',
)('a start does not grant “code” again either', async () => {
  const first = await start(['--code']);
  await E(first.granterFace).revoke({ grant: (await grantOf(first, 'code')).id });
  await killed(first);
  const second = await start(['--code'], first);
  expect((await grantOf(second, 'code')).state).toBe('revoked');
  expect(await ledger(second, 'grant')).toHaveLength(3);
});

test('--fresh ends the earlier session and opens another one with all its grants, with a line that says a person did it', async () => {
  const first = await start();
  await E(first.granterFace).revoke('all', 'enough');
  await killed(first);
  const second = await start(['--fresh'], first);
  expect(second.session.id).not.toBe(first.session.id);
  expect(second.session.secret).not.toBe(first.session.secret);
  expect([await call(second, 'workspace'), await call(second, 'once')]).toEqual(['ok', 'ok']);
  expect(await code(connect(second.url, { secret: first.session.secret }))).toBe('denied');
  const fresh = (await ledger(second, 'session')).filter(({ what }) => what === 'fresh');
  expect(fresh).toMatchObject([{ session: second.session.id, before: first.session.id, by: 'hob start --fresh', surface: 'process' }]); // biome-ignore format: one line
  await killed(second);
  // It counts for that start only.
  const third = await start([], second);
  expect(third.session.id).toBe(second.session.id);
  expect((await ledger(third, 'session')).filter(({ what }) => what === 'fresh')).toHaveLength(1);
});

test('another directory gets another session, once: a return to the first directory, also by a link, restores no grant', async () => {
  const first = await start();
  await E(first.granterFace).revoke('all');
  await killed(first);
  symlinkSync(at('root'), at('link'));
  const linked = await start([], first, at('link'));
  expect(linked.session.id).toBe(first.session.id);
  expect(await call(linked, 'workspace')).toBe('revoked');
  await killed(linked);
  mkdirSync(at('other'));
  const other = await start([], first, at('other'));
  expect(other.session.id).not.toBe(first.session.id);
  expect(await call(other, 'workspace')).toBe('ok');
  await killed(other);
  const back = await start([], first);
  expect(back.text()).toMatch(/^Hob serves no session/m);
  expect(await code(connect(back.url, { secret: first.session.secret }))).toBe('denied');
  await killed(back);
  const again = await start([], other, at('other'));
  expect(again.session.id).toBe(other.session.id);
  expect(await ledger(again, 'grant')).toHaveLength(4);
});

/** A start in this process, with a clock of its own. */
async function begin(clock = testClock(), fresh = false): Promise<{ host: Host; started: Started }> {
  const host = await openHost({ stateDir: at('state'), clock, graceMs: 60_000 });
  onTestFinished(() => host.close());
  await host.granter('owner').catch(() => host.addGranter('owner'));
  await host.offer('bell', { ring: async () => 'ding' });
  const grants = [{ petname: 'bell', offered: 'bell', terms: { uses: 5, for: 3_600_000 } }];
  return { host, started: await host.startSession({ name: 'workspace', granter: 'owner', purpose: 'ringing', grants, fresh }) }; // biome-ignore format: one line
}

test('an expired grant stays expired; a session that ended after its grace time is not opened again', async () => {
  const clock = testClock();
  const first = await begin(clock);
  if (first.started.how !== 'opened') throw new Error('it is the first');
  const { session } = first.started;
  clock.advance(2 * 3_600_000);
  await first.host.close();
  const second = await begin(clock);
  expect(second.started).toMatchObject({ how: 'again', session: { id: session.id }, grants: [{ petname: 'bell', state: 'expired' }] }); // biome-ignore format: one line
  const { url } = await second.host.serve();
  const agent = await connect<SessionFace>(url, { secret: session.secret });
  agent.close();
  await agent.closed;
  while (second.host.connections().length > 0) await new Promise((resolve) => setImmediate(resolve));
  clock.advance(120_000);
  if (second.started.how === 'again') await second.started.session.ended;
  expect(await second.host.sessions()).toEqual([]);
  await second.host.close();
  const third = await begin(clock);
  expect(third.started).toEqual({ how: 'ended', id: session.id });
  expect(await third.host.sessions()).toEqual([]);
  await third.host.close();
  const fourth = await begin(clock, true);
  expect(fourth.started).toMatchObject({ how: 'opened', grants: [{ petname: 'bell', state: 'live', usesLeft: 5 }] });
});

test('a state from before starts were recorded counts as granted: its session continues, and any other purpose needs a person', async () => {
  goldenState(at('state'));
  const host = await openHost({ stateDir: at('state') });
  onTestFinished(() => host.close());
  await host.offer('bell', { ring: async () => 'ding' });
  await host.offer('other', { ring: async () => 'dong' });
  const before = (await host.sessions()).map(({ id }) => id);
  const start = (purpose: string, offered = purpose, fresh = false): Promise<Started> =>
    host.startSession({
      name: 'workspace',
      granter: 'owner',
      purpose,
      grants: [{ petname: 'p', offered, terms: {} }],
      fresh,
    });
  expect(await start('other')).toEqual({ how: 'ended', id: undefined });
  expect(await start('ringing', 'bell')).toMatchObject({ how: 'again', session: { id: facts.ids.work } });
  expect((await host.sessions()).map(({ id }) => id)).toEqual(before);
  expect(await start('ringing', 'bell', true)).toMatchObject({ how: 'opened' });
  expect((await host.sessions()).map(({ id }) => id)).not.toContain(facts.ids.work);
});

interface Said {
  readonly how: string;
  readonly calls: number;
  readonly session: string;
}

/** Opens the workspace in a process that is killed at that step; undefined where it was. */
async function opening(when: string, step: number, ...more: readonly string[]): Promise<Said | undefined> {
  const file = join(import.meta.dirname, '../../test/start-child.ts');
  const child = spawn(process.execPath, [file, at('state'), at('root'), when, String(step), ...more], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let text = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  await new Promise((resolve) => child.once('close', resolve));
  return text === '' ? undefined : (JSON.parse(text) as Said);
}

async function inState<T>(act: (host: Host, granter: Far<Granter>) => Promise<T>): Promise<T> {
  const host = await openHost({ stateDir: at('state') });
  try {
    return await act(host, await host.granter('owner'));
  } finally {
    await host.close();
  }
}

/** The sessions with their grants, and how many grants and fresh starts the ledger knows. */
const found = (): Promise<{ sessions: string[]; grants: string[]; granted: number; fresh: number }> =>
  inState(async (host, granter) => {
    const lines: Record<string, unknown>[] = [];
    for await (const line of host.ledger()) lines.push(JSON.parse(line));
    expect(await host.verify()).toMatchObject({ ok: true });
    const grants = (await E(granter).list()) as readonly Grant[];
    return {
      sessions: (await host.sessions()).map(({ id }) => id),
      grants: grants
        .map(({ session, petname, state, usesLeft }) => `${session} ${petname} ${state} ${usesLeft}`)
        .sort(),
      granted: lines.filter(({ k }) => k === 'grant').length,
      fresh: lines.filter(({ k, what }) => k === 'session' && what === 'fresh').length,
    };
  });

const allOf = (session: string): string[] => [
  `${session} code live undefined`,
  `${session} once live 1`,
  `${session} workspace live 5`,
];

test('kill -9 at each step of a first start: the next one finds all of the session or none of it, and grants once', async () => {
  const whole = (await opening('never', 0)) as Said;
  expect(whole.how).toBe('opened');
  expect(whole.calls).toBeGreaterThanOrEqual(4);
  // Only the last call writes more than one thing: that one is cut in its middle, too.
  const cuts = Array.from({ length: whole.calls }, (_, n) => ['after', n + 1] as const);
  const all = [...cuts, ['during', whole.calls] as const];
  for (const [when, step] of deep ? all : all.slice(-3)) {
    rmSync(at('state'), { recursive: true });
    expect(await opening(when, step)).toBeUndefined();
    const { session } = (await opening('never', 0)) as Said;
    expect(await found(), `${when} ${step}`).toEqual({
      sessions: [session],
      grants: allOf(session),
      granted: 3,
      fresh: 0,
    });
  }
});

test('kill -9 at each step of a later start brings nothing back; of a fresh one, the old session stays or the new one is whole', async () => {
  let session = ((await opening('never', 0)) as Said).session;
  await inState((_host, granter) => E(granter).revoke('all') as unknown as Promise<void>);
  const before = await found();
  const { calls } = (await opening('never', 0)) as Said;
  for (const when of ['during', 'after']) expect(await opening(when, calls)).toBeUndefined();
  expect(await found()).toEqual(before);
  let opened = 0;
  for (const when of ['during', 'after'])
    for (let step = calls - 1; step <= calls; step += 1) {
      expect(await opening(when, step, '--fresh')).toBeUndefined();
      const now = await found();
      const same = now.sessions[0] === session;
      if (!same) opened += 1;
      session = now.sessions[0] as string;
      expect(now, `${when} ${step}`).toEqual({
        sessions: [session],
        grants: opened === 0 ? before.grants : allOf(session),
        granted: 3 + 3 * opened,
        fresh: opened,
      });
    }
  expect(opened).toBeGreaterThan(0);
});
