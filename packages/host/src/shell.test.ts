/** A shell that is granted to an agent and used over its connection. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { makeShellCap, type SentJob, type ShellCap } from '@hob/caps-shell';
import { type ByteSource, E, type Far, iterate } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { code, held, lines, type TestHost, testHost } from '../test/test-host.ts';

const test = requires('linux', 'cc', 'userns');

interface Shop extends TestHost {
  readonly files: string;
  readonly shell: ShellCap;
}
/** A directory and a shell in it are offered; nothing is granted. */
async function shop(): Promise<Shop> {
  const home = await testHost();
  const files = join(home.folder, 'files');
  mkdirSync(files);
  const dir = await openFsCap(files);
  const shell = await makeShellCap({ mounts: { '/ws': dir } });
  onTestFinished(async () => {
    await shell.close();
    await dir.close();
    await home.close();
  });
  await home.host.offer('shell', shell);
  return { ...home, files, shell };
}
const grant = (home: TestHost, terms: object = {}, session = home.session.id): Promise<{ id: string }> =>
  E(home.granter).grant(session, 'shell', 'shell', terms) as unknown as Promise<{ id: string }>;
const sent = (job: unknown): Far<SentJob> => job as Far<SentJob>;

const running = (mark: string): number =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark);
    } catch {
      return false;
    }
  }).length;

test('an agent runs programs in the directory of its shell, and reads the output of a job while it runs', async () => {
  const home = await shop();
  writeFileSync(join(home.files, 'a'), 'one\n');
  await grant(home);
  const agent = await home.enter(home.session.secret);
  const shell = held<ShellCap>(agent, 'shell');
  expect(await E(shell).run('cat a; echo two > b; exit 3')).toMatchObject({ status: 3, stdout: 'one\n' });
  expect(readFileSync(join(home.files, 'b'), 'utf8')).toBe('two\n');
  const job = sent(await E(shell).spawn('while read x; do echo "<$x>"; done'));
  const out = (await E(job).stdout()) as unknown as Far<ByteSource>;
  for (const word of ['a', 'b']) {
    await E(job).write(`${word}\n`);
    expect(Buffer.from((await E(out).next()) as Uint8Array).toString()).toBe(`<${word}>\n`);
  }
  await E(job).end();
  for await (const _ of iterate(out)) throw new Error('nothing was left to say');
  expect(await E(job).wait()).toMatchObject({ status: 0, stdout: '<a>\n<b>\n' });
  const said = JSON.stringify(await E(shell).describe());
  expect(said).toContain('"/ws":"rw"');
  expect(said).not.toContain(home.files);
});

test('a job continues after the connection is lost and is found again by its name; it ends with the session', async () => {
  const home = await shop();
  await grant(home);
  const agent = await home.enter(home.session.secret);
  await E(held<ShellCap>(agent, 'shell')).spawn('trap "" TERM; read x; echo "got $x"; sleep 51.9615', {
    name: 'server',
  });
  agent.close();
  await agent.closed;
  const again = await home.enter(home.session.secret);
  const job = sent(await E(held<ShellCap>(again, 'shell')).job('server'));
  await E(job).write('it\n');
  const out = (await E(job).stdout()) as unknown as Far<ByteSource>;
  expect(Buffer.from((await E(out).next()) as Uint8Array).toString()).toBe('got it\n');
  expect(running('51.9615')).toBeGreaterThan(0);
  await home.session.end();
  expect(running('51.9615')).toBe(0);
  expect((await lines(home.host, 'result')).filter(({ job: id }) => id !== undefined)).toMatchObject([
    { method: 'spawn', code: 'revoked', mounts: { '/ws': 'rw' } },
  ]);
});

test('a session neither finds nor ends the jobs of another one', async () => {
  const home = await shop();
  const other = await home.host.openSession({ name: 'other', granters: ['owner'] });
  await grant(home);
  await grant(home, {}, other.id);
  const [mine, theirs] = await Promise.all([home.enter(home.session.secret), home.enter(other.secret)]);
  const job = sent(await E(held<ShellCap>(mine, 'shell')).spawn('read x; exit 6', { name: 'server' }));
  expect(await code(E(held<ShellCap>(theirs, 'shell')).job('server'))).toBe('no-such-object');
  await E(held<ShellCap>(theirs, 'shell')).close();
  expect(await code(E(held<ShellCap>(theirs, 'shell')).run('true'))).toBe('revoked');
  await E(job).write('x\n');
  expect(await E(job).wait()).toMatchObject({ status: 6 });
});

test('a child session that was delegated a shell loses its jobs when the parent’s grant ends', async () => {
  const home = await shop();
  const { id } = await grant(home);
  const agent = await home.enter(home.session.secret);
  const { secret } = await E(agent.bootstrap).spawnChild({ name: 'child', caps: { tool: 'shell' } });
  const child = await home.enter(secret);
  await E(held<ShellCap>(child, 'tool')).spawn('trap "" TERM; sleep 52.9150');
  await E(home.granter).revoke({ grant: id });
  expect(running('52.9150')).toBe(0);
  expect(await code(E(held<ShellCap>(child, 'tool')).run('true'))).toBe('revoked');
});

test('one use is one run', async () => {
  const home = await shop();
  await grant(home, { uses: 2 });
  const agent = await home.enter(home.session.secret);
  const shell = held<ShellCap>(agent, 'shell');
  const codes = await Promise.all(['echo 1', 'echo 2', 'echo 3'].map((text) => code(E(shell).run(text))));
  expect(codes.sort()).toEqual(['exhausted', 'ok', 'ok']);
});

test('a shell over a granted directory ends with that grant', async () => {
  const home = await shop();
  const dir = await openFsCap(home.files);
  onTestFinished(() => dir.close());
  await home.host.offer('files', dir);
  const { id } = (await E(home.granter).grant(home.session.id, 'files', 'files', {})) as unknown as { id: string };
  const shell = await makeShellCap({ mounts: { '/ws': await home.session.cap<FsCap>('files') } });
  const job = await shell.spawn('trap "" TERM; sleep 53.8516');
  await E(home.granter).revoke({ grant: id });
  expect(running('53.8516')).toBe(0);
  expect(await job.wait()).toMatchObject({ ended: 'revoked' });
  expect(await code(shell.run('true'))).toBe('revoked');
});
