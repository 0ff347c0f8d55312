/** The command line against a host that a program runs itself: `npm start` has no part in it. */
import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { Program } from '../../../../test/processes.ts';
import { scratch } from '../../test/test-host.ts';
import { readStopOrder } from '../drivers/state-dir.ts';
import { openHost } from '../index.ts';

interface OwnHost {
  readonly program: Program;
  readonly folder: string;
  readonly state: string;
  readonly url: string;
  readonly secret: string;
}

async function ownHost(...how: readonly string[]): Promise<OwnHost> {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const state = join(folder, 'state');
  const program = new Program('../../test/own-host.ts', [state, ...how]);
  onTestFinished(async () => {
    program.kill('SIGKILL');
    await program.ended;
  });
  const line = await program.line((each) => each.startsWith('{'));
  if (line === undefined) throw new Error(`the host did not start: ${program.lines.join('\n')}`);
  return { program, folder, state, ...(JSON.parse(line) as { readonly url: string; readonly secret: string }) };
}

type Ended = readonly [code: number | string, said: string];

async function hob(secret: string, ...args: readonly string[]): Promise<Ended> {
  const program = new Program('hob', args, { stdin: `${secret}\n` });
  return [await program.ended, program.lines.join('\n')];
}

const goesOn = ({ program: { child } }: OwnHost): boolean => child.exitCode === null && child.signalCode === null;

test('its grants are listed, its ledger is verified while it runs, and stop ends it', async () => {
  const host = await ownHost();
  const { state, secret, url } = host;
  expect(JSON.parse(readFileSync(join(state, 'host.json'), 'utf8'))).toEqual({ url, pid: host.program.child.pid });
  expect(await hob(secret, 'list', '--state', state)).toEqual([0, expect.stringMatching(/\ttime\tlive\t10\t/)]);
  expect(await hob(secret, 'ledger', 'verify', '--state', state)).toEqual([0, expect.stringMatching(/is whole/)]);
  expect(await hob('', 'stop', '--state', state)).toEqual([0, expect.stringMatching(/^the host has ended: every grant is revoked before/)]); // biome-ignore format: one line
  expect(await host.program.ended).toBe('SIGTERM');
  // Its store is read where no host runs, without a secret.
  expect(await hob('', 'ledger', 'verify', '--state', state)).toEqual([0, expect.stringMatching(/is whole/)]);
  expect(await hob(secret, 'list', '--state', state)).toEqual([
    1,
    expect.stringMatching(/^hob: no host serves this state/),
  ]);
});

test('a host without its address file is found by its open store; one that ignores SIGTERM is killed', async () => {
  const host = await ownHost('deaf');
  rmSync(join(host.state, 'host.json'));
  const stopped = await hob('', 'stop', '--state', host.state, '--wait', '1s');
  expect(stopped).toEqual([0, expect.stringMatching(/^the host did not answer and was killed/)]);
  expect(await host.program.ended).toBe('SIGKILL');
});

test('a host that does not listen is reported with its process id; stop ends it too', async () => {
  const host = await ownHost('silent');
  const { state, secret, program } = host;
  const silent = [1, expect.stringMatching(new RegExp(`^hob: process ${program.child.pid} has this state, and no socket of a granter`))]; // biome-ignore format: one line
  expect(await hob(secret, 'list', '--state', state)).toEqual(silent);
  expect(await hob(secret, 'ledger', 'verify', '--state', state)).toEqual(silent);
  expect((await hob('', 'stop', '--state', state))[0]).toBe(0);
  expect(await program.ended).toBe('SIGTERM');
});

test('with --url no state is needed; a text that is not the address of a host is refused', async () => {
  const host = await ownHost();
  const elsewhere = join(host.folder, 'elsewhere');
  const there = ['--url', host.url, '--state', elsewhere];
  expect(await hob(host.secret, 'list', ...there)).toEqual([0, expect.stringMatching(/\ttime\t/)]);
  expect(await hob(host.secret, 'ledger', 'verify', ...there)).toEqual([0, expect.stringMatching(/is whole/)]);
  expect(existsSync(elsewhere)).toBe(false);
  for (const wrong of ['http://127.0.0.1:1', '7377', 'ws:'])
    expect(await hob(host.secret, 'list', '--url', wrong)).toEqual([2, expect.stringMatching(/^hob: --url takes/)]);
});

test('the address file names an open port of the host, and is removed with the last port', async () => {
  const folder = scratch();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const host = await openHost({ stateDir: folder });
  onTestFinished(() => host.close());
  const noted = (): string | undefined =>
    existsSync(join(folder, 'host.json')) ? JSON.parse(readFileSync(join(folder, 'host.json'), 'utf8')).url : undefined;
  expect(noted()).toBeUndefined();
  const [first, second] = [await host.serve(), await host.serve()];
  expect(noted()).toBe(second.url);
  await second.close();
  expect(noted()).toBe(first.url);
  await first.close();
  expect(noted()).toBeUndefined();
  await host.serve();
  await host.close();
  expect(noted()).toBeUndefined();
});

requires('userns')('a host that cannot be seen from here is never said to be stopped', async () => {
  const host = await ownHost();
  const cli = join(import.meta.dirname, '../../../cli/src/main.ts');
  // A container of its own for the command: the host's process is not in it, and the lock of the store is.
  const jail = ['--user', '--map-root-user', '--pid', '--fork', '--mount-proc'];
  const [code, said] = await run('unshare', [...jail, process.execPath, cli, 'stop', '--state', host.state]);
  expect(said).toMatch(/^hob: a process that cannot be seen from here has this state open and keeps running/);
  expect(code).toBe(1);
  expect(goesOn(host)).toBe(true);
  expect(readStopOrder(host.state)).toBe('hob stop');
});

requires('root', 'unprivileged')(
  'a host of another user is named with its process, and never said to be stopped',
  async () => {
    const host = await ownHost();
    // A state that a group shares: this user may write the order, and may not look into the process.
    chmodSync(host.folder, 0o755);
    chmodSync(host.state, 0o777);
    chmodSync(join(host.state, 'store.db'), 0o644);
    mkdirSync(join(host.folder, 'home'), { mode: 0o777 });
    const cli = join(import.meta.dirname, '../../../cli/src/main.ts');
    const [code, said] = await run(process.execPath, [cli, 'stop', '--state', host.state], 54_321);
    expect(said).toMatch(new RegExp(`^hob: .*process ${host.program.child.pid} `));
    expect(code).toBe(1);
    expect(goesOn(host)).toBe(true);
  },
);

async function run(command: string, args: readonly string[], uid?: number): Promise<Ended> {
  const as = uid === undefined ? {} : { uid, gid: uid };
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...as });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (said += text));
  const code = await new Promise<number | string>((done) =>
    child.once('close', (ended, signal) => done(ended ?? signal ?? '')),
  );
  return [code, said];
}
