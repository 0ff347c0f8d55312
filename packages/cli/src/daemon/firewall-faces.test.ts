/**
 * The same effect by each face is assessed each time: the line of the call has the assessment, or the call did not
 * happen. The agent is the attacker, and tries each way to its cap.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { makeFirewall } from '@hob/firewall';
import { openGuests } from '@hob/guest';
import { type Host, openHost, type SessionFace } from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { BRIDGE, setUpPython } from '../../../../test/python.ts';
import { callOverHttp } from '../../test/mcp-client.ts';
import { scheduledHome } from '../../test/scheduled.ts';
import { mcpFace } from './mcp-face.ts';

/** How a face makes a call of the cap `work`. It resolves with the error of the call, as text, or with ''. */
type Caller = (method: string, args: readonly unknown[]) => Promise<string>;

const said = (promise: Promise<unknown>): Promise<string> => promise.then(() => '', (error) => String(error.code ?? error)); // biome-ignore format: one line

const send = (cap: unknown, method: string, args: readonly unknown[]): Promise<unknown> =>
  (E(cap as never) as unknown as Record<string, (...all: readonly unknown[]) => Promise<unknown>>)[method]!(...args);

async function world() {
  const folder = mkdtempSync(join(tmpdir(), 'hob-faces-'));
  const root = join(folder, 'root');
  mkdirSync(root);
  const host = await openHost({ stateDir: join(folder, 'state'), firewall: makeFirewall({ mode: 'enforce' }) });
  const directory = await openFsCap(root);
  onTestFinished(async () => {
    await host.close();
    await directory.close();
    rmSync(folder, { recursive: true });
  });
  await host.offer('notes', directory);
  const { granter } = await host.addGranter('alice');
  const session = await host.openSession({ name: 'work', granters: ['alice'] });
  await E(granter).grant(session.id, 'work', 'notes', { for: 600_000 });
  const { url } = await host.serve({}, { '/mcp': mcpFace() });
  return { host, root, granter, session, url };
}

type World = Awaited<ReturnType<typeof world>>;

const inProgram = async ({ session }: World): Promise<Caller> => {
  const cap = await session.cap<FsCap>('work');
  return (method, args) => said(send(cap, method, args));
};

async function entered(url: string, secret: string): Promise<Far<SessionFace>> {
  const connection = await connect<SessionFace>(`${url}/beside`, { secret });
  onTestFinished(async () => {
    connection.close();
    await connection.closed;
  });
  return connection.bootstrap;
}

const overCapTP = async ({ url, session }: World): Promise<Caller> => {
  const cap = E(await entered(url, session.secret)).cap<FsCap>('work');
  return (method, args) => said(send(cap, method, args));
};

const byNumber = async ({ url, session }: World): Promise<Caller> => {
  const face = await entered(url, session.secret);
  let n = 0;
  return (method, args) => said(E(face).call({ call: `the-call-with-number-${n++}`, cap: 'work', method, args }) as Promise<unknown>); // biome-ignore format: one line
};

const byChild = async ({ url, session }: World): Promise<Caller> => {
  const face = await entered(url, session.secret);
  const { secret } = (await E(face).spawnChild({ name: 'helper', caps: { work: 'work' } })) as { readonly secret: string }; // biome-ignore format: one line
  const cap = E(await entered(url, secret)).cap<FsCap>('work');
  return (method, args) => said(send(cap, method, args));
};

const byObjectUrl = async ({ url, session }: World): Promise<Caller> => {
  const path = await session.publish('work');
  return async (method, args) => {
    const answer = await fetch(`${url.replace('ws', 'http')}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${session.secret}`, 'content-type': 'application/json' },
      body: JSON.stringify({ method, args }),
    });
    return ((await answer.json()) as { readonly code?: string }).code ?? '';
  };
};

const byMcp =
  async ({ url, session }: World): Promise<Caller> =>
  async (method, args) => {
    const text = await callOverHttp({ url, secret: session.secret }, 'call', { cap: 'work', method, args });
    return /"isError":true/.test(text) ? (/"code":"([^"]+)"/.exec(text)?.[1] ?? text) : '';
  };

const byGuest = async ({ session }: World): Promise<Caller> => {
  const guests = await openGuests({ isolation: 'ses-only', pool: 1 });
  onTestFinished(() => guests.close());
  const caps = { work: await session.cap<FsCap>('work') };
  return (method, args) => {
    const source = `return await E(work).${method}(...${JSON.stringify(args)}).then(() => '', (error) => error.code)`;
    return guests.evaluate(source, { caps }).then(({ value }) => value as string);
  };
};

const python = `
import asyncio, json, sys, hob
from hob import E
async def main():
    url, method, args = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
    async with await hob.connect(url, sys.stdin.readline().strip()) as session:
        try:
            await getattr(E(session["work"]), method)(*args)
            print("")
        except hob.CapError as error:
            print(error.code)
asyncio.run(main())
`;

const byPython = async ({ url, session }: World): Promise<Caller> => {
  const { python: program = 'python3' } = await setUpPython();
  return async (method, args) => {
    const env = { PATH: process.env['PATH'], PYTHONPATH: join(BRIDGE, 'src'), PYTHONDONTWRITEBYTECODE: '1' };
    const running = promisify(execFile)(program, ['-c', python, `${url}/beside`, method, JSON.stringify(args)], {
      env,
    });
    running.child.stdin?.end(`${session.secret}\n`);
    return (await running).stdout.trim();
  };
};

async function callLines(host: Host): Promise<readonly Record<string, unknown>[]> {
  const lines: Record<string, unknown>[] = [];
  for await (const text of host.ledger()) lines.push(JSON.parse(text) as Record<string, unknown>);
  return lines.filter(({ k, risk }) => k === 'call' && risk !== undefined);
}

/** A call that goes on, and one that waits and is refused: both are assessed, and nothing else happened. */
async function tries(at: World, name: string, caller: Caller): Promise<void> {
  const before = (await callLines(at.host)).length;
  expect([name, await caller('write', [`${name}/kept.txt`, 'one', { parents: true }])]).toEqual([name, '']);
  const removing = caller('remove', [name, { recursive: true }]);
  let [asked] = await E(at.granter).inbox();
  while (asked === undefined) {
    await new Promise((resolve) => setImmediate(resolve));
    [asked] = await E(at.granter).inbox();
  }
  expect(asked.table).toContainEqual(['why it waits', 'it may reach much at once']);
  await E(at.granter).answer(asked.id, { refuse: 'no', digest: asked.digest });
  expect([name, await removing]).toEqual([name, 'denied']);
  expect(existsSync(join(at.root, name, 'kept.txt'))).toBe(true);
  expect((await callLines(at.host)).slice(before)).toMatchObject([
    { method: 'write', risk: 0.35, effect: 'B' },
    { method: 'remove', risk: 0.35, sure: 0.45, human: true },
  ]);
}

test('the program, CapTP, numbered calls, a child, an object URL, MCP and a guest: each call is assessed once, and waits', async () => {
  const at = await world();
  const faces = { inProgram, overCapTP, byNumber, byChild, byObjectUrl, byMcp, byGuest };
  for (const [name, face] of Object.entries(faces)) await tries(at, name, await face(at));
  expect(readdirSync(at.root).sort()).toEqual(Object.keys(faces).sort());
});

requires('python')(
  'a call from Python is assessed once, and waits',
  async () => {
    const at = await world();
    await tries(at, 'byPython', await byPython(at));
  },
  900_000,
); // The first test of Python on a machine installs what it needs.

const SCHEDULED = `version: 1
roots: { project: project }
agents: { worker: { command: {agent} } }
firewall: { mode: enforce }
session:
  deadline: 30d
  mode: autonomous
  caps:
    work: { fs: project/src, can: [read, list, write, remove] }
    nightly: { schedule: worker, gives: [work] }
`;

requires('linux')(
  'calls of a scheduled run are assessed once, and wait; the start of a run does not',
  async () => {
    const hob = scheduledHome(SCHEDULED);
    await hob.serve();
    const asker = await hob.asker();
    const calls = [['work', 'write', 'run/kept.txt', 'one', { parents: true }], ['work', 'remove', 'run', { recursive: true }]]; // biome-ignore format: one line
    expect((await asker.call('nightly', 'at', new Date(hob.now() + 600_000).toISOString(), JSON.stringify({ calls })))[0]).toBe('ok'); // biome-ignore format: one line
    const waiting = await hob.until(
      () => hob.json<readonly { readonly id: string; readonly effect: string }[]>('inbox'),
      ({ length }) => length > 0,
    );
    expect(waiting.map(({ effect }) => effect)).toEqual([expect.stringMatching(/remove/)]);
    expect((await hob.run('inbox', String(waiting[0]?.id))).out).toMatch(/why it waits:? +it may reach much at once/);
    await hob.run('refuse', String(waiting[0]?.id));
    await hob.sees('ends', 1);
    expect(hob.seen().filter(({ what }) => what === 'called').map(({ ended }) => (ended as readonly unknown[])[0])).toEqual(['ok', 'denied']); // biome-ignore format: one line
    expect(existsSync(join(hob.folder, 'config/project/src/run/kept.txt'))).toBe(true);
    const assessed = (await hob.ledger()).filter(({ k, risk }) => k === 'call' && risk !== undefined);
    expect(assessed.map(({ method, risk, effect, human }) => [method, risk, effect, human])).toEqual([
      ['at', 0.45, 'C', undefined],
      ['run', expect.any(Number), 'A', undefined],
      ['write', 0.35, 'B', undefined],
      ['remove', 0.35, 'B', true],
    ]);
  },
  120_000,
);
