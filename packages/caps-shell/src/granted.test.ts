/** A shell behind grants and over a wire: what ends its jobs, and what the ledger records. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FsCap } from '@hob/caps-fs';
import { definitions, type Revoker, revocable } from '@hob/revocable';
import {
  CapError,
  captp,
  driverOf,
  E,
  exportLedger,
  type Far,
  iterate,
  memoryPair,
  openStore,
  openVats,
  type Vats,
} from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../test/needs.ts';
import { code, directory, mark, processesWith, shell } from '../test/shell.ts';
import type { SentJob, ShellCap } from './index.ts';

const test = requires('linux', 'cc', 'userns');

async function vats(options: Parameters<typeof openVats>[0] = {}): Promise<Vats> {
  const made = await openVats(options);
  onTestFinished(() => made.close());
  return made;
}

interface Granted<T> {
  readonly cap: Far<T>;
  revoke(): Promise<void>;
}
/** A durable vat keeps drivers by their name. */
const names = new (class {
  readonly #names = new WeakMap<object, string>();
  #made = 0;
  get(of: object): string {
    this.#made += 1;
    const name = this.#names.get(of) ?? `granted-${this.#made}`;
    this.#names.set(of, name);
    return name;
  }
})();
async function grant<T extends object>(at: Vats, inner: T, terms: object = { for: 60_000 }): Promise<Granted<T>> {
  const driven = driverOf(inner, { name: names.get(inner) });
  const made = (await at.vat('a').turn(() => revocable(driven, terms as never) as never)) as {
    cap: Far<T>;
    revoker: Far<Revoker>;
  };
  return { cap: made.cap, revoke: () => E(made.revoker).revoke() as unknown as Promise<void> };
}
const sent = (job: unknown): Far<SentJob> => job as Far<SentJob>;

test('everything works over a wire: run, a job with its streams, attenuation', async () => {
  const sh = await shell({ mounts: { '/ws': await directory() } });
  const [here, there] = memoryPair();
  const server = captp(here, { bootstrap: driverOf<ShellCap>(sh), dialect: 'hob.1' });
  const client = captp<ShellCap>(there, { dialect: 'hob.1' });
  onTestFinished(() => client.close());
  const far = client.bootstrap;
  expect(await E(far).run('cat; echo x > a', { stdin: 'in' })).toMatchObject({ status: 0, stdout: 'in' });
  const job = sent(await E(far).spawn('cat; head -c 500000 /dev/zero | tr "\\0" x', { name: 'j' }));
  await E(job).write('text ');
  await E(job).write(new TextEncoder().encode('bytes '));
  await E(job).end();
  let out = '';
  for await (const part of iterate((await E(job).stdout()) as never)) out += Buffer.from(part).toString('latin1');
  expect(out).toBe(`text bytes ${'x'.repeat(500_000)}`);
  expect(await E(job).wait()).toMatchObject({ status: 0, ended: 'exit' });
  expect(await E(sent(await E(far).job('j'))).wait()).toMatchObject({ status: 0 });
  // Pipelined, before spawn has returned.
  const quick = E(E(far).spawn('exit 3') as unknown as Far<SentJob>).wait();
  expect(await quick).toMatchObject({ status: 3 });
  const less = (await E(far).attenuate({ readOnly: true })) as unknown as Far<ShellCap>;
  expect(await E(less).describe()).toMatchObject({ mounts: { '/ws': 'ro' } });
  expect(await code(E(less).attenuate({ limits: { wallMs: 1_000_000 } }))).toBe('E_NOT_ATTENUATION');
  expect(await code(E(far).run('true', { timeoutMs: -1 }))).toBe('E_LIMIT_INVALID');
  client.close();
  await server.closed;
});

for (const dialect of ['hob.1', 'captp'] as const)
  test(`the output that escapes worst fits into one frame of ${dialect}`, async () => {
    const sh = await shell();
    const [here, there] = memoryPair();
    const server = captp(here, { bootstrap: driverOf<ShellCap>(sh), dialect });
    const client = captp<ShellCap>(there, { dialect });
    onTestFinished(() => client.close());
    for (const what of [
      'head -c 3000000 /dev/zero',
      'head -c 3000000 /dev/urandom',
      'yes \\"',
      'head -c 3000000 /dev/zero | tr "\\0" "\\177"',
    ]) {
      const ended = await E(client.bootstrap).run(`${what} | head -c 3000000 | tee /dev/stderr`);
      expect(ended).toMatchObject({ truncated: true });
    }
    client.close();
    await server.closed;
  });

test('revoking the grant of a shell kills its jobs, and returns when the last process is gone', async () => {
  const at = await vats();
  const sh = await shell({ mounts: { '/ws': await directory() } });
  const [mine, other] = [await grant(at, sh), await grant(at, sh)];
  const job = sent(
    await E(mine.cap).spawn(`trap "" TERM; setsid sleep ${mark('911.2358')} & sleep ${mark('911.2358')}`),
  );
  const run = code(E(mine.cap).run(`sleep ${mark('911.2358')}`));
  const kept = sent(await E(other.cap).spawn(`sleep ${mark('922.3606')}; echo`));
  while (processesWith(mark('911.2358')).length < 4) await E(other.cap).describe();
  await mine.revoke();
  expect(processesWith(mark('911.2358'))).toEqual([]);
  expect(await run).toBe('revoked');
  expect(await code(E(job).wait())).toBe('revoked');
  expect(await code(E(mine.cap).run('true'))).toBe('revoked');
  expect(processesWith(mark('922.3606')).length).toBeGreaterThan(0);
  await other.revoke();
  expect(processesWith(mark('922.3606'))).toEqual([]);
  void kept;
});

test('a promise for a directory is mounted when it resolves, and its rejection is passed on', async () => {
  const dir = await directory();
  const sh = await shell({ mounts: { '/ws': Promise.resolve(driverOf<FsCap>(dir)) } });
  expect(await sh.run('echo x > a; ls')).toMatchObject({ status: 0, stdout: 'a\n' });
  expect(await code(shell({ mounts: { '/ws': Promise.reject(new CapError('no-such-object', 'not held')) } }))).toBe('no-such-object'); // biome-ignore format: one line
});

test('revoking a mounted directory kills the jobs too', async () => {
  const at = await vats();
  const dir = await grant<FsCap>(at, await directory());
  const sh = await shell({ mounts: { '/ws': dir.cap } });
  const job = await sh.spawn(`trap "" TERM; sleep ${mark('917.3205')}`);
  const runs = Array.from({ length: 9 }, () => code(sh.run(`sleep ${mark('917.3205')}`)));
  await dir.revoke();
  expect(processesWith(mark('917.3205'))).toEqual([]);
  expect(await job.wait()).toMatchObject({ ended: 'revoked' });
  expect(await code(sh.run('true'))).toBe('revoked');
  await Promise.all(runs);
});

test('a cap that counts, filters or waits for a person is not mounted', async () => {
  const at = await vats();
  const counted = await grant<FsCap>(at, await directory(), { uses: 3 });
  expect(await code(shell({ mounts: { '/ws': counted.cap } }))).toBe('E_NOT_MOUNTABLE');
});

test('the jobs of a grant have a tenth of its time when it is over, and are then killed', async () => {
  const clock = testClock();
  const at = await vats({ clock });
  const sh = await shell();
  const mine = await grant(at, sh, { for: 60_000 });
  const job = sent(await E(mine.cap).spawn(`trap "" TERM; sleep ${mark('924.4948')}`));
  const inside = code(E(job).wait());
  clock.advance(60_001);
  expect(await inside).toBe('expired');
  expect(processesWith(mark('924.4948')).length).toBeGreaterThan(0);
  clock.advance(6_000);
  while (processesWith(mark('924.4948')).length > 0) await new Promise((resolve) => setImmediate(resolve));
  expect(await code(E(mine.cap).run('true'))).toBe('expired');
});

test('closing vats ends the jobs of their callers', async () => {
  const at = await vats();
  const sh = await shell();
  const mine = await grant(at, sh);
  await E(mine.cap).spawn(`trap "" TERM; sleep ${mark('926.4575')}`);
  await at.close();
  expect(processesWith(mark('926.4575'))).toEqual([]);
  expect(await sh.run('true')).toMatchObject({ status: 0 });
});

test('the holder of a grant finds only its own jobs, and closes the shell for itself', async () => {
  const at = await vats();
  const sh = await shell();
  const [mine, other] = [await grant(at, sh), await grant(at, sh)];
  await E(mine.cap).spawn(`sleep ${mark('928.2842')}`, { name: 'server' });
  expect(await code(E(other.cap).job('server'))).toBe('no-such-object');
  expect(await code(sh.job('server'))).toBe('no-such-object');
  expect(await code(E(mine.cap).job('server'))).toBe('ok');
  const theirs = sent(await E(other.cap).spawn('cat', { name: 'server' }));
  const less = (await E(mine.cap).attenuate({})) as unknown as Far<ShellCap>;
  await E(less).spawn(`sleep ${mark('928.2842')}`);
  await E(mine.cap).close();
  expect(processesWith(mark('928.2842'))).toEqual([]);
  for (const cap of [mine.cap, less]) expect(await code(E(cap).run('true'))).toBe('revoked');
  await E(theirs).end();
  expect(await E(theirs).wait()).toMatchObject({ status: 0, ended: 'exit' });
  expect(await sh.run('true')).toMatchObject({ status: 0 });
});

test('the ledger has one line for each job: its command, mounts with their grants, end and usage', async () => {
  const path = mkdtempSync(join(tmpdir(), 'hob-shell-ledger-'));
  const store = await openStore({ path });
  const at = await openVats({ store, definitions });
  const dir = await grant<FsCap>(at, await directory());
  const sh = await shell({ mounts: { '/ws': dir.cap } });
  const mine = await grant(at, sh);
  await E(mine.cap).run('exit 4');
  const job = sent(await E(mine.cap).spawn('sleep 60'));
  await mine.revoke();
  void job;
  const again = await grant(at, sh);
  await E(again.cap).spawn('sleep 60');
  await at.close();
  await store.close();
  const closed = await openStore({ path });
  const lines: Record<string, unknown>[] = [];
  for await (const line of exportLedger(closed)) lines.push(JSON.parse(line));
  await closed.close();
  rmSync(path, { recursive: true });
  const grants = lines.filter(({ k }) => k === 'grant').map(({ grant: id }) => id);
  const jobs = lines.filter(({ k, job: id }) => k === 'result' && id !== undefined);
  const usage = { wallMs: expect.any(Number), cpuMs: expect.any(Number), peakBytes: expect.any(Number) };
  const mounts = { '/ws': `rw ${grants[0]}` };
  expect(jobs).toMatchObject([
    { grant: grants[1], method: 'run', code: 'exit', status: 4, mounts, usage, argc: 1, args: expect.any(String) },
    { grant: grants[1], method: 'spawn', code: 'revoked', status: 137, mounts },
    // The same if the host closes everything.
    { grant: grants[2], method: 'spawn', code: 'revoked', mounts },
  ]);
  // The command is kept apart, like the arguments of calls, and is not in the line.
  expect(JSON.stringify(jobs)).not.toContain('exit 4');
});
