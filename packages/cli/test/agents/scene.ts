/** A real agent host, started by `hob start --recipe` in a home of its own, with a scripted model. For tests. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { agentProgram, hermesProgram } from '../../../../test/probes.ts';
import { type HobHome, hobHome, Running } from '../hob.ts';
import { type Asked, type Model, scriptedModel } from '../model/model.ts';
import type { Say } from '../model/wire.ts';

/** A host as the tests start it. */
export interface TestedHost {
  readonly name: 'claude' | 'codex' | 'opencode' | 'gemini' | 'hermes';
  /** Behind the address of the scripted model. */
  readonly path: string;
  readonly key: string;
  /** More options of `hob start`. */
  readonly options: readonly string[];
  /** Its command line for one prompt. */
  readonly words: (prompt: string) => readonly string[];
}

export interface RecipeScene {
  readonly home: HobHome;
  readonly model: Model;
  /** The granted directory. */
  readonly granted: string;
  /** Starts the host, or another program in its place, by the recipe. */
  start(prompt: string, program?: string): Running;
  /** Starts the host in a box, with its own tools. */
  startBoxed(prompt: string): Running;
  /** Every file below the home of this scene, with its text, but for those below `granted` and the state. */
  others(): Readonly<Record<string, string>>;
}

/** The program of the real release. Its need is there. */
export const programOf = (name: TestedHost['name']): string =>
  (name === 'hermes' ? hermesProgram() : agentProgram(name)).program ?? '';

/** Hob serves `manifest`, whose root is `project`. */
export async function recipeScene(
  host: TestedHost,
  manifest: string,
  next: (asked: Asked) => Say | Promise<Say>,
): Promise<RecipeScene> {
  const home = hobHome(manifest);
  const model = await scriptedModel(next);
  await home.serve();
  const program = programOf(host.name);
  const granted = join(home.folder, 'config/project');
  const path = `${dirname(program)}${delimiter}${home.env['PATH']}`;
  const env = { ...home.env, PATH: path, [host.key]: 'key-of-the-person' };
  const begin = (how: readonly string[], prompt: string, other?: string): Running => {
    const [words = '', ...args] = home.words;
    const options = [...how, '--model-url', `${model.url}${host.path}`, ...host.options];
    const [own = '', ...rest] = host.words(prompt);
    const running = new Running(words, [...args, 'start', ...options, '--', other ?? own, ...rest], env, granted);
    running.child.stdin?.end();
    home.track(running);
    return running;
  };
  return {
    home,
    model,
    granted,
    start: (prompt, other) => begin(['--recipe', host.name], prompt, other),
    startBoxed: (prompt) => begin(['--box'], prompt),
    others: () =>
      textsBelow(home.folder, (name) => name.startsWith('config/project') || name.startsWith('home/.local')),
  };
}

function textsBelow(folder: string, isLeftOut: (name: string) => boolean): Readonly<Record<string, string>> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const names = files.map((file) => join(file.parentPath, file.name).slice(folder.length + 1));
  return Object.fromEntries(names.filter((name) => !isLeftOut(name)).map((name) => [name, readFileSync(join(folder, name), 'utf8')])); // biome-ignore format: one line
}

/** Writes files below a folder. */
export function plant(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

/** The processes whose environment or command line has `text`. */
export function processesWith(text: string): readonly string[] {
  const found: string[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name) && name !== String(process.pid)))
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      if (`${line}${readFileSync(`/proc/${pid}/environ`, 'utf8')}`.includes(text)) found.push(`${pid} ${line.replaceAll('\0', ' ')}`); // biome-ignore format: one line
    } catch {
      // It has ended.
    }
  return found;
}
