/** The real Hermes behind `hob acp`: `hob-hermes acp` takes its own tools away before it begins. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { requires } from '../../../../../test/needs.ts';
import { hermesProgram } from '../../../../../test/probes.ts';
import { editorOf } from '../../../test/acp-editor.ts';
import { HERMES } from '../../../test/agents/hermes.ts';
import { hostileWorkspace } from '../../../test/agents/plant.ts';
import { hobHome, Running } from '../../../test/hob.ts';
import { scriptedModel } from '../../../test/model/model.ts';
import type { Call } from '../../../test/model/wire.ts';

const test = requires('hermes', 'git');
const BRIDGE = fileURLToPath(new URL('../../../../bridge-python', import.meta.url));
/** The verbs of the plugin, and what its operator allows besides. */
const OURS = ['edit', 'entries', 'mkdir', 'read', 'request', 'run', 'search', 'write'];

const MANIFEST = `version: 1
roots: { project: project }
granters: [owner, editor]
session:
  deadline: 8h
  mode: supervised
  caps:
    src: { fs: project/src, can: [read, list, write] }
`;

test('for an editor: Hermes has the verbs of Hob alone, each tool of its own does nothing, and a change is asked for in the editor', async () => {
  const hob = hobHome(MANIFEST);
  let ambient: readonly Call[] = [];
  const model = await scriptedModel(({ turn }) => {
    if (turn === 0) return { calls: [...ambient, { name: 'read', args: { cap: 'src', path: 'a.txt' } }] };
    if (turn === 1) return { calls: [{ name: 'edit', args: { cap: 'src', path: 'a.txt', old: 'one', new: 'two' } }] };
    return { text: 'DONE WITH THE TASK' };
  });
  await hob.serve();
  const python = join(dirname(hermesProgram().program ?? ''), 'python');
  const [site, home] = [join(hob.folder, 'site'), join(hob.folder, 'hermes')];
  execFileSync(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--no-build-isolation', '--no-deps', '--no-index', '--target', site, BRIDGE]); // biome-ignore format: one line
  mkdirSync(home);
  writeFileSync(join(home, 'config.yaml'), JSON.stringify({
    model: { default: 'scripted', provider: 'custom', base_url: `${model.url}/v1`, api_key: 'none', context_length: 200_000 },
    security: { tirith_enabled: false, allow_lazy_installs: false },
    plugins: { enabled: ['hob'], entries: { hob: { wait: 200 } } },
    tools: { tool_search: { enabled: 'off' } },
  })); // biome-ignore format: a file
  const granted = join(hob.folder, 'config/project');
  const canaries = join(hob.folder, 'canaries');
  mkdirSync(canaries);
  hostileWorkspace(granted, canaries);
  const outside = join(hob.folder, 'outside.txt');
  writeFileSync(outside, 'MARK-outside\n');
  ambient = HERMES.ambient((name) => `touch ${join(granted, `ran-${name}`)}`, outside);
  const files = readdirSync(granted, { recursive: true }).sort();
  const [first = '', ...rest] = hob.words;
  const env = {
    ...hob.env,
    PATH: `${dirname(python)}${delimiter}${hob.env['PATH']}`,
    HERMES_HOME: home,
    PYTHONPATH: site,
    LANG: 'C.UTF-8',
    ...{ PYTHONDONTWRITEBYTECODE: '1', HERMES_DISABLE_LAZY_INSTALLS: '1', PIP_NO_INDEX: '1' },
  };
  const running = new Running(
    first,
    [...rest, 'acp', '--apart', '--', python, '-m', 'hob.hermes.doctor', 'acp'],
    env,
    granted,
  );
  hob.track(running);
  const editor = editorOf(running);
  await editor.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  const { sessionId } = await editor.agent.request('session/new', { cwd: granted, mcpServers: [] });
  const prompt = [{ type: 'text' as const, text: 'go' }];
  const { stopReason } = (await editor.agent.request('session/prompt', { sessionId, prompt })) as { readonly stopReason: string }; // biome-ignore format: one line
  expect([stopReason, running.err]).toEqual(['end_turn', expect.not.stringContaining('Hermes was not started')]);
  expect(editor.said()).toContain('DONE WITH THE TASK');
  expect(readFileSync(join(granted, 'src/a.txt'), 'utf8')).toBe('two\n');
  const shown = editor.asked.filter(({ toolCall }) => toolCall.toolCallId.startsWith('hob-'));
  expect(shown.map(({ toolCall }) => toolCall.content?.[0])).toEqual([{ type: 'diff', path: join(granted, 'src/a.txt'), oldText: 'one\n', newText: 'two\n' }]); // biome-ignore format: one line
  const at = join(granted, 'src/a.txt');
  const kinds = editor.updates.flatMap(({ update }) => 'kind' in update && 'locations' in update && update.locations?.[0]?.path === at ? [update.kind] : []); // biome-ignore format: one line
  expect(kinds).toEqual(expect.arrayContaining(['read', 'edit']));
  const offered = new Set(model.asked.flatMap((one) => one.offered));
  expect([...offered].sort()).toEqual(OURS);
  expect(model.asked.flatMap(({ text }) => text.match(/MARK-[\w-]+|CANARY_ENV/g) ?? [])).toEqual([]);
  expect([readdirSync(canaries), readdirSync(granted, { recursive: true }).sort()]).toEqual([[], files]);
  editor.close();
  expect(await running.ended, running.err).toBe(0);
  expect(await hob.json('sessions')).toEqual([]);
}, 600_000);
