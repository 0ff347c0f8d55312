/**
 * The conformance suite of MCP against the face over HTTP, in each revision that it knows.
 *
 * The suite expects a server with certain tools, prompts and resources of its own. So a scenario is either about
 * something that every server has, and passes, or it is in a table here with the reason.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test as plain } from 'vitest';
import { MCP_CHECKERS } from '../../../../test/mcp-servers.ts';
import { requires } from '../../../../test/needs.ts';
import { frontOf } from '../../test/front.ts';
import { HttpClient } from '../../test/http-client.ts';
import { scratch } from '../../test/servers/world.ts';
import { world } from '../../test/world.ts';

const test = requires('mcpCheckers');
const run = promisify(execFile);
const SUITE = join(MCP_CHECKERS, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const conformance = async (...args: readonly string[]): Promise<string> =>
  (await run(process.execPath, [SUITE, ...args])).stdout;

/** Scenarios about something that Hob does not offer, each a pattern of names with its reason. */
const NOT_OFFERED: readonly (readonly [scenario: RegExp, why: string])[] = [
  [/^resources-|^sep-2164-/, 'there are no resources'],
  [/^prompts-/, 'there are no prompts'],
  [/^completion-/, 'there is no completion'],
  [/^logging-|^tools-call-with-logging$/, 'the server logs nothing to its client'],
  [/^tools-call-(?:image|audio|embedded-resource|mixed-content|with-progress)$/, 'it calls a tool of the suite'],
  [/^tools-call-simple-text$|^json-schema-2020-12$/, 'it calls a tool of the suite'],
  [/^tools-call-(?:sampling|elicitation)$|^elicitation-/, 'nothing is asked of a person through the client'],
  [/^input-required-result-(?:basic-.*|request-state|multiple-input-requests|multi-round|non-tool-request|result-type|tampered-state|capability-check)$/, 'the same in the newer era'],
  [/^http-custom-header-/, 'no argument of a verb is sent as a header'],
  [/^server-sse-polling$/, 'a stream is not resumed: a lost call ends'],
  [/^(?:tasks|sep-2640-skills)-/, 'an extension'],
]; // biome-ignore format: pairs
/** Checks of other scenarios, for the same reasons. */
const OTHER_CHECKS: readonly string[] = [
  ...['sep-2549-prompts-list-caching-hints', 'sep-2549-resources-list-caching-hints'],
  'sep-2549-resources-templates-list-caching-hints',
  // It calls a tool of the suite that needs sampling.
  ...['sep-2575-server-rejects-undeclared-capability', 'sep-2575-missing-capability-http-400'],
];

const about = (scenario: string): string | undefined => NOT_OFFERED.find(([pattern]) => pattern.test(scenario))?.[1];

/** The scenarios of the suite, each with its revisions. */
async function scenarios(): Promise<readonly { readonly name: string; readonly revisions: readonly string[] }[]> {
  const lines = [...(await conformance('list', '--server')).matchAll(/^ {2}- (\S+) \[(.*)\]$/gm)];
  return lines.map(([, name = '', revisions = '']) => ({ name, revisions: revisions.split(',') }));
}

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

/** The scenarios that must pass, which is most of what each revision says about any server. */
const WANTED: Readonly<Record<string, number>> = {
  '2025-03-26': 1,
  '2025-06-18': 5,
  '2025-11-25': 7,
  '2026-07-28': 11,
};

for (const [revision, count] of Object.entries(WANTED))
  test(`${revision}: every scenario of the conformance suite about something that Hob offers passes`, async () => {
    const at = await world({ http: { waitMs: 2000 } });
    await at.grant('notes', 'notes');
    const url = await frontOf(at);
    const names = (await scenarios()).filter(({ revisions }) => revisions.includes(revision)).map(({ name }) => name);
    const wanted = names.filter((name) => about(name) === undefined);
    expect(wanted).toHaveLength(count);
    for (const name of wanted) {
      const out = scratch();
      // It ends with 1 if a check fails. The checks are what counts.
      const said = await conformance('server', '--url', url, '--scenario', name, '--spec-version', revision, '-o', out).catch(String); // biome-ignore format: one line
      const [folder] = readdirSync(out);
      expect([name, said, folder]).toEqual([name, expect.any(String), expect.any(String)]);
      const checks = JSON.parse(readFileSync(join(out, folder as string, 'checks.json'), 'utf8')) as readonly Check[];
      const failed = checks.filter(({ id, status }) => status === 'FAILURE' && !OTHER_CHECKS.includes(id));
      expect([name, failed.map(({ id, errorMessage }) => [id, errorMessage])]).toEqual([name, []]);
      expect([name, checks.filter(({ status }) => status === 'SUCCESS').length]).toEqual([name, expect.toSatisfy((n) => n > 0)]); // biome-ignore format: one line
    }
  });

test('each row of the tables is about a scenario that the suite has', async () => {
  const names = (await scenarios()).map(({ name }) => name);
  expect(NOT_OFFERED.filter(([pattern]) => !names.some((name) => pattern.test(name)))).toEqual([]);
});

for (const era of ['older', 'newer'] as const)
  plain(`${era}: nothing but tools is announced, and the methods of the rest are refused`, async () => {
    const at = await world();
    const client = new HttpClient(at, era);
    const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const { result } = await client.ask(era === 'older' ? 'initialize' : 'server/discover', era === 'older' ? hello : {}); // biome-ignore format: one line
    expect(result?.['capabilities']).toEqual({ tools: { listChanged: true } });
    const open = await HttpClient.open(at, era);
    for (const method of ['resources/list', 'resources/templates/list', 'prompts/list', 'completion/complete', 'logging/setLevel', 'tasks/get'])
      expect([method, (await open.ask(method, { uri: 'file:///a', level: 'debug' })).error?.code]).toEqual([method, -32_601]); // biome-ignore format: pairs
  });
