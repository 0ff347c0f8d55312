/** The promises of `hob acp`, with a real agent behind it and the SDK's client as the editor. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { agentProgram } from '../../../../test/probes.ts';
import { recipeOf } from '../../src/recipes/all.ts';
import { type Editor, editorOf } from '../acp-editor.ts';
import { type HobHome, hobHome, Running } from '../hob.ts';
import { type Asked, type Model, scriptedModel } from '../model/model.ts';
import type { Call, Say } from '../model/wire.ts';
import { hostileWorkspace } from './plant.ts';
import type { PromisedHost } from './promises.ts';
import { processesWith, programOf } from './scene.ts';

const MANIFEST = `version: 1
roots: { project: project }
granters: [owner, editor]
session:
  deadline: 8h
  mode: supervised
  caps:
    src: { fs: project/src, can: [read, list, write] }
`;
const MOST_MS = 600_000;
const slow = fileURLToPath(new URL('../slow-server.mjs', import.meta.url));

interface Scene {
  readonly hob: HobHome;
  readonly model: Model;
  readonly running: Running;
  readonly editor: Editor;
  readonly granted: string;
  prompt(text: string): Promise<string>;
}

async function scene(
  host: PromisedHost,
  { words, adapter, slowServer }: AcpAgent,
  how: readonly string[],
  next: (asked: Asked) => Say | Promise<Say>,
): Promise<Scene> {
  const hob = hobHome(MANIFEST);
  const model = await scriptedModel(next);
  await hob.serve();
  const program = programOf(host.name);
  const adapted = adapter === undefined ? program : (agentProgram(adapter.name).program ?? '');
  const env = {
    ...hob.env,
    PATH: `${dirname(adapted)}${delimiter}${dirname(program)}${delimiter}${hob.env['PATH']}`,
    [host.key]: 'key-of-the-person',
    ...(adapter === undefined ? {} : { [adapter.variable]: program }),
  };
  const [first = '', ...rest] = hob.words;
  const granted = join(hob.folder, 'config/project');
  const options = [...how, '--model-url', `${model.url}${host.path}`, ...host.options];
  const node = slowServer === true ? ['--import', slow] : [];
  const running = new Running(first, [...node, ...rest, 'acp', ...options, '--', ...words], env, granted);
  hob.track(running);
  const editor = editorOf(running);
  await editor.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  let session: string | undefined;
  return {
    ...{ hob, model, running, editor, granted },
    async prompt(text) {
      session ??= (await editor.agent.request('session/new', { cwd: granted, mcpServers: [] })).sessionId;
      const { stopReason } = await editor.agent.request('session/prompt', {
        sessionId: session,
        prompt: [{ type: 'text', text }],
      });
      return stopReason;
    },
  };
}

/** The end of the editor is that of the session and of the agent. */
async function closed({ hob, running, editor }: Scene): Promise<void> {
  editor.close();
  expect(await running.ended, running.err).toBe(0);
  expect(await hob.json<readonly unknown[]>('sessions')).toEqual([]);
  const agents = join(hob.folder, 'home/.local/state/hob/state/agents');
  while (processesWith(agents).length > 0) await new Promise((done) => setTimeout(done, 50));
}

/** An agent as an editor would start it. */
interface AcpAgent {
  readonly words: readonly string[];
  /** An adapter in front of the host, and the variable with which it finds the host. */
  readonly adapter?: {
    readonly name: 'acp-claude' | 'acp-codex';
    readonly variable: string;
  };
  /** Hob's server of MCP starts as on a busy machine. */
  readonly slowServer?: true;
}

/** Adds the tests of one host to the file that calls it. */
export function acpPromisesOf(host: PromisedHost, agent: AcpAgent): void {
  const { adapter } = agent;
  const test = requires(host.name, ...(adapter === undefined ? [] : [adapter.name]), 'userns', 'git');
  const { tolerated } = recipeOf(host.name);

  test(
    'for an editor: the model has the verbs of Hob alone; its calls are shown with kind and place, and a change is asked for in the editor',
    async () => {
      let ambient: readonly Call[] = [];
      let isChanging = false;
      const at = await scene(host, agent, ['--recipe', host.name], ({ turn, results }) => {
        if (turn === 0) return { calls: [...ambient, { name: '*read', args: { cap: 'src', path: 'a.txt' } }] };
        if (!isChanging) {
          isChanging = true;
          expect(results.join()).toContain('one');
          return { calls: [{ name: '*edit', args: { cap: 'src', path: 'a.txt', old: 'one', new: 'two' } }] };
        }
        return { text: 'DONE WITH THE TASK' };
      });
      const canaries = join(at.hob.folder, 'canaries');
      mkdirSync(canaries);
      hostileWorkspace(at.granted, canaries);
      const outside = join(at.hob.folder, 'outside.txt');
      writeFileSync(outside, 'MARK-outside\n');
      ambient = host.ambient((name) => `touch ${join(at.granted, `ran-${name}`)}`, outside);
      const files = readdirSync(at.granted, { recursive: true }).sort();
      expect(await at.prompt(`go @secret.txt @${outside}`)).toBe('end_turn');
      const heard = at.model.asked.map(({ offered, results }) => ({ offered, results }));
      expect(readFileSync(join(at.granted, 'src/a.txt'), 'utf8'), JSON.stringify(heard)).toBe('two\n');
      expect(at.editor.said()).toContain('DONE WITH THE TASK');
      const path = join(at.granted, 'src/a.txt');
      const asked = at.editor.asked.filter(({ toolCall }) => toolCall.toolCallId.startsWith('hob-'));
      expect(asked.map(({ toolCall }) => toolCall.content?.[0])).toEqual([
        { type: 'diff', path, oldText: 'one\n', newText: 'two\n' },
      ]);
      // Its own questions are answered by policy, and Hob's alone are shown.
      expect(at.editor.asked).toEqual(asked);
      const shown = at.editor.updates.flatMap(({ update }) =>
        'kind' in update && 'locations' in update && update.locations?.[0]?.path === path ? [update.kind] : [],
      );
      expect(shown, JSON.stringify(at.editor.updates)).toEqual(expect.arrayContaining(['read', 'edit']));
      expect(at.editor.others).toEqual([]);
      const offered = at.model.asked.flatMap((one) => one.offered);
      expect(offered.filter((tool) => !tool.includes('hob') && !Object.hasOwn(tolerated, tool))).toEqual([]);
      expect(at.model.asked.flatMap(({ text }) => text.match(/MARK-[\w-]+|CANARY_ENV/g) ?? [])).toEqual([]);
      expect(readdirSync(canaries)).toEqual([]);
      expect(readdirSync(at.granted, { recursive: true }).sort()).toEqual(files);
      await closed(at);
    },
    MOST_MS,
  );

  const { shell } = host;
  if (shell !== undefined && adapter === undefined)
    test(
      'for an editor, in a box: its own tools act in the directories of its session alone',
      async () => {
        let look = '';
        const at = await scene(host, agent, ['--box'], ({ turn, offered }) =>
          turn === 0 ? { calls: [shell(look, offered)] } : { text: 'DONE' },
        );
        const outside = join(at.hob.folder, 'outside.txt');
        writeFileSync(outside, 'MARK-outside\n');
        look = `cat ${outside}; env; cat /proc/*/environ; ls ${at.hob.folder}; echo the end`;
        expect(await at.prompt('go')).toBe('end_turn');
        const said = at.model.asked.map(({ results }) => results.join('\n')).join('\n');
        expect(said).toContain('the end');
        expect(said).not.toMatch(/MARK-outside|key-of-the-person|HOB_/);
        await closed(at);
      },
      MOST_MS,
    );
}
