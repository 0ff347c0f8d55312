/**
 * The clients of both SDKs drive every verb over both transports, as an agent host does: real processes, a real host.
 * The official inspector lists and calls.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client as NewerClient, StreamableHTTPClientTransport as NewerHttp } from '@modelcontextprotocol/client';
import { StdioClientTransport as NewerTransport } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport as OlderHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished } from 'vitest';
import { MCP_CHECKERS } from '../../../../test/mcp-servers.ts';
import { requires } from '../../../../test/needs.ts';
import { type HobHome, hobHome, Running } from '../../test/hob.ts';

const test = requires('linux', 'cc', 'userns');

const MANIFEST = `version: 1
roots: { project: project }
session:
  deadline: 8h
  caps:
    src: { fs: project/src, can: [read, list, search, write] }
    sh: { shell: sandbox, mounts: [src] }
  ask:
    more: { fs: project/src, can: [read, write], offer: { uses: 20, for: 1h } }
`;
/** It waits, as an agent would, and tells its configuration. */
const AGENT = `import { readFileSync } from 'node:fs';
console.log(readFileSync(process.env.HOB_MCP_CONFIG, 'utf8').replaceAll('\\n', ''));
process.stdin.resume();`;

interface HostConfig {
  readonly mcpServers: { readonly hob: { readonly command: string; readonly args: string[] } };
}
interface Result {
  readonly content?: unknown;
  readonly structuredContent?: unknown;
  readonly isError?: unknown;
}
/** The part of both clients that is used. */
interface AnyClient {
  connect(transport: never): Promise<void>;
  listTools(): Promise<{ readonly tools: readonly { readonly name: string }[] }>;
  callTool(params: { readonly name: string; readonly arguments: Record<string, unknown> }): Promise<Result>;
  close(): Promise<void>;
}

async function configOf(hob: HobHome): Promise<HostConfig['mcpServers']['hob']> {
  await hob.serve();
  writeFileSync(join(hob.folder, 'agent.mjs'), AGENT);
  const agent = hob.start('start', '--', process.execPath, join(hob.folder, 'agent.mjs'));
  await agent.shows(/mcpServers.*\}\n/);
  return (JSON.parse(agent.out) as HostConfig).mcpServers.hob;
}

const info = { name: 'test', version: '1.0.0' };
/** The path `/mcp` of the host, and the header with the secret of the session. */
function httpOf({ args }: { readonly args: readonly string[] }): readonly [URL, { readonly requestInit: RequestInit }] {
  const after = (flag: string): string => args[args.indexOf(flag) + 1] as string;
  const secret = readFileSync(after('--secret-file'), 'utf8').trim();
  const url = new URL(`${after('--url').replace('ws', 'http')}/mcp`);
  return [url, { requestInit: { headers: { Authorization: `Bearer ${secret}` } } }];
}

type Config = { readonly command: string; readonly args: string[]; readonly env: Record<string, string> };
const older = (): AnyClient => new OlderClient(info) as unknown as AnyClient;
const newer = (mode: 'legacy' | 'auto') => (): AnyClient =>
  new NewerClient(info, { versionNegotiation: { mode } }) as unknown as AnyClient;
const clients: readonly (readonly [string, () => AnyClient, (config: Config) => object])[] = [
  ['1.x over stdio', older, (config) => new OlderTransport(config)],
  ['2.x over stdio', newer('legacy'), (config) => new NewerTransport(config)],
  ['2.x over stdio in the newer era', newer('auto'), (config) => new NewerTransport(config)],
  ['1.x over HTTP', older, (config) => new OlderHttp(...httpOf(config))],
  ['2.x over HTTP', newer('legacy'), (config) => new NewerHttp(...httpOf(config))],
  ['2.x over HTTP in the newer era', newer('auto'), (config) => new NewerHttp(...httpOf(config))],
];

for (const [line, make, transport] of clients)
  test(`the SDK client ${line} lists and calls every verb`, async () => {
    const hob = hobHome(MANIFEST);
    const { command, args } = await configOf(hob);
    const client = make();
    await client.connect(transport({ command, args, env: { ...hob.env } }) as never);
    onTestFinished(() => client.close());
    const { tools } = await client.listTools();
    const data = async (name: string, given: Record<string, unknown>): Promise<Readonly<Record<string, unknown>>> => {
      const result = await client.callTool({ name, arguments: given });
      expect([name, result.isError ?? false]).toEqual([name, false]);
      return result.structuredContent as Readonly<Record<string, unknown>>;
    };
    expect((await data('caps', {}))['caps']).toHaveLength(3);
    expect(await data('read', { cap: 'src', path: 'a.txt' })).toEqual({ text: 'one\n' });
    expect(await data('write', { cap: 'src', path: 'b.txt', text: 'two\n' })).toHaveProperty('version');
    expect((await data('edit', { cap: 'src', path: 'b.txt', old: 'two', new: 'three' }))['diff']).toContain('+three');
    expect((await data('list', { cap: 'src' }))['entries']).toHaveLength(2);
    expect((await data('search', { cap: 'src', text: 'three' }))['hits']).toEqual([{ path: 'b.txt', line: 1, text: 'three' }]); // biome-ignore format: one line
    expect(await data('run', { cap: 'sh', command: 'cat */b.txt || ls' })).toMatchObject({ ended: 'exit' });
    const { job } = await data('run', { cap: 'sh', command: 'echo done', background: true });
    expect(await data('job', { cap: 'sh', job })).toMatchObject({ status: 0, stdout: 'done\n' });
    expect(await data('call', { cap: 'src', method: 'glob', args: ['*.txt'] })).toEqual({ value: ['a.txt', 'b.txt'] });
    const { request } = await data('request_cap', { cap: 'src', why: 'to test' });
    expect((await hob.run('grant', String(request), '--yes')).code).toBe(0);
    expect(await data('wait_for', { request })).toEqual({ cap: 'src-2' });
    expect(tools.map(({ name }) => name).sort()).toEqual(['call', 'caps', 'edit', 'job', 'list', 'read', 'request_cap', 'run', 'search', 'wait_for', 'write']); // biome-ignore format: one line
    expect(await client.callTool({ name: 'read', arguments: { cap: 'nothing', path: 'a' } })).toMatchObject({ isError: true }); // biome-ignore format: one line
  });

const INSPECTOR = join(MCP_CHECKERS, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js');

for (const transport of ['stdio', 'HTTP'])
  requires(
    'linux',
    'cc',
    'userns',
    'mcpCheckers',
  )(`the command line of the official inspector lists and calls over ${transport}`, async () => {
    const hob = hobHome(MANIFEST);
    const config = await configOf(hob);
    const file = join(hob.folder, 'inspected.json');
    writeFileSync(file, JSON.stringify({ mcpServers: { hob: config } }));
    const [url, { requestInit }] = httpOf(config);
    const { Authorization } = requestInit.headers as Readonly<Record<string, string>>;
    const where =
      transport === 'stdio'
        ? ['--config', file, '--server', 'hob']
        : ['--transport', 'http', '--server-url', url.href, '--header', `Authorization: ${Authorization}`];
    const inspect = async (...args: readonly string[]): Promise<Readonly<Record<string, unknown>>> => {
      const running = new Running(process.execPath, [INSPECTOR, '--cli', ...where, ...args], hob.env, hob.folder);
      hob.track(running);
      await running.ended;
      expect(running.out, running.err).toMatch(/^\{/);
      return JSON.parse(running.out) as Readonly<Record<string, unknown>>;
    };
    const call = (tool: string, ...args: readonly string[]): Promise<unknown> =>
      inspect('--method', 'tools/call', '--tool-name', tool, '--tool-arg', ...args);
    // It looks at the schemas, too: with `--strict` a fault ends it with 6.
    const { tools } = await inspect('--method', 'tools/list', '--strict');
    expect(tools).toHaveLength(11);
    expect(await call('write', 'cap=src', 'path=seen.txt', 'text=looked')).not.toHaveProperty('isError');
    expect(await call('read', 'cap=src', 'path=seen.txt')).toMatchObject({ structuredContent: { text: 'looked' } });
    expect(await call('read', 'cap=nothing', 'path=a')).toMatchObject({ isError: true });
  });
