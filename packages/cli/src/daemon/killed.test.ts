/** Leftovers of kill -9 of `hob serve`, `hob start` and `hob backup` never hold up the next one. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { agentIn, type HobHome, hobHome, type Running } from '../../test/hob.ts';

const test = requires('linux');

interface Row {
  readonly id: string;
  readonly state: string;
}

/** A program that runs and never enters its session, until its input ends. */
const IDLE: readonly string[] = [
  process.execPath,
  '-e',
  "console.log('it runs'); process.stdin.resume().on('end', () => process.exit(5))",
];

/** Starts an agent. Its program ends with the test, also if `hob start` was killed. */
function started(hob: HobHome, ...line: readonly string[]): Running {
  const running = hob.start('start', '--', ...line);
  onTestFinished(() => void running.child.stdin!.end());
  return running;
}

const isGone = ({ child }: Running): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve();
    else child.once('exit', () => resolve());
  });

const kill = async (running: Running): Promise<void> => {
  const gone = isGone(running);
  running.child.kill('SIGKILL');
  await gone;
};

const noSessions = (hob: HobHome): Promise<readonly Row[]> =>
  hob.until(
    () => hob.json<readonly Row[]>('sessions'),
    ({ length }) => length === 0,
  );

test('hob start that is killed before its agent enters leaves no session and no grant that works', async () => {
  const hob = hobHome();
  const host = await hob.serve();
  const start = started(hob, ...IDLE);
  await start.shows(/it runs/);
  expect(await hob.json('list')).toMatchObject([{ cap: 'src', state: 'live' }, { cap: 'edit' }]);
  await kill(start);
  await noSessions(hob);
  await host.shows(/session S1 has lost its hob start, and nobody had entered it: it ends/);
  expect(await hob.json('list')).toEqual([]);
  expect((await hob.run('ledger', 'show')).out).toMatch(/what=end.*hob start ended before its agent entered/);
});

test('the folder with the secret that a killed hob start left goes with the next one; that of one that runs stays', async () => {
  const hob = hobHome();
  await hob.serve();
  const entries = (): readonly string[] => readdirSync(join(hob.folder, 'tmp')).filter((name) => name.startsWith('hob-entry-')); // biome-ignore format: one line
  const [dead, lives] = [started(hob, ...IDLE), started(hob, ...IDLE)];
  await dead.shows(/it runs/);
  await lives.shows(/it runs/);
  const before = entries();
  expect(before).toHaveLength(2);
  await kill(dead);
  expect(entries()).toEqual(before);
  const next = started(hob, ...IDLE);
  await next.shows(/it runs/);
  const after = entries();
  expect(after).toHaveLength(2);
  expect(before.filter((name) => after.includes(name))).toEqual([before.find((name) => name.includes(`-${lives.child.pid}-`))]); // biome-ignore format: one line
  lives.child.stdin!.end();
  next.child.stdin!.end();
  expect([await lives.ended, await next.ended]).toEqual([5, 5]);
  expect(entries()).toEqual([]);
});

test('hob start that is killed when its agent has entered ends nothing: the agent goes on', async () => {
  const hob = hobHome();
  const host = await hob.serve();
  const start = started(hob, ...agentIn(hob.folder));
  await start.shows(/reads one/);
  await kill(start);
  await host.shows(/session S1 has lost its hob start: its agent goes on/);
  expect((await hob.run('grant', 'R1')).code).toBe(0);
  await start.shows(/wrote first/);
  expect(await hob.json('sessions')).toMatchObject([{ id: 'S1' }]);
});

test('a session that nobody entered ends with the next serve, and one that was entered goes on', async () => {
  const hob = hobHome();
  const host = await hob.serve();
  const idle = started(hob, ...IDLE);
  await idle.shows(/it runs/);
  const agent = started(hob, ...agentIn(hob.folder));
  await agent.shows(/reads one/);
  await kill(host);
  await hob.serve();
  expect(await hob.json('sessions')).toMatchObject([{ id: 'S2' }]);
  // Each ends as its program does, and the session of the agent with it, on the host that was started again.
  idle.child.stdin!.end();
  expect(await idle.ended).toBe(5);
  agent.child.stdin!.write('end\n');
  expect(await agent.ended).toBe(4);
  expect(idle.err + agent.err).not.toMatch(/could not be ended/);
  await noSessions(hob);
});

test('what a killed serve left never blocks the next: its socket, its address, a copy for a backup, a half draft', async () => {
  const hob = hobHome();
  const state = join(hob.folder, 'home/.local/state/hob/state');
  await kill(await hob.serve());
  expect([existsSync(join(state, 'granter/socket')), existsSync(join(state, 'host.json'))]).toEqual([true, true]);
  expect((await hob.run('status')).err).toMatch(/^hob: no host serves this state/);
  writeFileSync(join(state, 'granter/backup-7'), 'half');
  writeFileSync(join(state, 'granter/backup-7.part'), 'half');
  writeFileSync(join(state, 'host.json'), '{"url":"ws:');
  writeFileSync(join(state, 'host.json.1'), '');
  await hob.serve();
  expect(await hob.json('status')).toMatchObject({ sessions: 0, requests: 0 });
  expect(readdirSync(join(state, 'granter'))).toEqual(['socket']);
});

test('a backup of a served state is consistent while an agent works; restored, its limited grants wait, also one that was revoked since', async () => {
  const hob = hobHome();
  await hob.serve();
  const agent = started(hob, ...agentIn(hob.folder));
  await agent.shows(/reads one/);
  expect((await hob.run('grant', 'R1', '--uses', '20')).code).toBe(0);
  await agent.shows(/wrote first/);
  const backup = hob.json<{ readonly served: boolean }>('backup', 'copy.db');
  for (let n = 0; n < 10; n += 1) agent.child.stdin!.write(`more ${n}\n`);
  expect(await backup).toEqual({ file: join(hob.folder, 'copy.db'), served: true });
  await agent.shows(/wrote more 9/);
  expect((await hob.run('backup', 'copy.db')).err).toMatch(/^hob: a file of that name exists already/);
  expect((await hob.run('revoke', 'G3')).code).toBe(0);

  const state = join(hob.folder, 'restored');
  expect((await hob.run('restore', '--state', state, 'copy.db')).code).toBe(0);
  const again = hob.start('serve', '--manifest', join(hob.folder, 'config/hob.yaml'), '--state', state);
  await again.shows(/see its requests/);
  const grants = await hob.json<readonly Row[]>('list', '--all', '--state', state);
  expect(grants.map(({ state: now }) => now)).toEqual(['suspended', 'suspended', 'suspended']);
  expect((await hob.run('ledger', 'verify', '--state', state)).out).toMatch(/^the ledger is whole/);
  expect((await hob.run('ledger', 'verify')).out).toMatch(/^the ledger is whole/);
}, 400_000);

test('kill -9 of hob backup leaves no file under its name that cannot be restored', async () => {
  const hob = hobHome();
  const host = await hob.serve();
  for (let round = 0; round < 6; round += 1) {
    const file = join(hob.folder, `copy-${round}.db`);
    const backup = hob.start('backup', file);
    // At the first sign of work, in a later round later.
    const copies = (): number =>
      [...host.err.matchAll(/a copy of the state was written/g)].length + (existsSync(file) ? 1 : 0);
    const before = copies();
    while (round % 3 !== 0 && copies() === before && backup.child.exitCode === null)
      await new Promise((resolve) => setImmediate(resolve));
    backup.child.kill('SIGKILL');
    await backup.ended;
    if (!existsSync(file)) continue;
    const state = join(hob.folder, `restored-${round}`);
    expect((await hob.run('restore', '--state', state, file)).code).toBe(0);
    expect(readFileSync(join(state, 'store.db')).subarray(0, 15).toString()).toBe('SQLite format 3');
  }
  expect((await hob.run('backup', join(hob.folder, 'last.db'))).code).toBe(0);
  expect(readdirSync(join(hob.folder, 'home/.local/state/hob/state/granter'))).toEqual(['socket']);
}, 400_000);
