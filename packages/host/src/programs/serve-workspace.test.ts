/** The daemon, as a process. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'; // biome-ignore format: one line
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { ShellCap } from '@hob/caps-shell';
import { connect, E, ledgerLine, openStore, openVats, verifyLedger } from '@hob/vat';
import { testClock } from '@hob/vat/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { Program, readiness } from '../../../../test/processes.ts';
import { code, scratch } from '../../test/test-host.ts';
import type { Granter, SessionFace } from '../index.ts';

let folder: string;
let programs: Program[];
beforeEach(() => {
  folder = scratch();
  programs = [];
  mkdirSync(join(folder, 'root'));
  writeFileSync(join(folder, 'root', 'notes.txt'), 'for the agent\n');
});
afterEach(async () => {
  await Promise.all(programs.map((program) => program.stop()));
  rmSync(folder, { recursive: true, force: true });
});

const checkout = join(import.meta.dirname, '../../../..');
const at = (...names: string[]): string => join(folder, ...names);
function start(args: readonly string[] = [], env: Record<string, string> = {}): Program {
  const program = new Program('workspace', args, { env });
  programs.push(program);
  return program;
}
const usual = (): readonly string[] => ['--root', at('root'), '--state', at('state')];
async function refusal(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const program = start(args, env);
  const ended = await program.ended;
  expect(ended).toBe(1);
  return program.lines.join('\n');
}

test('it prints where it is, hands over the secrets, serves, tells its state’s modes, and ends with 0 and without its note', async () => {
  const host = start(usual());
  const ready = await readiness(host);
  expect(ready.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+$/);
  expect(host.lines.filter((line) => /^hob (session|granter|ready) \{/.test(line))).toHaveLength(3);
  expect(ready.session.secret).toMatch(/^hob1_/);
  expect(host.lines.join('\n')).not.toMatch(/hob1_/);
  expect(JSON.parse(readFileSync(at('state/host.json'), 'utf8'))).toEqual({ url: ready.url, pid: host.child.pid });
  for (const [
    name,
    mode,
  ] of [['.', 0o700], ['host.json', 0o600], ['store.db', 0o600], ['store.db-wal', 0o600]] as const) // biome-ignore format: one line
    expect(statSync(at('state', name)).mode & 0o777, name).toBe(mode);
  const connection = await connect<SessionFace>(ready.url, { secret: ready.session.secret });
  const text = await E(E(connection.bootstrap).cap('workspace') as Promise<{ readText(path: string): string }>).readText('notes.txt'); // biome-ignore format: one line
  expect(text).toBe('for the agent\n');
  expect(await host.stop()).toBe(0);
  expect((await connection.closed).code).toBe(1001);
  expect(existsSync(at('state/host.json'))).toBe(false);
  expect(readFileSync(at('state/store.db'), 'latin1')).not.toContain(ready.session.secret);
});

test('a second start on the same state is refused in one line, and the first host continues and keeps its address file', async () => {
  const first = start(usual());
  const ready = await readiness(first);
  expect(await refusal(usual())).toMatch(/^hob: another process uses this store[^\n]*$/);
  expect(JSON.parse(readFileSync(at('state/host.json'), 'utf8'))).toMatchObject({ url: ready.url });
  const granter = await connect<Granter>(ready.url, { secret: ready.granter.secret });
  expect(await E(granter.bootstrap).list()).toHaveLength(2);
  granter.close();
  await granter.closed;
});

test('the next run has the session, grants, granter and ledger of the last one, also after a kill; secrets are handed over once', async () => {
  const first = start(usual());
  const before = await readiness(first);
  const agent = await connect<SessionFace>(before.url, { secret: before.session.secret });
  await E(E(agent.bootstrap).cap('once') as Promise<{ list(): Promise<unknown> }>).list();
  first.kill('SIGKILL');
  await agent.closed;
  await first.ended;
  expect(existsSync(at('state/host.json'))).toBe(true);
  const second = start(usual());
  const ready = await readiness(second, before);
  expect(await second.handed).not.toMatch(/hob1_/);
  expect(ready.session).toEqual(before.session);
  const again = await connect<SessionFace>(ready.url, { secret: before.session.secret });
  const text = E(E(again.bootstrap).cap('workspace') as Promise<{ readText(path: string): Promise<string> }>).readText('notes.txt'); // biome-ignore format: one line
  expect(await text).toBe('for the agent\n');
  const once = E(E(again.bootstrap).cap('once') as Promise<{ list(): Promise<unknown> }>).list();
  expect(await code(once)).toBe('exhausted');
  again.close();
  await again.closed;
  const granter = await connect<Granter>(ready.url, { secret: ready.granter.secret });
  const lines = await E(await E(granter.bootstrap).ledger()).lines();
  const kinds = lines.map((line) => (JSON.parse(line) as { k: string }).k);
  expect(kinds.filter((kind) => kind === 'genesis')).toHaveLength(1);
  expect(kinds).toContain('restart');
  expect(kinds.filter((kind) => kind === 'grant')).toHaveLength(2);
  writeFileSync(at('ledger'), lines.map((line) => `${line}\n`).join(''));
  expect(await verifyLedger({ file: at('ledger') })).toMatchObject({ ok: true, lines: lines.length });
  granter.close();
  await granter.closed;
  expect(await second.stop()).toBe(0);
  // Another directory is another session: what was granted of the first leads nowhere else.
  mkdirSync(at('other'));
  const third = start(['--root', at('other'), '--state', at('state')]);
  const other = await readiness(third, ready);
  expect(other.session.id).not.toBe(before.session.id);
  expect(await code(connect(other.url, { secret: before.session.secret }))).toBe('denied');
  expect(await third.stop()).toBe(0);
  const fourth = start(['--root', at('other'), '--state', at('state'), '--new-secrets']);
  const renewed = await readiness(fourth);
  expect(renewed.session.id).toBe(other.session.id);
  const owner = await connect<Granter>(renewed.url, { secret: renewed.granter.secret });
  expect(await E(owner.bootstrap).list({ live: true })).toHaveLength(2);
  expect(await code(connect(renewed.url, { secret: before.granter.secret }))).toBe('denied');
  owner.close();
  await owner.closed;
});

requires(
  'linux',
  'cc',
  'userns',
)(
  'with --shell it runs programs over the directory and nothing else, and they end with it; without, nobody does',
  async () => {
    const host = start([...usual(), '--shell']);
    const ready = await readiness(host);
    expect(host.lines.join('\n')).toMatch(/It also holds "shell"/);
    const connection = await connect<SessionFace>(ready.url, { secret: ready.session.secret });
    const shell = E(connection.bootstrap).cap('shell') as Promise<ShellCap>;
    const ran = await E(shell).run(
      `cat notes.txt; echo made > made.txt; ls ${at('state')} ${at('root')} || echo none; echo "$HOB_SECRET"`,
    );
    expect(ran).toMatchObject({ status: 0, stdout: 'for the agent\nnone\n\n' });
    expect(readFileSync(at('root/made.txt'), 'utf8')).toBe('made\n');
    const mark = '61.80339';
    const job = E(shell).spawn(`trap "" TERM; echo up; sleep ${mark}`) as unknown as Promise<{
      stdout(): { next(): Promise<unknown> };
    }>;
    await E(E(job).stdout()).next();
    expect(running(mark)).toBeGreaterThan(0);
    expect(await host.stop()).toBe(0);
    await connection.closed;
    await vi.waitUntil(() => running(mark) === 0, { timeout: 60_000, interval: 50 });
    // The next start does not say it: what was granted is there, and runs nothing.
    const second = start(usual());
    const again = await connect<SessionFace>((await readiness(second, ready)).url, { secret: ready.session.secret });
    expect(await code(E(E(again.bootstrap).cap('shell') as Promise<ShellCap>).run('true'))).toBe('unavailable');
    again.close();
    await again.closed;
  },
);

const running = (mark: string): number =>
  readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(mark);
    } catch {
      return false;
    }
  }).length;

test('a root that equals, contains or is inside the state or the code is refused and left unchanged', async () => {
  const tries: (readonly string[])[] = [
    ['--root', folder, '--state', at('root/.hob')],
    ['--root', at('root'), '--state', at('root/.hob')],
    ['--root', checkout, '--state', at('state')],
    ['--root', join(checkout, 'packages/host/src'), '--state', at('state')],
  ];
  const said = await Promise.all(tries.map((args) => refusal(args)));
  for (const line of said)
    expect(line).toMatch(/^hob: that directory is, contains or lies inside the state or the code/);
  expect(existsSync(at('root/.hob'))).toBe(false);
  expect(existsSync(at('state'))).toBe(false);
});

test('a command line that it does not understand is exit 2, with what is wrong and its usage', async () => {
  const tries: (readonly string[])[] = [
    ['--nonsense'],
    ['positional'],
    ['--port', 'abc'],
    ['--port', '70000'],
    ['--uses', '-1'],
    ['--demo'],
    [...usual(), '--uses', '0'],
    [...usual(), '--for', '0'],
    [...usual(), '--gate', 'not a name'],
  ];
  for (const args of tries) {
    const program = start(args);
    expect([args, await program.ended]).toEqual([args, 2]);
    expect(program.lines.join('\n')).toMatch(/^hob: [^\n]+(?:\nusage: hob workspace [^\n]+\n[^\n]+--help says more)?$/);
  }
  expect(existsSync(at('state'))).toBe(false);
  expect(await refusal(['--root', at('missing'), '--state', at('state')])).toMatch(/^hob: [^\n]+$/);
});

const saysPutBack = (line: string): boolean => /^hob: .*(?:sentinel|put back|restored)/.test(line);

requires('git')(
  'a state that was moved, is opened through a link, or whose checkout was cleaned by git is what it was',
  async () => {
    const repository = at('checkout');
    mkdirSync(repository);
    const git = (...args: readonly string[]): void => void execFileSync('git', ['-C', repository, ...args]);
    git('init', '-q');
    cpSync(join(checkout, '.gitignore'), join(repository, '.gitignore'));
    git('add', '.');
    const sentinel = ['--root', at('root'), '--sentinel', at('sentinels')];
    const from = async (state: string): Promise<{ readonly id: string; readonly lines: readonly string[] }> => {
      const host = start([...sentinel, '--state', state]);
      const { session } = await readiness(host);
      expect(await host.stop()).toBe(0);
      return { id: session.id, lines: host.lines.filter(saysPutBack) };
    };
    const { id } = await from(join(repository, '.hob'));
    // It leaves what is ignored, as the state is.
    git('clean', '-fdq');
    expect(await from(join(repository, '.hob'))).toEqual({ id, lines: [] });
    renameSync(join(repository, '.hob'), at('moved'));
    symlinkSync(at('moved'), at('link'));
    expect(await from(at('link'))).toEqual({ id, lines: [] });
    renameSync(at('moved'), join(repository, '.hob'));
    // It takes the state, too: the next start is a first one.
    git('clean', '-xfdq');
    expect(existsSync(join(repository, '.hob'))).toBe(false);
    expect((await from(join(repository, '.hob'))).lines).toEqual([]);
  },
);

test('grants of a state without its sentinel are suspended: the start names the command that confirms them, and that command does', async () => {
  const first = start(usual());
  const { session, granter } = await readiness(first);
  await first.stop();
  // As a container that keeps the volume of the state, and not the home of its user.
  rmSync(at('xdg'), { recursive: true });
  const host = start(usual());
  const ready = await readiness(host);
  expect(ready.session.id).toBe(session.id);
  const [said = '', ...more] = host.lines.filter(saysPutBack);
  expect(more).toEqual([]);
  expect(said).toMatch(/^hob: the sentinel of this state is not where it is looked for, .*: npm run -s hob -- confirm all --state /); // biome-ignore format: one line
  await host.stop();
  const again = start(usual());
  const { url } = await readiness(again);
  expect(again.lines.filter(saysPutBack)).toEqual([expect.stringContaining(said.slice(said.indexOf('What was')))]);
  const connection = await connect<SessionFace>(url, { secret: session.secret });
  const read = async (): Promise<string> =>
    await code(E(E(connection.bootstrap).cap('workspace') as Promise<{ readText(path: string): Promise<string> }>).readText('notes.txt')); // biome-ignore format: one line
  expect(await read()).toBe('unavailable');
  const command = said.slice(said.indexOf('-- ') + 3).split(' ');
  const trust = new Program('hob', command, { stdin: `${granter.secret}\n` });
  programs.push(trust);
  expect(await trust.ended).toBe(0);
  expect(await read()).toBe('ok');
  connection.close();
  await connection.closed;
  await again.stop();
  const later = start(usual());
  await readiness(later);
  expect(later.lines.filter(saysPutBack)).toEqual([]);
});

test('if no sentinel can be written the start says so, and it refuses a named folder that cannot be written', async () => {
  const host = start(usual(), { XDG_STATE_HOME: '/dev/null/state' });
  await readiness(host);
  expect(host.lines.filter(saysPutBack)).toEqual([expect.stringMatching(/--sentinel DIR$/)]);
  await host.stop();
  const refused = await refusal([...usual(), '--sentinel', '/dev/null/state']);
  expect(refused).toMatch(/^hob: the folder for the sentinel of this state cannot be written.*--sentinel DIR$/);
  expect(refused).not.toContain('/dev/null');
  expect(await refusal([...usual(), '--sentinel', at('root', 'sentinels')])).toMatch(
    /^hob: that directory is, contains/,
  );
  expect(await refusal([...usual(), '--sentinel', at('state', 'sentinels')])).toMatch(/^hob: the folder for the sentinel lies inside/); // biome-ignore format: one line
  await readiness(start([...usual(), '--sentinel', at('sentinels')]));
});

test('sent checkpoints reveal a ledger that lost lines after them; a state whose ledger lost lines does not start, and says why', async () => {
  const grant = at('kept', 'checkpoints');
  mkdirSync(at('kept'));
  const sending = [...usual(), '--checkpoints', grant];
  const first = start(sending);
  const { granter } = await readiness(first);
  const cli = async (...args: readonly string[]): Promise<readonly [code: number | string, said: string]> => {
    const program = new Program('hob', [...args, '--state', at('state')], { stdin: `${granter.secret}\n` });
    programs.push(program);
    return [await program.ended, program.lines.join('\n')];
  };
  expect((await cli('ledger', 'export', at('short.jsonl')))[0]).toBe(0);
  await first.stop();
  expect(await cli('ledger', 'verify', '--against', grant)).toMatchObject([0, expect.stringMatching(/^the ledger is whole/)]); // biome-ignore format: one line
  const second = start(sending);
  await readiness(second);
  expect((await cli('ledger', 'verify', '--against', grant))[0]).toBe(0);
  await second.stop();
  // By itself the export is whole; it ends before the last checkpoint that was sent.
  expect((await cli('ledger', 'verify', at('short.jsonl')))[0]).toBe(0);
  const missing = expect.stringMatching(/NOT whole: line \d+: it is missing: the anchor is of \d+ lines/);
  expect(await cli('ledger', 'verify', at('short.jsonl'), '--against', grant)).toMatchObject([1, missing]);
  writeFileSync(at('nothing'), 'no checkpoint');
  expect(await cli('ledger', 'verify', '--against', at('nothing'))).toMatchObject([1, expect.stringMatching(/^hob: that file holds no checkpoint/)]); // biome-ignore format: one line
  const database = new DatabaseSync(at('state', 'store.db'));
  const last = Number(database.prepare('SELECT max(seq) AS seq FROM line').get()?.['seq']);
  const row = database.prepare('SELECT bytes FROM line WHERE seq = ?').get(last - 2);
  database.prepare('DELETE FROM line WHERE seq > ?').run(last - 2);
  const hash = createHash('sha256')
    .update(row?.['bytes'] as Uint8Array)
    .digest('base64url');
  database.prepare('UPDATE store SET seq = ?, hash = ?, mark = NULL').run(last - 2, hash);
  database.close();
  expect(await refusal(usual())).toMatch(/^hob: the ledger of this store is not as it was written, at line \d+: it is missing/); // biome-ignore format: one line
  expect(await cli('ledger', 'verify')).toMatchObject([1, expect.stringMatching(/NOT whole: line \d+: it is missing: the state was written with/)]); // biome-ignore format: one line
  rmSync(at('state'), { recursive: true });
  expect(await refusal(usual())).toMatch(/^hob: this store was emptied: its sentinel saw \d+ commits in this folder/);
  // A person who wants a new state there removes the sentinel, too. A place that answers nothing stops nothing.
  rmSync(at('xdg/hob/sentinels'), { recursive: true });
  const deaf = start([...usual(), '--checkpoints', 'http://127.0.0.1:1/hook?token=geheim']);
  await readiness(deaf);
  expect(await deaf.stop()).toBe(0);
  expect(deaf.lines.filter((line) => line.includes('127.0.0.1:1'))).toEqual([expect.stringMatching(/^hob: a checkpoint of the ledger could not be sent/)]); // biome-ignore format: one line
  expect(deaf.lines.join('\n')).not.toContain('geheim');
});

test('old lines are dropped while no host runs, if the sentinel is found; the state still starts, and the rest of the ledger verifies', async () => {
  const sentinel = at('xdg/hob/sentinels');
  const cli = async (...args: readonly string[]): Promise<readonly [code: number | string, said: string]> => {
    const program = new Program('hob', [...args, '--state', at('state')], { stdin: `${secret}\n` });
    programs.push(program);
    return [await program.ended, program.lines.join('\n')];
  };
  let secret = '';
  // In 2001.
  mkdirSync(at('state'), { mode: 0o700 });
  const store = await openStore({ path: at('state'), sentinel });
  const vats = await openVats({ store, clock: testClock({ wall: 1_000_000_000_000 }) });
  await vats.vat('v').turn(() => ledgerLine('call', {}));
  await vats.close();
  await store.close();
  const first = start(usual());
  ({
    granter: { secret },
  } = await readiness(first));
  expect(await cli('ledger', 'retain', '--days', '1')).toMatchObject([
    1,
    expect.stringMatching(/^hob: a host is running/),
  ]);
  await first.stop();
  for (const days of [[], ['--days', '0'], ['--days', 'x']])
    expect(await cli('ledger', 'retain', ...days)).toMatchObject([1, expect.stringMatching(/^hob: say how many days/)]);
  const elsewhere = await cli('ledger', 'retain', '--days', '1', '--sentinel', at('elsewhere'));
  expect(elsewhere).toMatchObject([1, expect.stringMatching(/^hob: the sentinel of this state is not in its folder/)]);
  const dropped = await cli('ledger', 'retain', '--days', '1', '--by', 'Ada \u202e');
  expect(dropped).toMatchObject([0, expect.stringMatching(/^dropped 1 lines: the ledger continues at line 3/)]);
  expect(await cli('ledger', 'verify')).toMatchObject([0, expect.stringMatching(/^lines 2 to 2 were dropped by "Ada [^\u202e]*" on 20/m)]); // biome-ignore format: one line
  expect((await cli('ledger', 'export', at('stopped.jsonl')))[0]).toBe(0);
  expect((await cli('ledger', 'verify', at('stopped.jsonl')))[0]).toBe(0);
  expect(await cli('ledger', 'retain', '--days', '1')).toMatchObject([
    0,
    expect.stringMatching(/^nothing was dropped/),
  ]);
  const second = start(usual());
  await readiness(second);
  expect(second.lines.filter(saysPutBack)).toEqual([]);
  expect((await cli('ledger', 'export', at('running.jsonl')))[0]).toBe(0);
  expect((await cli('ledger', 'verify', at('running.jsonl')))[0]).toBe(0);
  expect((await cli('ledger', 'verify'))[0]).toBe(0);
});
