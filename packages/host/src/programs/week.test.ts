/** A set-up for a week: `npm start` as README of `examples/hermes` has it, over restarts and kills, and the day after. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, E } from '@hob/vat';
import { expect, onTestFinished, test } from 'vitest';
import { type Program, readiness, Program as Started } from '../../../../test/processes.ts';
import { code, scratch } from '../../test/test-host.ts';
import type { Granter, SessionFace } from '../index.ts';

const DAY_MS = 86_400_000;
const preload = join(import.meta.dirname, '../../test/later-clock.mjs');

interface Files {
  readText(path: string): string;
}

test('for a week an agent works with the same secret over restarts and kills; then it asks for the same cap again, and gets it', async () => {
  const folder = scratch();
  mkdirSync(join(folder, 'root'));
  writeFileSync(join(folder, 'root', 'notes.txt'), 'for the agent\n');
  const running = new Set<Program>();
  onTestFinished(async () => {
    for (const program of running) await program.stop();
    rmSync(folder, { recursive: true, force: true });
  });
  const host = async (days: number) => {
    const usual = [
      '--root',
      join(folder, 'root'),
      '--state',
      join(folder, 'state'),
      '--for',
      '10080',
      '--uses',
      '100000',
    ];
    const env = { NODE_OPTIONS: `--import ${preload}`, HOB_TEST_LATER: String(days * DAY_MS) };
    const program = new Started('workspace', usual, { env });
    running.add(program);
    return { program, ready: await readiness(program) };
  };
  const kill = async (program: Program): Promise<void> => {
    program.child.kill('SIGKILL');
    await program.ended;
    running.delete(program);
  };
  const enter = async (url: string, secret: string) => {
    const { bootstrap, close } = await connect<SessionFace>(url, { secret });
    const read = (petname: string): Promise<string> => E(E(bootstrap).cap(petname) as Promise<Files>).readText('notes.txt') as Promise<string>; // biome-ignore format: one line
    return { session: bootstrap, close, read };
  };

  const first = await host(0);
  const { session: mine, granter } = first.ready;
  const before = await enter(first.ready.url, mine.secret);
  expect(await before.read('workspace')).toBe('for the agent\n');
  await kill(first.program);
  for (const days of [3, 6.99]) {
    const { program, ready } = await host(days);
    const agent = await enter(ready.url, mine.secret);
    expect([days, await agent.read('workspace')]).toEqual([days, 'for the agent\n']);
    await kill(program);
  }

  const late = await host(7.1);
  const agent = await enter(late.ready.url, mine.secret);
  expect(await code(agent.read('workspace'))).toBe('expired');
  const asked = E(agent.session).request({ asks: 'workspace', terms: { for: 7 * DAY_MS }, why: 'to go on' });
  const owner = (await connect<Granter>(late.ready.url, { secret: granter.secret })).bootstrap;
  let waiting = await E(owner).inbox();
  while (waiting.length === 0) waiting = await E(owner).inbox();
  expect(waiting).toMatchObject([{ kind: 'grant', asks: 'workspace' }]);
  await E(owner).answer(waiting[0]!.id, { grant: { for: 7 * DAY_MS }, digest: waiting[0]!.digest });
  expect(await E(asked as unknown as Files).readText('notes.txt')).toBe('for the agent\n');
  // A petname stays bound, so the new cap stands beside the old one under the next name.
  expect(await E(agent.session).caps()).toContain('workspace-2');
  expect(await agent.read('workspace-2')).toBe('for the agent\n');
  // It outlives a kill, as the first one did, and the next day.
  await kill(late.program);
  const { ready } = await host(7.5);
  expect(await (await enter(ready.url, mine.secret)).read('workspace-2')).toBe('for the agent\n');
}, 240_000);
