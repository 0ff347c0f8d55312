/** A box holds what runs in it, however it ends. The host here is a program of ours that is named codex. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import { processesWith } from '../../../test/agents/scene.ts';
import { type HobHome, hobHome, Running } from '../../../test/hob.ts';

const test = requires('linux', 'cc', 'userns');

const MANIFEST = `version: 1
roots: { project: project }
session:
  deadline: 8h
  mode: autonomous
  caps:
    src: { fs: project/src, can: [read, list, write] }
    all: { fs: project, can: [read, list] }
    some: { fs: project/some, can: [read, list], except: [".env"] }
    few: { fs: project/few, can: [read, list], uses: 3 }
`;

/** Looks at its world, asks its model what the words say, and then does as the first word says. */
const HOST = `
const fs = require('node:fs');
const [what, outside, body, past] = process.argv.slice(2);
const attempt = (act) => { try { return act(); } catch (error) { return error.code; } };
const base = /base_url = "(.*)"/.exec(fs.readFileSync(process.env.CODEX_HOME + '/config.toml', 'utf8'))[1];
const report = {
  cwd: process.cwd(),
  env: process.env,
  top: fs.readdirSync('/'),
  outside: attempt(() => fs.readFileSync(outside, 'utf8')),
  own: attempt(() => fs.writeFileSync('made.txt', 'x')),
  all: attempt(() => fs.writeFileSync('/project/other.txt', 'x')),
  doors: fs.readdirSync('/.hob/doors').sort(),
  door: attempt(() => fs.writeFileSync('/.hob/doors/more', 'x')),
  seen: attempt(() => fs.readdirSync('/proc').filter((name) => /^\\d+$/.test(name)).length < 20),
};
(async () => {
  const post = async (address) => fetch(address, { method: 'POST', headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json' }, body }).then((answer) => answer.status, (error) => error.cause?.code ?? error.message);
  report.status = await post(base + '/responses');
  report.past = await post(past);
  console.log(JSON.stringify(report));
  if (what === 'stay') setInterval(() => {}, 1000);
  else process.exit(7);
})();
`;

interface Scene {
  readonly home: HobHome;
  readonly got: string[];
  readonly outside: string;
  start(what: 'go' | 'stay', body?: object, ...options: readonly string[]): Running;
}

async function scene(): Promise<Scene> {
  const home = hobHome(MANIFEST);
  const got: string[] = [];
  const model = createServer((request, response) => {
    got.push(`${request.url} ${request.headers.authorization}`);
    response.sendDate = false;
    response.end('{}');
  });
  await new Promise<void>((done) => model.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    model.closeAllConnections();
    await new Promise((done) => model.close(done));
  });
  const bin = join(home.folder, 'node_modules/.bin');
  for (const folder of [bin, ...['some', 'few'].map((name) => join(home.folder, 'config/project', name))]) mkdirSync(folder, { recursive: true }); // biome-ignore format: one line
  writeFileSync(join(bin, 'codex'), `#!/usr/bin/env node\n${HOST}`, { mode: 0o755 });
  const outside = join(home.folder, 'outside.txt');
  writeFileSync(outside, 'secret of the machine');
  await home.serve();
  const url = `http://127.0.0.1:${(model.address() as AddressInfo).port}`;
  const env = { ...home.env, PATH: `${bin}:${home.env['PATH']}`, OPENAI_API_KEY: 'key-of-the-person', OTHER: 'secret' };
  return {
    home,
    got,
    outside,
    start(what, body = { tools: [{ type: 'function', name: 'shell' }] }, ...options) {
      const [node = '', ...args] = home.words;
      const line = ['start', '--box', '--model', 'm', '--model-url', url, ...options, '--', 'codex', what, outside, JSON.stringify(body), url]; // biome-ignore format: one line
      const running = new Running(node, [...args, ...line], env, home.folder);
      running.child.stdin?.end();
      home.track(running);
      return running;
    },
  };
}

const reportOf = (running: Running): Readonly<Record<string, unknown>> => JSON.parse(running.out.trim());

/** No session, no folder and no process of a run is left. */
async function nothingLeft({ home }: Scene): Promise<void> {
  await home.until(
    () => home.json<readonly unknown[]>('sessions'),
    (sessions) => sessions.length === 0,
  );
  while (processesWith('/.hob/home').length > 0) await new Promise((done) => setTimeout(done, 20));
}

test('a program in a box sees the directories that its session holds, and its model; no key, no secret and nothing else of the machine', async () => {
  const one = await scene();
  const running = one.start('go');
  expect(await running.ended, running.err).toBe(7);
  const { env, ...report } = reportOf(running) as { readonly env: Readonly<Record<string, string>> };
  expect(report).toMatchObject({
    ...{ cwd: '/project/src', outside: 'ENOENT', all: 'EROFS', doors: ['hob', 'model'], door: 'EROFS', seen: true, status: 200 },
    past: 'ECONNREFUSED',
  }); // biome-ignore format: one line
  expect((report as { readonly top?: readonly string[] }).top?.filter((name) => !/^(?:bin|sbin|lib\d*|libx32|usr|etc|dev|proc|tmp|opt|project|\.hob)$/.test(name))).toEqual([]); // biome-ignore format: one line
  expect(JSON.stringify(env)).not.toMatch(/key-of-the-person|"OTHER"|SECRET/);
  expect(env['OPENAI_API_KEY']).toMatch(/^hob-/);
  expect(readFileSync(join(one.home.folder, 'config/project/src/made.txt'), 'utf8')).toBe('x');
  expect(existsSync(join(one.home.folder, 'config/project/other.txt'))).toBe(false);
  expect(one.got).toEqual(['/responses Bearer key-of-the-person']);
  expect(running.err).toContain('the box sees /project (read-only), /project/src, its own home');
  expect(running.err).toMatch(/some is not in the box: .*except/);
  expect(running.err).toMatch(/few is not in the box: its calls are counted/);
  await nothingLeft(one);
  expect(readdirSync(join(one.home.folder, 'home/.local/state/hob/state/agents'))).toEqual([]);
});

test('a tool that the provider runs is not sent from a box, and the run goes on', async () => {
  const one = await scene();
  const running = one.start('go', { tools: [{ type: 'function', name: 'shell' }, { type: 'web_search' }] });
  expect(await running.ended).toBe(7);
  expect(reportOf(running)).toMatchObject({ status: 400 });
  expect(running.err).toMatch(/not sent: it has what the model’s provider would run: "web_search"/);
  expect(one.got).toEqual([]);
});

test('a box ends when one of its directories is revoked, when its session ends, and when hob start is killed', async () => {
  const one = await scene();
  const revoked = one.start('stay');
  await revoked.shows(/"status"/);
  const grants = await one.home.json<readonly { readonly id: string; readonly cap: string }[]>('list');
  expect((await one.home.run('revoke', grants.find(({ cap }) => cap === 'src')?.id ?? '')).code).toBe(0);
  // The box of the test before may still be ending.
  expect(processesWith('/.hob/home').filter((each) => each.includes('stay'))).toEqual([]);
  expect(await revoked.ended).toBe(137);

  const ended = one.start('stay');
  await ended.shows(/"status"/);
  const [session] = await one.home.json<readonly { readonly id: string }[]>('sessions');
  expect((await one.home.run('end', session?.id ?? '')).code).toBe(0);
  expect(await ended.ended).toBe(137);

  const killed = one.start('stay');
  await killed.shows(/"status"/);
  killed.child.kill('SIGKILL');
  await nothingLeft(one);
});

test('a box runs once, hosts that are known, and nothing outside of the sandbox', async () => {
  const one = await scene();
  const { code, err } = await one.home.run('start', '--box', '--', 'cursor');
  expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/a box runs agent hosts that Hob knows/) });
});
