/**
 * Runs an agent host by its recipe.
 *
 * Promise: the host starts in an empty directory in the state of Hob. No root of a manifest contains the state, lies in
 * it or is it, so no agent can write there or in any directory above. Its home is new and goes with it. It gets the
 * variables that are listed here and in the recipe, and no others. The address of its model is the relay.
 */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { openSecretFile } from '@hob/host/programs';
import { runProgram } from '../../daemon/drivers/agent.ts';
import { agentsFolder } from '../../drivers/places.ts';
import { foreignTo, type Recipe } from '../recipe.ts';
import { makeFiles } from './made.ts';
import { namesOf, openRelay } from './relay.ts';

/** What a program needs to run and to write to a terminal. A proxy is not among them: it would be a way past the relay. */
const PASSED: readonly string[] = [
  ...['PATH', 'TERM', 'COLORTERM', 'NO_COLOR', 'TZ', 'LANG', 'LC_ALL', 'LC_CTYPE', 'LC_MESSAGES'],
];

/** The exit code of a run that the relay ended. */
export const FOREIGN_TOOL = 125;

export interface RecipeRun {
  /** The host's program and the person's arguments for it. */
  readonly words: readonly string[];
  /** The host’s own program, if that of `words` is an adapter in front of it. */
  readonly own?: string;
  /** The state of Hob. */
  readonly state: string;
  /** The session's address and secret. */
  readonly entry: { readonly url: string; readonly secret: string };
  /** `hob mcp`, without options. */
  readonly server: readonly string[];
  /** The verbs that it may offer. */
  readonly verbs: readonly string[];
  /** The address of the model. */
  readonly upstream: URL;
  /** The name of the model, for a host whose configuration has it. */
  readonly modelName?: string;
  readonly say: (text: string) => void;
}

/** A host that is ready to be started. */
interface ReadyHost {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Empty, and nobody writes there. */
  readonly cwd: string;
  /** The command of Hob’s server of MCP for this session. */
  readonly server: readonly string[];
  /** Aborted when the host offers its model a foreign tool. */
  readonly end: AbortSignal;
  /** For the person, if it did. */
  refused(): string | undefined;
  /** Once the host has ended. */
  close(): Promise<void>;
}

/** Makes the home of a host, its relay and its configuration. Errors: `Mistake`. */
export async function readyHost(recipe: Recipe, run: RecipeRun): Promise<ReadyHost> {
  const end = new AbortController();
  let foreign: readonly string[] | undefined;
  const relay = await openRelay({
    upstream: run.upstream,
    wire: recipe.wire,
    foreignIn: foreignTo(recipe, run.verbs),
    onForeign: (tools) => {
      foreign = tools;
      end.abort();
    },
    say: run.say,
  });
  const folder = newFolder(run.state);
  const close = async (): Promise<void> => {
    await relay.close();
    removeFolder(folder);
  };
  try {
    const places = { home: join(folder, 'home'), start: join(folder, 'empty') };
    for (const made of [places.home, join(places.home, 'tmp'), places.start]) mkdirSync(made, { mode: 0o700 });
    chmodSync(places.start, 0o500);
    const secretFile = join(folder, 'session');
    openSecretFile(secretFile).write(run.entry.secret);
    const { modelName = 'default', words } = run;
    const server = [...run.server, '--url', run.entry.url, '--secret-file', secretFile];
    const { files, env, args } = recipe.setUp({ ...places, model: relay.url, modelName, server });
    const [program = '', ...rest] = words;
    const kept = passed(PASSED);
    const own = { HOME: places.home, TMPDIR: join(places.home, 'tmp'), ...env };
    const cwd = places.start;
    const maker = run.own ?? program;
    writeFiles(places.home, await makeFiles(recipe, { program: maker, modelName, cwd, env: { ...kept, ...own } }));
    writeFiles(places.home, files);
    return {
      ...{ program, args: [...args, ...rest], cwd, server, end: end.signal, close },
      env: { ...kept, ...passed(recipe.keys), ...own },
      refused: () => (foreign === undefined ? undefined : refusal(recipe, foreign)),
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Returns the host's exit code, or `FOREIGN_TOOL`. Errors: `Mistake` (the host cannot be run, the address is wrong). */
export async function runRecipe(recipe: Recipe, run: RecipeRun): Promise<number> {
  const { program, args, env, cwd, end, refused, close } = await readyHost(recipe, run);
  try {
    const code = await runProgram(program, args, { env, cwd, ownGroup: true, end });
    const why = refused();
    if (why === undefined) return code;
    run.say(why);
    return FOREIGN_TOOL;
  } finally {
    await close();
  }
}

/** The variables of the person’s environment with these names. */
export const passed = (names: readonly string[]): Readonly<NodeJS.ProcessEnv> =>
  Object.fromEntries(names.map((name) => [name, process.env[name]]));

/** Writes the files of a recipe below `folder`, for their owner only. Existing ones stay: `wx`. */
export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true, mode: 0o700 });
    writeFileSync(join(folder, name), text, { mode: 0o600, flag: 'wx' });
  }
}

/** A new folder for a run. */
export function newFolder(state: string): string {
  const folder = agentsFolder(state);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return mkdtempSync(join(folder, 'run-'));
}

/** A program of the host's may still be writing there. */
export const removeFolder = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });

/** For the person whose run was ended. */
export function refusal({ program, version }: Recipe, tools: readonly string[]): string {
  return (
    `hob: ${program} offered its model tools that are not Hob’s: ${namesOf(tools)}. The request was not sent and ` +
    `the run was ended. Take out the arguments that bring them back, or use ${program} ${version}, which the recipe was tried with`
  );
}
