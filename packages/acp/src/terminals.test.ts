/** Terminals of an agent: jobs in the sandbox of its session, whatever it asks for. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { world } from '../test/world.ts';
import { commandText } from './terminals.ts';

const test = requires('linux', 'cc', 'userns');

const code = (answer: Promise<unknown>): Promise<unknown> =>
  answer.then(
    () => 'ok',
    (error: { readonly code?: unknown }) => error.code,
  );

test('a terminal is a job: its output and exit come back, and it sees nothing but what the session holds', async () => {
  const at = await world({ shell: true });
  const { id, agent } = await at.begin();
  const run = async (params: object): Promise<{ readonly output: string; readonly exitStatus?: unknown }> => {
    const { terminalId } = await agent.client.request('terminal/create', { sessionId: id, ...params } as never);
    await agent.client.request('terminal/wait_for_exit', { sessionId: id, terminalId });
    return (await agent.client.request('terminal/output', { sessionId: id, terminalId })) as never;
  };
  expect(await run({ command: 'cat', args: ['src/a.txt'] })).toEqual({ output: 'one\ntwo\nthree\n', truncated: false, exitStatus: { exitCode: 0, signal: null } }); // biome-ignore format: one line
  expect(await run({ command: 'printf %s "$WORD"; exit 3', env: [{ name: 'WORD', value: "a'b $(x)" }] })).toMatchObject({ output: "a'b $(x)", exitStatus: { exitCode: 3 } }); // biome-ignore format: one line
  expect((await run({ command: 'pwd', cwd: at.path('src') })).output).toBe('/files/src\n');
  // Absolute paths of the host are not there, and no network.
  const look = await run({ command: `cat ${join(at.folder, 'secret.txt')}; touch ${join(at.folder, 'made')}; (echo > /dev/tcp/127.0.0.1/${new URL(at.url).port}) 2>/dev/null && echo MARK-dialled` }); // biome-ignore format: one line
  expect(look.output).not.toContain('MARK-');
  expect(existsSync(join(at.folder, 'made'))).toBe(false);
  expect(at.editor.others).toEqual([]);
});

test('only the last bytes are kept, from the beginning of a character', async () => {
  const at = await world({ shell: true });
  const { id, agent } = await at.begin();
  const { terminalId } = await agent.client.request('terminal/create', {
    sessionId: id,
    command: 'printf éééé',
    outputByteLimit: 3,
  });
  await agent.client.request('terminal/wait_for_exit', { sessionId: id, terminalId });
  expect(await agent.client.request('terminal/output', { sessionId: id, terminalId })).toMatchObject({
    output: 'é',
    truncated: true,
  });
});

test('kill, release, a cancelled turn and the crash of the agent end the jobs', async () => {
  const at = await world({ shell: true });
  const { id, agent } = await at.begin();
  const begin = async (): Promise<string> =>
    (await agent.client.request('terminal/create', { sessionId: id, command: 'echo begun; exec sleep 600' }))
      .terminalId;
  const exit = (terminalId: string): Promise<unknown> =>
    agent.client.request('terminal/wait_for_exit', { sessionId: id, terminalId });
  const killed = await begin();
  await agent.client.request('terminal/kill', { sessionId: id, terminalId: killed });
  expect(await exit(killed)).toEqual({ exitCode: null, signal: expect.any(String) });
  const released = await begin();
  const over = exit(released);
  await agent.client.request('terminal/release', { sessionId: id, terminalId: released });
  await over;
  expect(await code(exit(released))).toBe(-32002);
  const cancelled = await begin();
  await at.editor.agent.notify('session/cancel', { sessionId: id });
  await exit(cancelled);
});

test('no terminal without a shell, none of another session, and at most sixteen', async () => {
  const bare = await world();
  const first = await bare.begin();
  expect(await code(first.agent.client.request('terminal/create', { sessionId: first.id, command: 'true' }))).toBe(
    -32002,
  );
  const at = await world({ shell: true });
  const [one, two] = [await at.begin(), await at.begin()];
  const { terminalId } = await one.agent.client.request('terminal/create', {
    sessionId: one.id,
    command: 'echo MARK-of-one',
  });
  for (const method of ['terminal/output', 'terminal/wait_for_exit', 'terminal/kill', 'terminal/release'] as const)
    expect([method, await code(two.agent.client.request(method, { sessionId: two.id, terminalId }))]).toEqual([
      method,
      -32002,
    ]);
  for (let n = 1; n < 16; n += 1)
    await one.agent.client.request('terminal/create', { sessionId: one.id, command: 'true' });
  expect(await code(one.agent.client.request('terminal/create', { sessionId: one.id, command: 'true' }))).toBe(-32602);
});

test('words of an agent stay words: nothing in an argument, a variable or a directory is a command of the shell', () => {
  const root = '/ws';
  const evil = "'; touch /x; echo '";
  expect(commandText({ command: 'a b', args: [evil] }, root)).toBe("'a b' ''\\''; touch /x; echo '\\'''");
  expect(commandText({ command: 'x', env: [{ name: 'A', value: evil }] }, root)).toBe(
    "export A=''\\''; touch /x; echo '\\'''; x",
  );
  expect(commandText({ command: 'x', cwd: `/ws/${evil}` }, root)).toBe("cd ''\\''; touch /x; echo '\\''' && x");
  for (const name of ['A;touch', 'A B', '', '1A', 'A=B', 'A\n']) {
    expect(() => commandText({ command: 'x', env: [{ name, value: '' }] }, root)).toThrow(/names of variables/);
  }
  for (const wrong of [
    {},
    { command: 1 },
    { command: 'x', args: 'y' },
    { command: 'x', args: [1] },
    { command: 'x', args: ['\0'] },
    { command: 'x', env: {} },
    { command: 'x', env: [null] },
  ])
    expect(() => commandText(wrong, root)).toThrow(/Invalid params/);
});
