/** Ten MCP servers from npm, each in the sandbox without a network, with its tools as caps of a real host. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openFsCap } from '@hob/caps-fs';
import { openHost, type SessionFace } from '@hob/host';
import { connect, E, type Far } from '@hob/vat';
import { expect, onTestFinished } from 'vitest';
import { MCP_SERVERS } from '../../../../test/mcp-servers.ts';
import { requires } from '../../../../test/needs.ts';
import { code, scratch, textOf } from '../../test/servers/world.ts';
import { definitions, makeTools, openServer, type ToolCap, type ToolResult } from './index.ts';

const test = requires('linux', 'cc', 'userns', 'mcpServers');

interface Real {
  readonly name: string;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly tools: readonly string[];
  /** Calls with their arguments, and what the result has to match. */
  readonly calls: readonly (readonly [tool: string, args: object, said: RegExp])[];
}

/** What a server says that dials out, in its own words. */
const NO_NETWORK = /fetch failed|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ENETUNREACH|getaddrinfo/;

const REAL: readonly Real[] = [
  {
    name: 'filesystem',
    args: ['/data'],
    tools: ['read_text_file', 'write_file'],
    calls: [
      ['read_text_file', { path: '/data/a.txt' }, /^one$/],
      ['write_file', { path: '/data/b.txt', content: 'two' }, /Successfully/],
      ['read_text_file', { path: '/etc/passwd' }, /denied/],
    ],
  },
  {
    name: 'memory',
    env: { MEMORY_FILE_PATH: '/data/memory.jsonl' },
    tools: ['create_entities', 'search_nodes'],
    calls: [
      ['create_entities', { entities: [{ name: 'Hob', entityType: 'host', observations: ['holds caps'] }] }, /Hob/],
      ['search_nodes', { query: 'caps' }, /holds caps/],
    ],
  },
  {
    name: 'everything',
    tools: ['echo', 'get-sum', 'get-env'],
    calls: [
      ['echo', { message: 'hello' }, /hello/],
      ['get-sum', { a: 2, b: 3 }, /5/],
      ['get-env', {}, /^(?![\s\S]*AMBIENT)[\s\S]*HOME/],
    ],
  },
  {
    name: 'sequential-thinking',
    tools: ['sequentialthinking'],
    calls: [
      [
        'sequentialthinking',
        { thought: 'one', nextThoughtNeeded: false, thoughtNumber: 1, totalThoughts: 1 },
        /"thoughtNumber": ?1/,
      ],
    ],
  },
  { name: 'github', tools: ['search_repositories'], calls: [['search_repositories', { query: 'hob' }, NO_NETWORK]] },
  { name: 'gitlab', env: { GITLAB_PERSONAL_ACCESS_TOKEN: 'glpat-test' }, tools: ['search_repositories'], calls: [['search_repositories', { search: 'hob' }, NO_NETWORK]] }, // biome-ignore format: one line
  { name: 'google-maps', env: { GOOGLE_MAPS_API_KEY: 'test' }, tools: ['maps_geocode'], calls: [['maps_geocode', { address: 'here' }, NO_NETWORK]] }, // biome-ignore format: one line
  { name: 'brave-search', env: { BRAVE_API_KEY: 'test' }, tools: ['brave_web_search'], calls: [['brave_web_search', { query: 'hob' }, NO_NETWORK]] }, // biome-ignore format: one line
  { name: 'slack', env: { SLACK_BOT_TOKEN: 'xoxb-test', SLACK_TEAM_ID: 'T1' }, tools: ['slack_list_channels'], calls: [['slack_list_channels', {}, NO_NETWORK]] }, // biome-ignore format: one line
  {
    name: 'postgres',
    args: ['postgresql://127.0.0.1:1/db'],
    tools: ['query'],
    calls: [['query', { sql: 'select 1' }, NO_NETWORK]],
  },
];

/** What a call says, as a result or as the error of the server. */
async function saidBy(call: unknown): Promise<string> {
  try {
    return textOf((await call) as ToolResult);
  } catch (error) {
    const { code: said, message } = error as { readonly code?: string; readonly message: string };
    if (said !== 'SERVER_ERROR') throw error;
    return message;
  }
}

test('there are ten of them', () => {
  expect(new Set(REAL.map(({ name }) => name)).size).toBe(10);
});

for (const { name, args = [], env = {}, tools, calls } of REAL)
  test(`${name} runs as caps`, async () => {
    process.env['HOB_TEST_AMBIENT'] = 'AMBIENT';
    const [data, stateDir] = [scratch(), mkdtempSync(join(tmpdir(), 'hob-real-'))];
    writeFileSync(join(data, 'a.txt'), 'one');
    const [packages, work] = [await openFsCap(MCP_SERVERS), await openFsCap(data)];
    const bin = JSON.parse(readFileSync(join(MCP_SERVERS, `node_modules/@modelcontextprotocol/server-${name}/package.json`), 'utf8')).bin; // biome-ignore format: one line
    const server = await openServer({
      name,
      program: process.execPath,
      args: [`/mcp/node_modules/@modelcontextprotocol/server-${name}/${Object.values(bin as object)[0]}`, ...args],
      mounts: { '/data': work, '/mcp': await packages.readOnly() },
      env,
    });
    const host = await openHost({ stateDir, definitions });
    onTestFinished(async () => {
      delete process.env['HOB_TEST_AMBIENT'];
      await host.close();
      await server.close();
      await Promise.all([packages.close(), work.close()]);
      rmSync(stateDir, { recursive: true, force: true });
    });
    const { granter } = await host.addGranter('owner');
    const session = await host.openSession({ name: 'work', granters: ['owner'] });
    const made = await makeTools(host, server, { key: name, tools });
    for (const [n, tool] of tools.entries()) {
      await host.offer(`tool-${n}`, made[tool]?.cap as object);
      await E(granter).grant(session.id, `tool-${n}`, `tool-${n}`, { scope: 'session' });
    }
    const { url } = await host.serve();
    const connection = await connect<SessionFace>(url, { secret: session.secret });
    onTestFinished(() => connection.close());
    const cap = (tool: string): Far<ToolCap> => E(connection.bootstrap).cap<ToolCap>(`tool-${tools.indexOf(tool)}`) as unknown as Far<ToolCap>; // biome-ignore format: one line
    for (const [tool, given, said] of calls)
      expect([tool, await saidBy(E(cap(tool)).call(given))]).toEqual([tool, expect.stringMatching(said)]);
    for (const tool of tools)
      expect(await E(cap(tool)).describe()).toMatchObject({ server: name, tool, suspended: false });
    expect(await code(E(connection.bootstrap).cap('tool-9') as never)).toBe('no-such-object');
    expect(server.starts).toBe(1);
  });
