/**
 * Starts the agents of an editor: as they are, by a recipe, or in a box.
 *
 * Promise: an agent that is started by a recipe or in a box gets the home, the variables and the relay that `hob start` gives it.
 * When it is stopped, nothing of it is left. A recipe without ACP, and a box where there is none, start nothing.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Agent } from '@hob/acp';
import { CapError, E } from '@hob/vat';
import type { OpenedEntry } from '../../daemon/daemon.ts';
import { mcpServer, withEntry } from '../../daemon/drivers/agent.ts';
import { Mistake } from '../../line/mistake.ts';
import type { HostRun } from '../../recipes/drivers/host-run.ts';
import { passed, readyHost } from '../../recipes/drivers/run.ts';
import { type Recipe, SERVER } from '../../recipes/recipe.ts';
import { ofChild, ofJob } from './pipes.ts';

/** A program that was asked to end gets this long. */
const ENDING_MS = 5_000;

/** Errors: `Mistake` (the recipe, or the box, is not for an editor). */
export function checkAcp({ recipe, inBox }: HostRun, isApart: boolean): void {
  if (recipe === undefined) return;
  if (isApart) throw new Mistake('--apart is for an agent without --recipe and --box: those begin apart anyway', 2);
  const { name, acp, noAcp = 'it does not speak ACP' } = recipe;
  if (acp === undefined) throw new Mistake(`the recipe ${name} is not for an editor: ${noAcp}`, 2);
  if (inBox && acp.ownArgs !== 'kept')
    throw new Mistake(
      `there is no box for the adapter of ${name}: leave out --box, and its recipe takes its tools away`,
      2,
    );
}

/** Errors: `CapError`, with a text for the person at the editor. */
export async function startAgent(how: HostRun, entry: OpenedEntry, isApart: boolean): Promise<Agent> {
  try {
    return await started(how, entry, isApart);
  } catch (error) {
    if (error instanceof Mistake) throw new CapError('unavailable', error.message);
    throw error;
  }
}

async function started(how: HostRun, entry: OpenedEntry, isApart: boolean): Promise<Agent> {
  if (how.recipe === undefined) return await bare(how, entry, isApart);
  return how.inBox ? await boxed(how, how.recipe, entry) : await byRecipe(how, how.recipe, entry);
}

/** For the person who starts an agent as it is. */
const KEEPS = 'hob: this agent keeps its own tools, and the authority of your user: --recipe or --box takes them away';

/** It keeps all that it has, and gets Hob's server besides. Apart, it begins in an empty directory and is told no other. */
async function bare({ run: { words, say } }: HostRun, entry: OpenedEntry, isApart: boolean): Promise<Agent> {
  const [program = '', ...args] = words;
  say(KEEPS);
  const begun = Promise.withResolvers<Agent>();
  const over = withEntry(entry, async ({ variables, folder }) => {
    const empty = join(folder, 'work');
    if (isApart) mkdirSync(empty, { mode: 0o700 });
    const child = await spawned(program, args, { ...process.env, ...variables }, isApart ? empty : undefined);
    begun.resolve({
      ...running(child),
      directory: (cwd) => (isApart ? empty : cwd),
      mcpServers: [serverOf(mcpServer(entry.url, variables['HOB_SECRET_FILE'] as string))],
      asks: 'shown',
    });
    await ended(child);
  });
  over.catch(begun.reject);
  return await begun.promise;
}

async function byRecipe({ run }: HostRun, recipe: Recipe, entry: OpenedEntry): Promise<Agent> {
  const { acp = NO_ACP } = recipe;
  const [named] = Object.values(passed(acp.passed ?? [])).filter((path) => path !== undefined);
  const host = await readyHost(recipe, { ...run, entry, ...(acp.ownArgs === 'kept' ? {} : { own: named ?? recipe.program }) }); // biome-ignore format: one line
  const [, ...own] = run.words;
  const args = acp.ownArgs === 'kept' ? host.args : own;
  try {
    const child = await spawned(host.program, args, { ...host.env, ...passed(acp.passed ?? []) }, host.cwd);
    const { stop, ...rest } = running(child);
    host.end.addEventListener('abort', () => void stop(), { once: true });
    const closed = rest.ended.then(async () => {
      const why = host.refused();
      if (why !== undefined) run.say(why);
      await host.close();
    });
    const [command = '', ...words] = host.server;
    return {
      ...rest,
      stop: async () => {
        await stop();
        await closed;
      },
      directory: () => host.cwd,
      mcpServers: acp.server === 'configured' ? [] : [serverOf({ command, args: words })],
      ...(acp.meta === undefined ? {} : { meta: acp.meta }),
      asks: 'allowed',
    };
  } catch (error) {
    await host.close();
    throw error;
  }
}

async function boxed({ run, ownTools }: HostRun, recipe: Recipe, entry: OpenedEntry): Promise<Agent> {
  const { startBoxed } = await import('../../recipes/drivers/box.ts');
  const host = await startBoxed(recipe, { ...run, entry, box: entry.box, ownTools });
  const { job, rights, refused, close } = host;
  const over = E(job).wait().then(() => {}, () => {}); // biome-ignore format: one line
  const places = Object.keys(rights).sort((a, b) => Number(rights[b] === 'rw') - Number(rights[a] === 'rw'));
  return {
    pipe: ofJob(job, (bytes) => void process.stderr.write(bytes)),
    ended: over,
    async stop() {
      const why = refused();
      if (why !== undefined) run.say(why);
      await close();
      await over;
    },
    directory: () => places[0] ?? '/',
    mcpServers: [],
    asks: 'allowed',
  };
}

/** It is refused before (`checkAcp`). */
const NO_ACP: NonNullable<Recipe['acp']> = { ownArgs: 'kept', server: 'configured' };

/** As `session/new` takes it. */
const serverOf = ({ command, args }: { readonly command: string; readonly args: readonly string[] }): object => ({
  name: SERVER,
  command,
  args,
  env: [],
});

/** Errors: `Mistake` (it cannot be run). */
function spawned(
  program: string,
  args: readonly string[],
  env: Readonly<NodeJS.ProcessEnv>,
  cwd: string | undefined,
): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { env, ...(cwd === undefined ? {} : { cwd }), stdio: ['pipe', 'pipe', 'inherit'], detached: true }); // biome-ignore format: one line
    child.once('error', ({ code }: NodeJS.ErrnoException) =>
      reject(new Mistake(`the agent ${JSON.stringify(program)} cannot be run (${code}): name a program that is there`)),
    );
    child.once('spawn', () => resolve(child));
  });
}

function running(child: ChildProcess): Pick<Agent, 'pipe' | 'ended' | 'stop'> {
  const over = ended(child);
  return {
    pipe: ofChild(child),
    ended: over,
    async stop() {
      signal(child, 'SIGTERM');
      const timer = setTimeout(() => signal(child, 'SIGKILL'), ENDING_MS);
      await over;
      clearTimeout(timer);
      // The last of its group.
      signal(child, 'SIGKILL');
    },
  };
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
  });

/** To the program and all that it began. */
function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, name);
  } catch {
    // Nobody is left in its group.
  }
}
