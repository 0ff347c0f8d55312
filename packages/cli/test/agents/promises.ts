/** The promises of a recipe, with the real host. Each file in `src/recipes/real/` tests one host with them. */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'vitest';
import { requires } from '../../../../test/needs.ts';
import { recipeOf } from '../../src/recipes/all.ts';
import { type HobHome, hobHome } from '../hob.ts';
import { scriptedModel } from '../model/model.ts';
import type { Call } from '../model/wire.ts';
import { hostileWorkspace } from './plant.ts';
import { plant, processesWith, programOf, type RecipeScene, recipeScene, type TestedHost } from './scene.ts';

/** A host and its own tools, by the names with which a model would call them. */
export interface PromisedHost extends TestedHost {
  /** `run` is a shell command that leaves a file in the granted directory. `outside` is a file that nobody granted. */
  readonly ambient: (run: (name: string) => string, outside: string) => readonly Call[];
  /** Lines of a shell that bring a tool of the host back before it starts, and arguments that do. */
  readonly reopens: { readonly lines: string; readonly args: string };
  /** The environment for a start without a recipe. */
  readonly bare: (url: string) => Readonly<Record<string, string>>;
  /** More of its arguments there. */
  readonly bareArgs?: (url: string) => readonly string[];
  /** Files of its home there. */
  readonly bareFiles?: (url: string) => Readonly<Record<string, string>>;
  /** The call with which its own shell runs a command, for a host that runs in a box. */
  readonly shell?: (command: string, offered: readonly string[]) => Call;
}

const MANIFEST = `version: 1
roots: { project: project }
session:
  deadline: 8h
  mode: autonomous
  caps:
    src: { fs: project/src, can: [read, list, write] }
    sh: { shell: sandbox, mounts: [src], cwd: project/src }
  ask:
    edit: { fs: project, can: [read, write], offer: { uses: 20, for: 1h } }
`;

const stateOf = (home: HobHome): string => join(home.folder, 'home/.local/state/hob/state');
/** The folders of hosts that run. */
const runsOf = (home: HobHome): readonly string[] => {
  const folder = join(stateOf(home), 'agents');
  return existsSync(folder) ? readdirSync(folder) : [];
};
const pause = (): Promise<void> => new Promise((done) => setTimeout(done, 50));

/** A start takes up to a minute on a machine that is busy. */
const MOST_MS = 600_000;

/** Sessions are gone, and no file or process of the host is left. */
async function nothingLeft(home: HobHome): Promise<void> {
  await home.until(
    () => home.json<readonly unknown[]>('sessions'),
    (sessions) => sessions.length === 0,
  );
  while (processesWith(join(stateOf(home), 'agents')).length > 0) await pause();
  expect(runsOf(home)).toEqual([]);
}

/** The tools that reached the model and are neither Hob's nor tolerated. */
const foreignIn = ({ model }: RecipeScene, { name }: PromisedHost): readonly string[] =>
  model.asked.flatMap(({ offered }) => offered).filter((tool) => !tool.includes('hob') && !Object.hasOwn(recipeOf(name).tolerated, tool)); // biome-ignore format: one line

/** Adds the tests of one host to the file that calls it. */
export function promisesOf(host: PromisedHost): void {
  const test = requires(host.name, 'userns', 'git');

  test(
    'a task that reads, edits, runs a test, and uses what a person granted on request, ends well',
    async () => {
      const scene = await recipeScene(host, MANIFEST, ({ turn, results }) => {
        const last = results.at(-1) ?? '';
        switch (turn) {
          case 0:
            return { calls: [{ name: '*read', args: { cap: 'src', path: 'sum.sh' } }] };
          case 1:
            expect(last).toContain('$1 - $2');
            return { calls: [{ name: '*edit', args: { cap: 'src', path: 'sum.sh', old: '-', new: '+' } }] };
          case 2:
            return { calls: [{ name: '*run', args: { cap: 'sh', command: 'sh test.sh' } }] };
          case 3:
            expect(last).toContain('all passed');
            return { calls: [{ name: '*request_cap', args: { cap: 'edit', why: 'to write the notes' } }] };
          case 4:
            return { calls: [{ name: '*wait_for', args: { request: /R\d+/.exec(last)?.[0] ?? '' } }] };
          case 5:
          return { calls: [{ name: '*write', args: { cap: /hold it as \W*([\w-]+)/.exec(results.join())?.[1] ?? /"cap":\W*([\w-]+)/.exec(last)?.[1] ?? '', path: 'notes.txt', text: 'fixed the sum\n' } }] }; // biome-ignore format: one line
          default:
            return { text: 'DONE WITH THE TASK' };
        }
      });
      plant(join(scene.granted, 'src'), {
        'sum.sh': 'echo $(($1 - $2))\n',
        'test.sh': '[ "$(sh sum.sh 1 2)" = 3 ] && echo all passed\n',
      });
      const running = scene.start('repair the sum');
      const [request] = await scene.home.until(
        () => scene.home.json<readonly { readonly id: string; readonly cap: string }[]>('inbox'),
        (inbox) => inbox.length > 0,
      );
      expect(request?.cap).toBe('edit');
      await scene.home.json('grant', request?.id ?? '');
      expect(await running.ended, running.out + running.err).toBe(0);
      expect(running.out).toContain('DONE WITH THE TASK');
      expect(readFileSync(join(scene.granted, 'src/sum.sh'), 'utf8')).toBe('echo $(($1 + $2))\n');
      expect(readFileSync(join(scene.granted, 'notes.txt'), 'utf8')).toBe('fixed the sum\n');
      await nothingLeft(scene.home);
    },
    MOST_MS,
  );

  test(
    'a hostile workspace, and a model that calls every tool of the host, leave nothing and learn nothing',
    async () => {
      const canaryIn = (scene: RecipeScene): string => join(scene.home.folder, 'canaries');
      let calls: readonly Call[] = [];
      const scene = await recipeScene(host, MANIFEST, ({ turn }) => (turn === 0 ? { calls } : { text: 'DONE' }));
      mkdirSync(canaryIn(scene));
      hostileWorkspace(scene.granted, canaryIn(scene));
      const outside = join(scene.home.folder, 'outside.txt');
      writeFileSync(outside, 'MARK-outside\n');
      calls = host.ambient((name) => `touch ${join(scene.granted, `ran-${name}`)}`, outside);
      const before = scene.others();
      const files = readdirSync(scene.granted, { recursive: true }).sort();
      const running = scene.start(`go @secret.txt @${outside} @${join(scene.granted, 'secret.txt')}`);
      expect(await running.ended, running.out + running.err).toBe(0);
      expect(scene.model.asked.filter(({ turn }) => turn > 0).length, running.err).toBeGreaterThan(0);
      expect(readdirSync(canaryIn(scene))).toEqual([]);
      expect(scene.model.asked.flatMap(({ text }) => text.match(/MARK-[\w-]+|CANARY_ENV/g) ?? [])).toEqual([]);
      expect(readdirSync(scene.granted, { recursive: true }).sort()).toEqual(files);
      expect(scene.others()).toEqual(before);
      expect(foreignIn(scene, host)).toEqual([]);
      await nothingLeft(scene.home);
    },
    MOST_MS,
  );

  test(
    'the same workspace does harm to the same host without a recipe',
    async () => {
      const home = hobHome(MANIFEST);
      const model = await scriptedModel(() => ({ text: 'DONE' }));
      const [workspace, canaries] = ['config/project', 'canaries'].map((name) => join(home.folder, name)) as [string, string]; // biome-ignore format: one line
      mkdirSync(canaries);
      hostileWorkspace(workspace, canaries);
      const program = programOf(host.name);
      plant(join(home.folder, 'home'), host.bareFiles?.(model.url) ?? {});
      const env = {
        ...home.env,
        PATH: `${dirname(program)}:${home.env['PATH']}`,
        [host.key]: 'k',
        ...host.bare(model.url),
      };
      const [, ...args] = [...host.words('go'), ...(host.bareArgs?.(model.url) ?? [])];
      const child = spawn(program, args, { cwd: workspace, env, stdio: 'ignore', detached: true });
      const ended = new Promise((done) => child.once('close', done));
      const isHarmed = (): boolean =>
        model.asked.some(({ text }) => text.includes('MARK-')) || readdirSync(canaries).length > 0;
      while (!isHarmed() && child.exitCode === null) await pause();
      const harm = isHarmed();
      killGroup(child.pid ?? 0);
      await ended;
      expect(harm).toBe(true);
    },
    MOST_MS,
  );

  test(
    'a host whose configuration was changed so that it offers its own tool is ended before its model hears of it',
    async () => {
      const scene = await recipeScene(host, MANIFEST, () => ({ text: 'DONE' }));
      const wrapper = join(scene.home.folder, 'changed');
      const program = programOf(host.name);
      writeFileSync(wrapper, `#!/bin/sh\n${host.reopens.lines}\nexec ${program} "$@" ${host.reopens.args}\n`, {
        mode: 0o755,
      });
      const running = scene.start('go', wrapper);
      expect(await running.ended, running.out + running.err).toBe(125);
      expect(running.err).toMatch(/offered its model tools that are not Hob’s/);
      expect(foreignIn(scene, host)).toEqual([]);
      await nothingLeft(scene.home);
    },
    MOST_MS,
  );

  const { shell } = host;
  if (shell !== undefined)
    test(
      'in a box its own tools act in the directories of its session alone, and Hob’s server is there; a hostile workspace gets no further, and no key is there',
      async () => {
        const outside = (scene: RecipeScene): string => join(scene.home.folder, 'outside.txt');
        let look = '';
        const scene = await recipeScene(host, MANIFEST, ({ turn, offered }) => {
          if (turn === 0) return { calls: [shell(look, offered)] };
          // Codex calls tools of MCP that it does not list.
          const list = offered.find((tool) => /hob.*list$/.test(tool)) ?? 'mcp__hob/list';
          return turn === 1 ? { calls: [{ name: list, args: { cap: 'src', path: '.' } }] } : { text: 'DONE' };
        });
        const canaries = join(scene.home.folder, 'canaries');
        mkdirSync(canaries);
        hostileWorkspace(join(scene.granted, 'src'), canaries);
        writeFileSync(outside(scene), 'MARK-outside\n');
        const { port } = new URL(scene.model.url);
        look = `echo by-its-own-tool > made.txt; cat ${outside(scene)}; touch ${join(canaries, 'own-tool')}; ls ${scene.home.folder} /root /home /run; env; cat /proc/*/environ; (echo > /dev/tcp/127.0.0.1/${port}) && echo MARK-dialled; echo the end`;
        const before = scene.others();
        const running = scene.startBoxed('go');
        expect(await running.ended, running.out + running.err).toBe(0);
        const said = scene.model.asked.map(({ results }) => results.join('\n')).join('\n');
        expect(said).toContain('the end');
        expect(readFileSync(join(scene.granted, 'src/made.txt'), 'utf8')).toBe('by-its-own-tool\n');
        expect(said.match(/"?made\.txt/g)?.length, said).toBeGreaterThan(0);
        expect(said).not.toMatch(/MARK-outside|MARK-dialled|key-of-the-person|HOB_/);
        expect(readdirSync(canaries)).toEqual([]);
        expect(scene.others()).toEqual(before);
        // The key is put in out here.
        expect(scene.model.asked.filter(({ keyed }) => !keyed)).toEqual([]);
        await nothingLeft(scene.home);
      },
      MOST_MS,
    );

  test(
    'when the host is killed in the middle of a call, its session ends and nothing is left running',
    async () => {
      const scene = await recipeScene(
        host,
        MANIFEST,
        ({ turn }) =>
      turn === 0 ? { calls: [{ name: '*run', args: { cap: 'sh', command: 'touch begun; sleep 3210' } }] } : { text: 'DONE' }, // biome-ignore format: one line
      );
      const running = scene.start('go');
      const begun = join(scene.granted, 'src/begun');
      while (!existsSync(begun)) {
        if (running.child.exitCode !== null) throw new Error(`it ended: ${running.out}${running.err}`);
        await pause();
      }
      const { pid = 0 } = running.child;
      for (const child of childrenOf(pid)) process.kill(child, 'SIGKILL');
      expect(await running.ended).toBe(137);
      await nothingLeft(scene.home);
      while (processesWith('sleep\u00003210').length > 0) await pause();
    },
    MOST_MS,
  );
}

function killGroup(leader: number): void {
  try {
    process.kill(-leader, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`)
    .flatMap((task) => readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' '))
    .filter((text) => text !== '')
    .map(Number);
}
