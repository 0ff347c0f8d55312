/**
 * `hob serve` with an http cap and a secret, as processes: an agent fetches, and never learns the secret.
 *
 * The secret is looked for in every output, log, error, line of the ledger, file of the home, and entry of /proc of
 * the host and the agent, raw and in the encodings in which it could lie there.
 */
import { execFile } from 'node:child_process';
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { type HobHome, hobHome, resolveHook } from '../../test/hob.ts';
import { web } from '../../test/web.ts';

const test = requires('linux', 'prlimit');

const FIRST = 'INTIMATE-first/value+1';
const SECOND = 'INTIMATE-second/value+2';

/** Fetches once for each line that it gets, prints all that it sees, and its own environment. */
const AGENT = `
import '@hob/vat/lockdown';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { connect, E } from '@hob/vat';
const secret = readFileSync(process.env.HOB_SECRET_FILE, 'utf8').trim();
const { bootstrap: session, close } = await connect(process.env.HOB_URL, { secret });
console.log(JSON.stringify(process.env));
console.log(JSON.stringify(await E(session).holdings()));
for await (const line of createInterface({ input: process.stdin })) {
  if (line === 'end') break;
  const [method, path] = line.split(' ');
  const cap = E(session).cap('gh');
  const answer = method === 'GET' ? E(cap).getText(path) : E(cap).fetchText(path, { method, body: 'b' });
  await answer.then(
    (got) => console.log('answer', JSON.stringify(got)),
    (error) => console.log('answer', error.code, error.message, error.stack),
  );
}
close();
`;

/** The ways in which a value could lie somewhere. */
const forms = (value: string): readonly string[] => {
  const bytes = Buffer.from(value);
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(shift === 0 ? 0 : 4, -4),
  );
  return [value, encodeURIComponent(value), bytes.toString('hex'), bytes.toString('utf16le'), ...base64];
};
const found = (text: string): readonly string[] => [FIRST, SECOND].flatMap(forms).filter((form) => text.includes(form));

function bytesIn(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1')).join('\n');
}

/** What any process of the user reads of another one without being its debugger. */
function procOf(pid: number): string {
  const at = `/proc/${pid}`;
  const files = ['cmdline', 'environ', 'comm', 'maps', 'status', 'limits', 'net/unix', 'net/tcp'];
  const links = readdirSync(join(at, 'fd')).map((fd) => {
    try {
      return readlinkSync(join(at, 'fd', fd));
    } catch {
      return '';
    }
  });
  return [...files.map((file) => readFileSync(join(at, file), 'latin1')), ...links].join('\n');
}

async function setSecret(hob: HobHome, value: string): Promise<string> {
  const running = hob.start('secret', 'set', 'TOKEN');
  running.child.stdin?.end(value);
  expect(await running.ended).toBe(0);
  return running.out + running.err;
}

test('an agent fetches with a secret that it never sees, a new value works at once, and neither is anywhere but in the request', async () => {
  let fails = false;
  const got: string[] = [];
  const server = await web((request, response) => {
    got.push(String(request.headers.authorization));
    // A server that says all that it knows, in its status, headers and body, and then one that breaks.
    if (fails) return void request.socket.destroy();
    response.setHeader('x-seen', String(request.headers.authorization));
    response.end(`${request.headers.authorization} ${Buffer.from(String(request.headers.authorization)).toString('base64')}`); // biome-ignore format: one line
  });
  const hob = hobHome(`version: 1
roots: { project: project }
session:
  caps:
    gh: { http: "http://127.0.0.1:${server.port}/app/", methods: [GET, POST], secret: TOKEN, addresses: [127.0.0.1] }
`);
  const shown: string[] = [];
  const host = hob.start('serve', '--manifest', join(hob.folder, 'config/hob.yaml'));
  await host.shows(/see its requests/);
  expect(host.err).toContain('gh: the secret TOKEN is not stored');
  writeFileSync(join(hob.folder, 'agent.mjs'), AGENT);
  const agent = hob.start('start', '--', process.execPath, '--import', resolveHook, join(hob.folder, 'agent.mjs'));
  const answers = (): readonly string[] => agent.out.split('\n').filter((line) => line.startsWith('answer '));
  const fetched = async (line: string): Promise<string> => {
    const before = answers().length;
    agent.child.stdin?.write(`${line}\n`);
    await hob.until(
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return answers().length;
      },
      (count) => count > before,
    );
    return answers().at(-1) as string;
  };
  expect(await fetched('GET issues')).toContain('answer E_SECRET');
  shown.push(await setSecret(hob, FIRST));
  expect(await fetched('GET issues')).toContain('Bearer ⟦secret⟧');
  shown.push(await setSecret(hob, SECOND));
  expect(await fetched('GET issues')).toContain('Bearer ⟦secret⟧');
  expect(got).toEqual([`Bearer ${FIRST}`, `Bearer ${SECOND}`]);

  // A change waits; the person reads what will be sent, and no secret.
  const post = fetched('POST issues');
  const [asked] = await hob.until(
    () => hob.json<readonly { readonly id: string }[]>('inbox'),
    ({ length }) => length === 1,
  );
  shown.push((await hob.run('inbox', asked?.id as string)).out);
  expect(shown.at(-1)).toMatch(/sends +“POST” to the path “issues”/);
  expect((await hob.run('grant', asked?.id as string)).code).toBe(0);
  expect(await post).toContain('"status":200');

  fails = true;
  expect(await fetched('GET issues')).toContain('answer E_UNREACHABLE');
  const proc = [procOf(host.child.pid as number), procOf(agent.child.pid as number)];
  agent.child.stdin?.end('end\n');
  expect(await agent.ended).toBe(0);
  shown.push((await hob.run('ledger', 'show')).out, (await hob.run('ledger', 'export')).out, (await hob.run('explain', join(hob.folder, 'config/hob.yaml'))).out); // biome-ignore format: one line
  expect(shown.at(-2)).toContain('"method":"POST"');
  host.child.kill('SIGTERM');
  await host.ended;
  const everything = [agent.out, agent.err, host.out, host.err, ...shown, ...proc, bytesIn(hob.folder)];
  expect(everything.flatMap(found)).toEqual([]);
  // The search finds what it looks for.
  expect(found(`x${Buffer.from(`Bearer ${FIRST}`).toString('base64')}`)).not.toEqual([]);
}, 240_000);

/** The memory of a process, as its debugger reads it. */
function memoryOf(pid: number): Buffer {
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  try {
    const parts = readFileSync(`/proc/${pid}/maps`, 'latin1')
      .split('\n')
      .flatMap((line) => {
        const [, from, to] = /^([0-9a-f]+)-([0-9a-f]+) rw/.exec(line) ?? [];
        if (from === undefined || to === undefined) return [];
        const [begin, end] = [BigInt(`0x${from}`), BigInt(`0x${to}`)];
        if (end - begin > 1n << 28n) return [];
        const bytes = Buffer.alloc(Number(end - begin));
        try {
          return [bytes.subarray(0, readSync(memory, bytes, 0, bytes.length, begin))];
        } catch {
          return [];
        }
      });
    return Buffer.concat(parts);
  } finally {
    closeSync(memory);
  }
}

test('a core file of a host that has a secret in its memory has nothing of that memory', async () => {
  const server = await web((_request, response) => response.end('ok'));
  const hob = hobHome(`version: 1
roots: { project: project }
session:
  caps:
    gh: { http: "http://127.0.0.1:${server.port}/app/", methods: [GET], secret: TOKEN, addresses: [127.0.0.1] }
`);
  const host = hob.start('serve', '--manifest', join(hob.folder, 'config/hob.yaml'));
  await host.shows(/see its requests/);
  await setSecret(hob, FIRST);
  const pid = host.child.pid as number;
  expect(memoryOf(pid).includes(FIRST)).toBe(true);
  expect(readFileSync(`/proc/${pid}/coredump_filter`, 'utf8')).toMatch(/^0+\n$/);
  await promisify(execFile)('prlimit', ['--pid', String(pid), '--core=1073741824']);
  host.child.kill('SIGABRT');
  expect(await host.ended).toBe('SIGABRT');
  // Where core files go is a setting of the machine. If they stay here, this one is looked through.
  const cores = readdirSync(hob.folder).filter((name) => name.startsWith('core'));
  if (readFileSync('/proc/sys/kernel/core_pattern', 'utf8').trim() === 'core') expect(cores).toHaveLength(1);
  for (const core of cores) expect(found(readFileSync(join(hob.folder, core), 'latin1'))).toEqual([]);
}, 120_000);
