/** The verbs of a granter, as processes: what they do to a real session, what they print, and how they end. */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, E } from '@hob/vat';
import { expect } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import { type HobHome, hobHome, type Running, resolveHook } from '../../../test/hob.ts';
import { shapeFault } from '../../../test/shape.ts';
import { verbs } from '../../verbs.ts';

const test = requires('linux');

const MANIFEST = `version: 1
roots: { project: project }
session:
  deadline: 8h
  caps:
    src: { fs: project/src, can: [read, list], uses: 50, for: 1h }
    notes: { fs: project/src, can: [read, list] }
  ask:
    edit: { fs: project/src, can: [read, write], offer: { uses: 20, for: 1h } }
children:
  reviewer: { give: [notes] }
`;

/** Each line of its input is a call: whose session, the name of a cap, a method, its arguments. */
const CALLER = `
import '@hob/vat/lockdown';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { connect, E } from '@hob/vat';
const { HOB_URL, HOB_SECRET_FILE, HOB_CHILDREN = '{}' } = process.env;
const files = { me: HOB_SECRET_FILE, ...JSON.parse(HOB_CHILDREN) };
const entered = {};
const enter = async (who) => (entered[who] ??= await connect(HOB_URL, { secret: readFileSync(files[who], 'utf8').trim() })).bootstrap;
console.log('ready');
let n = 0;
for await (const line of createInterface({ input: process.stdin })) {
  const [who, cap, method, ...args] = line.split(' ');
  const number = (n += 1);
  // A call that waits for a person does not hold up the next line.
  enter(who)
    .then((session) => E(E(session).cap(cap))[method](...args))
    .then((result) => console.log(number, 'ok', JSON.stringify(result)), (error) => console.log(number, error.code));
}
process.exit(0);
`;

interface Called {
  readonly running: Running;
  /** Calls, and returns the outcome. */
  call(line: string): Promise<string>;
  /** Calls, and does not wait for the outcome. */
  ask(line: string): void;
}

async function caller(hob: HobHome): Promise<Called> {
  writeFileSync(join(hob.folder, 'caller.mjs'), CALLER);
  const running = hob.start('start', '--', process.execPath, '--import', resolveHook, join(hob.folder, 'caller.mjs'));
  await running.shows(/ready/);
  let count = 0;
  const ask = (line: string): number => {
    running.child.stdin!.write(`${line}\n`);
    count += 1;
    return count;
  };
  return {
    running,
    ask,
    async call(line) {
      const number = ask(line);
      await running.shows(new RegExp(`^${number} .*$`, 'm'));
      return new RegExp(`^${number} (.*)$`, 'm').exec(running.out)![1]!;
    },
  };
}

interface Row {
  readonly id: string;
  readonly cap: string;
  readonly state: string;
  readonly session: string;
  readonly until: number;
  readonly usesLeft?: number;
  readonly parent?: string;
}

/** The JSON of a verb, after it was held against the shape in the verb's help. */
async function shaped<T>(hob: HobHome, name: string, ...args: readonly string[]): Promise<T> {
  const verb = verbs.find((each) => each.name === name)!;
  const value = await hob.json<T>(...name.split(' '), ...args);
  expect(shapeFault(verb.json!, value), `${name}: ${JSON.stringify(value)}`).toBeUndefined();
  return value;
}

const grants = async (hob: HobHome): Promise<Readonly<Record<string, Row>>> =>
  Object.fromEntries((await shaped<readonly Row[]>(hob, 'list', '--all')).map((row) => [row.id, row]));

/** No line of a mistake has a stack. */
async function refused(hob: HobHome, pattern: RegExp, ...args: readonly string[]): Promise<void> {
  const { code, out, err } = await hob.run(...args);
  expect([args, code, out, err]).toEqual([args, 1, '', expect.stringMatching(pattern)]);
  expect(err).toMatch(/^hob: [^\n]+\n$/);
}

test('renew lets a live grant last longer, also past its first end; one that was revoked is not brought back', async () => {
  const hob = hobHome(MANIFEST);
  await hob.serve();
  const { call } = await caller(hob);
  const before = (await grants(hob))['G1']!;
  expect(before).toMatchObject({ cap: 'src', session: 'S1', usesLeft: 50 });
  const renewed = await shaped<Row>(hob, 'renew', 'G1', '--for', '3h');
  expect(renewed).toMatchObject({ id: 'G1', state: 'live', usesLeft: 50 });
  expect(renewed.until).toBeGreaterThan(before.until + 3_600_000);
  expect((await grants(hob))['G1']!.until).toBe(renewed.until);
  expect(await call('me src readText a.txt')).toBe('ok "one\\n"');
  expect((await hob.run('revoke', 'G1')).out).toBe('revoked G1\n');
  await refused(hob, /^hob: /, 'renew', 'G1', '--for', '3h');
  expect(await call('me src readText a.txt')).toBe('revoked');
  await refused(hob, /there is no grant G99: hob list shows them/, 'renew', 'G99', '--for', '3h');
  await refused(hob, /90 days|at most/, 'renew', 'G2', '--for', '91d');
}, 400_000);

test('give hands a grant to a child with narrower limits; the child uses it, and it ends with the grant of its parent', async () => {
  const hob = hobHome(MANIFEST);
  await hob.serve();
  const { call } = await caller(hob);
  expect(await call('reviewer src readText a.txt')).toBe('no-such-object');
  const given = await shaped<Row>(hob, 'give', 'G1', '--to', 'S1/reviewer', '--as', 'part', '--uses', '2');
  expect(given).toMatchObject({ cap: 'part', session: 'S2', usesLeft: 2, parent: 'G1', state: 'live' });
  expect(await call('reviewer part readText a.txt')).toBe('ok "one\\n"');
  expect((await grants(hob))[given.id]).toMatchObject({ usesLeft: 1 });
  // Whatever limits it is given, those of its parent hold, too.
  const much = await shaped<Row>(hob, 'give', 'G1', '--to', 'S2', '--as', 'much', '--uses', '5000');
  expect(much.usesLeft).toBe((await grants(hob))['G1']!.usesLeft);
  expect((await hob.run('narrow', 'G1', '--uses', '1')).code).toBe(0);
  expect(await call('reviewer much readText a.txt')).toMatch(/^ok/);
  expect(await call('reviewer much readText a.txt')).toBe('exhausted');
  await refused(hob, /there is no session S1\/nobody: hob sessions lists them/, 'give', 'G1', '--to', 'S1/nobody');
  await refused(hob, /^hob: /, 'give', 'G1', '--to', 'S1');
  expect((await hob.run('revoke', 'G1')).code).toBe(0);
  expect(await call('reviewer part readText a.txt')).toBe('revoked');
}, 400_000);

test('narrow takes uses, time and methods away while the grant is in use, and never gives any', async () => {
  const hob = hobHome(MANIFEST);
  await hob.serve();
  const { call } = await caller(hob);
  expect(await shaped<Row>(hob, 'narrow', 'G1', '--uses', '3', '--for', '10m')).toMatchObject({ usesLeft: 3 });
  const { until } = (await grants(hob))['G1']!;
  expect(until).toBeLessThanOrEqual(Date.now() + 600_000);
  expect(await shaped<Row>(hob, 'narrow', 'G1', '--uses', '9', '--for', '5h')).toMatchObject({ usesLeft: 3, until });
  await shaped<Row>(hob, 'narrow', 'G1', '--methods', 'list');
  expect(await call('me src readText a.txt')).toMatch(/^(?:denied|no-such-method|not-granted|E_\w+)$/);
  expect(await call('me src list .')).toMatch(/^ok /);
  // A method that was taken away does not come back.
  await hob.run('narrow', 'G1', '--methods', 'list,readText');
  expect(await call('me src readText a.txt')).not.toMatch(/^ok/);
}, 400_000);

test('revoke ends one grant, those of a session with its children, or all, and says what it did', async () => {
  const hob = hobHome(MANIFEST);
  await hob.serve();
  const one = await caller(hob);
  const other = await caller(hob);
  expect(await shaped(hob, 'sessions')).toMatchObject([{ id: 'S1' }, { id: 'S2', parent: 'S1' }, { id: 'S3' }, {}]);
  expect(await shaped(hob, 'revoke', 'G1')).toEqual({ revoked: 'G1' });
  expect(await one.call('me src readText a.txt')).toBe('revoked');
  expect(await one.call('me notes readText a.txt')).toMatch(/^ok/);
  expect(await shaped(hob, 'revoke', '--session', 'S1')).toEqual({ revoked: 'S1' });
  expect(await one.call('me notes readText a.txt')).toBe('revoked');
  expect(await one.call('reviewer notes readText a.txt')).toBe('revoked');
  expect(await other.call('me src readText a.txt')).toMatch(/^ok/);
  expect((await hob.run('revoke', '--all')).out).toBe('revoked all\n');
  expect(await other.call('me src readText a.txt')).toBe('revoked');
  expect(await hob.json('list')).toEqual([]);
  expect((await hob.run('list')).err).toBe('no live grants\n');
  await refused(hob, /there is no session S77/, 'revoke', '--session', 'S77');
  // The sessions themselves go on.
  expect(await hob.json<readonly unknown[]>('sessions')).toHaveLength(4);
}, 400_000);

test('end ends a session with its children and its grants; its agent holds nothing any more', async () => {
  const hob = hobHome(MANIFEST);
  await hob.serve();
  const { call, running } = await caller(hob);
  expect(await call('me src readText a.txt')).toMatch(/^ok/);
  expect(await call('reviewer notes readText a.txt')).toMatch(/^ok/);
  expect(await shaped(hob, 'end', 'S1')).toEqual({ ended: 'S1' });
  expect(await hob.json('sessions')).toEqual([]);
  expect(await call('me src readText a.txt')).not.toMatch(/^ok/);
  expect(await call('reviewer notes readText a.txt')).not.toMatch(/^ok/);
  await refused(hob, /there is no session S1: hob sessions lists them/, 'end', 'S1');
  // That the session has ended already is no fault of hob start.
  running.child.stdin!.end();
  expect(await running.ended).toBe(0);
  expect(running.err).toBe('hob: session S1\n');
}, 400_000);

test('inbox, grant and refuse print the shapes of their help', async () => {
  const hob = hobHome(MANIFEST);
  await hob.serve();
  const { ask, running } = await caller(hob);
  expect(await shaped(hob, 'inbox')).toEqual([]);
  ask('me edit write a.txt two');
  await hob.until(
    () => hob.json<readonly unknown[]>('inbox'),
    ({ length }) => length === 1,
  );
  expect(await shaped(hob, 'inbox')).toMatchObject([
    { id: 'R1', kind: 'grant', session: 'S1', waiting: true, leftMs: expect.toSatisfy(Number.isInteger) },
  ]);
  expect(await shaped(hob, 'inbox', 'R1')).toMatchObject([{ id: 'R1' }]);
  expect(await shaped(hob, 'grant', 'R1', '--uses', '1')).toEqual({ request: 'R1', granted: true });
  await running.shows(/^1 ok/m);
  ask('me edit write a.txt three');
  await hob.until(
    () => hob.json<readonly unknown[]>('inbox'),
    ({ length }) => length === 1,
  );
  expect(await shaped(hob, 'refuse', 'R2', 'not', 'now')).toEqual({ request: 'R2' });
  await running.shows(/^2 denied/m);
  await refused(hob, /no request R2 waits/, 'grant', 'R2');
  expect(readFileSync(join(hob.folder, 'config/project/src/a.txt'), 'utf8')).toBe('two');
  expect(await shaped(hob, 'status')).toMatchObject({ sessions: 2, requests: 0, mode: 'cautious' });
  expect((await hob.run('status')).out).toMatch(/^process \d+ serves \S+hob\.yaml, in the mode cautious, since .*\nsessions: 2; /); // biome-ignore format: one line
}, 400_000);

test('the ledger is shown by grant, by session and by reason, followed, exported whole, and checked', async () => {
  const hob = hobHome(MANIFEST);
  await hob.serve();
  const { call } = await caller(hob);
  const follow = hob.start('ledger', 'show', '--follow', '--json');
  const kept = join(hob.folder, 'ledger.jsonl');
  expect(await call('me notes readText a.txt')).toMatch(/^ok/);
  expect(await call('me src readText a.txt')).toMatch(/^ok/);
  await follow.shows(/"method":"readText".*\n(?:.*\n)*.*"method":"readText"/);
  follow.child.kill('SIGINT');
  const lines = async (...args: readonly string[]): Promise<readonly string[]> =>
    (await hob.run('ledger', 'show', ...args)).out.trimEnd().split('\n');
  const all = await lines();
  const ofGrant = await lines('--grant', 'G1');
  expect(ofGrant.length).toBeGreaterThan(1);
  for (const line of ofGrant) expect(line).toMatch(/ {2}grant=G1\b/);
  expect(ofGrant.some((line) => /method=readText/.test(line))).toBe(true);
  for (const line of await lines('--session', 'S2')) expect(line).toMatch(/ {2}session=S2\b/);
  const call1 = all.find((line) => /method=readText/.test(line) && /grant=G1\b/.test(line))!;
  const behind = await lines('--why', call1.split(' ')[0]!);
  expect(behind.at(-1)).toBe(call1);
  expect(behind.some((line) => / {2}grant {2}/.test(line) && /grant=G1\b/.test(line))).toBe(true);
  expect(behind.every((line) => !/grant=G2\b/.test(line))).toBe(true);
  await refused(hob, /there is no line E99999 of your sessions/, 'ledger', 'show', '--why', 'E99999');
  await refused(hob, /no line of your sessions names S99/, 'ledger', 'show', '--session', 'S99');

  expect((await hob.run('ledger', 'export', kept)).out).toMatch(/^wrote \d+ lines\n$/);
  expect(statSync(kept).mode & 0o777).toBe(0o600);
  const exported = readFileSync(kept, 'utf8').trimEnd().split('\n');
  const show = verbs.find(({ name }) => name === 'ledger show')!;
  for (const line of exported) expect(shapeFault(show.json!, JSON.parse(line)), line).toBeUndefined();
  expect(exported.length).toBeGreaterThanOrEqual(all.length);
  expect((await hob.run('ledger', 'export')).out.split('\n').slice(0, exported.length)).toEqual(exported);
  expect(await shaped(hob, 'ledger verify')).toMatchObject({ ok: true });
  // No other list has a session or grant that has ended. Their lines are still found by the ids that the ledger shows.
  const ofSession = await lines('--session', 'S1');
  expect((await hob.run('end', 'S1')).code).toBe(0);
  expect((await lines('--session', 'S1')).slice(0, ofSession.length)).toEqual(ofSession);
  expect((await lines('--grant', 'G1')).slice(0, ofGrant.length)).toEqual(ofGrant);
  // Nothing in it is a secret.
  expect(exported.join('\n') + all.join('\n')).not.toMatch(/hob1_/);
}, 400_000);

test('a sturdyref is made with limits, listed and rotated; its secret goes to a new file and nowhere else', async () => {
  const hob = hobHome(MANIFEST);
  await hob.serve();
  await caller(hob);
  const file = join(hob.folder, 'notes.secret');
  // Nobody could be handed the secret: none is made.
  await refused(hob, /a secret is shown on a terminal only/, 'sturdyref', 'mint', 'S1', 'notes');
  expect(await shaped(hob, 'sturdyref list')).toEqual([]);
  const made = await shaped<Row>(hob, 'sturdyref mint', 'S1', 'notes', '--uses', '2', '--secret-to', file);
  expect(made).toMatchObject({ session: 'S1', usesLeft: 2, state: 'live' });
  expect(await shaped(hob, 'sturdyref list')).toEqual([made]);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const first = readFileSync(file, 'utf8').trim();
  const read = async (secret: string): Promise<string> => {
    const { url } = await hob.json<{ readonly url: string }>('status');
    const { bootstrap, close, closed } = await connect<{ readText(path: string): string }>(url, { secret });
    try {
      return await E(bootstrap).readText('a.txt');
    } finally {
      close();
      await closed;
    }
  };
  expect(await read(first)).toBe('one\n');
  await refused(hob, /is there already|exists|another/, 'sturdyref', 'rotate', made.id, '--secret-to', file);
  const other = join(hob.folder, 'other.secret');
  expect(await shaped(hob, 'sturdyref rotate', made.id, '--secret-to', other)).toEqual({ rotated: made.id });
  expect(await read(readFileSync(other, 'utf8').trim())).toBe('one\n');
  await expect(read(first)).rejects.toMatchObject({ code: 'denied' });
  const { out } = await hob.run('ledger', 'show');
  expect(out).not.toMatch(/hob1_/);
}, 400_000);

test('the ledger of a state that nobody serves is checked, exported and cut; a served one is not cut', async () => {
  const hob = hobHome(MANIFEST);
  const host = await hob.serve();
  await refused(hob, /a host is running on this state/, 'ledger', 'retain', '--days', '1');
  host.child.kill('SIGKILL');
  await host.ended;
  expect(await shaped(hob, 'ledger verify')).toMatchObject({ ok: true });
  const kept = join(hob.folder, 'all.jsonl');
  expect((await hob.run('ledger', 'export', kept)).out).toMatch(/^wrote \d+ lines\n$/);
  expect(await shaped(hob, 'ledger verify', kept)).toMatchObject({ ok: true });
  // One letter of the exported file is another.
  const text = readFileSync(kept, 'utf8');
  writeFileSync(kept, text.replace('"k":"granter"', '"k":"grantor"').replace(/"t":(\d)/, (_, digit) => `"t":${9 - Number(digit)}`)); // biome-ignore format: one line
  expect((await hob.run('ledger', 'verify', kept)).code).toBe(1);
  await refused(hob, /that file holds no checkpoint/, 'ledger', 'verify', '--against', kept);
  await refused(hob, /say how many days of the ledger stay/, 'ledger', 'retain');
  expect(await shaped(hob, 'ledger retain', '--days', '30')).toEqual({ said: ['nothing was dropped: no checkpoint is older than 30 days'] }); // biome-ignore format: one line
}, 400_000);
