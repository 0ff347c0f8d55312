/** What a host gets of this machine, with a scripted host in place of a real one. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { RECIPES, recipeOf } from '../all.ts';
import { claude } from '../claude.ts';
import { VERBS } from '../our-verbs.ts';
import { FOREIGN_TOOL, runRecipe } from './run.ts';

/** It says what it was given, offers its model the tools that its last argument names, and then waits to be ended. */
const HOST = `
const { readFileSync, readdirSync, statSync, writeFileSync } = require('node:fs');
const [report, tools] = process.argv.slice(-2);
const at = process.cwd();
const config = process.argv[process.argv.indexOf('--mcp-config') + 1];
const server = JSON.parse(readFileSync(config, 'utf8')).mcpServers.hob;
const secretFile = server.args.at(-1);
const told = { at, files: readdirSync(at), mode: statSync(at).mode & 0o777, env: process.env, server, secret: readFileSync(secretFile, 'utf8').trim(), secretMode: statSync(secretFile).mode & 0o777 };
const body = JSON.stringify({ tools: tools.split(',').map((name) => ({ name })), messages: [] });
const call = async (text) => (await fetch(process.env.ANTHROPIC_BASE_URL + '/v1/messages', { method: 'POST', headers: { 'x-api-key': process.env.ANTHROPIC_API_KEY }, body: text })).status;
writeFileSync(report, JSON.stringify(told));
call(body).then((status) => {
  if (status === 200) process.exit(7);
  setInterval(() => {}, 1000);
});
`;

interface Scene {
  readonly state: string;
  readonly got: string[];
  readonly said: string[];
  /** What the host was given, as it says. */
  told(): Readonly<Record<string, unknown>>;
  run(tools: readonly string[], program?: string): Promise<number>;
}

async function scene(): Promise<Scene> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'hob-run-')));
  const got: string[] = [];
  const model = createServer((request, response) => {
    got.push(`${request.url} ${request.headers['x-api-key']}`);
    response.sendDate = false;
    response.end('{}');
  });
  await new Promise<void>((done) => model.listen(0, '127.0.0.1', done));
  process.env['ANTHROPIC_API_KEY'] = 'key-of-the-person';
  process.env['OTHER_SECRET'] = 'not for the host';
  process.env['HTTPS_PROXY'] = 'http://127.0.0.1:9';
  onTestFinished(async () => {
    for (const name of ['ANTHROPIC_API_KEY', 'OTHER_SECRET', 'HTTPS_PROXY']) delete process.env[name];
    model.closeAllConnections();
    await new Promise((done) => model.close(done));
    rmSync(folder, { recursive: true });
  });
  mkdirSync(join(folder, 'state'));
  const [host, report] = ['host.cjs', 'report.json'].map((name) => join(folder, name)) as [string, string];
  writeFileSync(host, `#!${process.execPath}\n${HOST}`, { mode: 0o755 });
  const said: string[] = [];
  const { port } = model.address() as AddressInfo;
  return {
    state: join(folder, 'state'),
    got,
    said,
    told: () => JSON.parse(readFileSync(report, 'utf8')),
    run: (tools, program = host) =>
      runRecipe(claude, {
        words: [program, report, tools.join(',')],
        state: join(folder, 'state'),
        entry: { url: 'ws://127.0.0.1:1', secret: 'session-secret' },
        server: ['hob', 'mcp'],
        verbs: VERBS,
        upstream: new URL(`http://127.0.0.1:${port}`),
        say: (text) => said.push(text),
      }),
  };
}

test('the host starts in an empty directory in the state, with a home of its own, and with the keys of its model alone', async () => {
  const { run, told, state, got, said } = await scene();
  expect(await run(['mcp__hob__read', 'mcp__hob__write'])).toBe(7);
  const { at, files, mode, env, server, secret, secretMode } = told() as { at: string; files: string[]; mode: number; env: Record<string, string>; server: object; secret: string; secretMode: number }; // biome-ignore format: one line
  expect(at.startsWith(`${state}/agents/run-`)).toBe(true);
  expect({ files, mode, secret, secretMode }).toEqual({ files: [], mode: 0o500, secret: 'session-secret', secretMode: 0o600 }); // biome-ignore format: one line
  const folder = at.replace(/\/empty$/, '');
  expect(server).toEqual({ type: 'stdio', command: 'hob', args: ['mcp', '--url', 'ws://127.0.0.1:1', '--secret-file', `${folder}/session`] }); // biome-ignore format: one line
  expect(env).toMatchObject({ HOME: `${folder}/home`, TMPDIR: `${folder}/home/tmp`, ANTHROPIC_API_KEY: 'key-of-the-person' }); // biome-ignore format: one line
  expect(Object.keys(env).filter((name) => !/^(?:PATH|TERM|COLORTERM|NO_COLOR|TZ|LANG|LC_\w+|HOME|TMPDIR|ANTHROPIC_\w+|CLAUDE_\w+|DISABLE_AUTOUPDATER|MCP_\w+|PWD)$/.test(name))).toEqual([]); // biome-ignore format: one line
  expect(JSON.stringify(env)).not.toMatch(/session-secret|not for the host/);
  expect(got).toEqual(['/v1/messages key-of-the-person']);
  expect(said).toEqual([]);
  expect(readdirSync(join(state, 'agents'))).toEqual([]);
});

test('a host that offers a tool of its own is ended with a message and the exit code 125', async () => {
  const { run, told, state, got, said } = await scene();
  expect(await run(['mcp__hob__read', 'Bash', 'mcp__other__read'])).toBe(FOREIGN_TOOL);
  expect(told()['files']).toEqual([]);
  expect(got).toEqual([]);
  expect(said).toEqual([expect.stringMatching(/^hob: claude offered its model tools that are not Hob’s: "Bash", "mcp__other__read"\. .*2\.1\.197/)]); // biome-ignore format: one line
  expect(said.join()).not.toMatch(/key-of-the-person/);
  expect(readdirSync(join(state, 'agents'))).toEqual([]);
});

test('a host that is not there is a mistake, and leaves nothing', async () => {
  const { run, state } = await scene();
  await expect(run([], '/no/such/host')).rejects.toThrow(/cannot be run/);
  expect(readdirSync(join(state, 'agents'))).toEqual([]);
});

test('no recipe hands a variable of ours, a proxy or a secret to its host; each has its wire, its version and its reasons', () => {
  for (const recipe of RECIPES) {
    expect(recipeOf(recipe.name)).toBe(recipe);
    expect(recipe.keys.every((key) => /_(?:KEY|TOKEN)$/.test(key))).toBe(true);
    expect(recipe.version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(recipe.closes.length).toBeGreaterThan(2);
    const { files, env, args } = recipe.setUp({ home: '/h', start: '/s', model: 'http://127.0.0.1:1/p', modelName: 'm', server: ['/bin/hob', 'mcp'] }); // biome-ignore format: one line
    const all = JSON.stringify({ files, env, args });
    expect(all).toContain('/bin/hob');
    expect(all).toContain('http://127.0.0.1:1/p');
    expect(Object.keys(env).filter((name) => /PROXY|^HOB_|^NODE_|^PATH$|^HOME$/.test(name))).toEqual([]);
  }
  expect(() => recipeOf('cursor')).toThrow(/there are claude, /);
  expect(existsSync('/h')).toBe(false);
});
