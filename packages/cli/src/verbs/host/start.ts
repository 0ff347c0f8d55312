/** `hob start`: runs an agent in a session of its own. */
import type { Far } from '@hob/vat';
import type { Daemon, OpenedEntry, Starter } from '../../daemon/daemon.ts';
import { shortId } from '../../line/ids.ts';
import { Mistake } from '../../line/mistake.ts';
import { STATE } from '../../line/options.ts';
import { type Given, isGiven, listOf, textOf, type Verb } from '../../line/verb.ts';

/** How often a session is opened while others take its name. */
const MOST_TRIES = 20;

/** `hob start` */
export const start: Verb = {
  name: 'start',
  operands: '<agent...>',
  about: 'opens a session of the manifest, runs the agent’s program in it, and ends the session with the program',
  options: [
    { flags: '--name <name>', about: 'the name of the session (default: agent)' },
    {
      flags: '--layer <layer=file>',
      about: 'a manifest that makes this session narrower: project, local or flags',
      many: true,
    },
    {
      flags: '--recipe <host>',
      about: 'runs an agent host so that its model has the verbs of Hob and nothing else: see hob recipe',
    },
    {
      flags: '--box',
      about: 'runs a known agent host in the sandbox: it sees the directories of its session and its model, and keeps its own tools; with --recipe it has the verbs of Hob alone there, too', // biome-ignore format: one line
    },
    {
      flags: '--model-url <url>',
      about: 'with --recipe or --box: the address of the model, if it is not the usual one',
    },
    {
      flags: '--model <name>',
      about:
        'with --recipe or --box: the model’s name, for a host whose configuration has it (codex, opencode, hermes)',
    },
    { flags: '--discard-drafts', about: 'does not wait for the drafts of the agent: they end with the session' },
    STATE,
  ],
  examples: [
    'hob start -- node my-agent.mjs',
    'hob start --name review -- python agent.py',
    'hob start --recipe claude -- claude -p "run the tests"',
    'hob start --box --model gpt-5.5 -- codex',
    'hob start --layer flags=only-docs.yaml -- node my-agent.mjs',
    'hob start -- sh -c \'claude --strict-mcp-config --mcp-config "$HOB_MCP_CONFIG"\'',
  ],
  codes: {
    0: 'the program ended with 0',
    1: 'no host serves the state, a layer has mistakes, or the program cannot be run',
    125: 'with --recipe: the host offered its model a tool of its own, and was ended',
    3: 'any other code is the program’s own; 128 + N for the signal N',
  },
  hardened: true,
  async run(given, { say }) {
    const { driverOf, E } = await import('@hob/vat');
    const { withDaemon } = await import('../../daemon/drivers/client.ts');
    const { runAgent, untilSignal } = await import('../../daemon/drivers/agent.ts');
    const { layerTexts } = await import('../../drivers/layers.ts');
    const { pause } = await import('../../drivers/pause.ts');
    const byRecipe = await recipeRun(given, say);
    const name = textOf(given, 'name') ?? 'agent';
    const layers = layerTexts(listOf(given, 'layer'));
    return await withDaemon(given, async ({ daemon }) => {
      /** The drafts of the session that nobody has answered. */
      const drafts = (session: string): Promise<number> =>
        E(daemon)
          .drafts(session)
          // The host has ended, and the drafts with it.
          .catch(() => 0);
      const over = Promise.withResolvers<void>();
      const starter = driverOf<Starter>({ ended: () => over.promise });
      const names = async (): Promise<ReadonlySet<string>> => new Set((await E(daemon).names()) as readonly string[]);
      const open = async (tries = 1): Promise<OpenedEntry> => {
        const tried = freeName(name, await names());
        try {
          return (await E(daemon).open(tried, starter as unknown as Starter, layers)) as OpenedEntry;
        } catch (error) {
          // Another hob start may have taken the name meanwhile, which is `invalid`.
          if (tries === MOST_TRIES || (error as { readonly code?: unknown }).code !== 'invalid') throw error;
          if (!(await names()).has(tried)) throw error;
          return await open(tries + 1);
        }
      };
      const entry = await open();
      for (const text of entry.said) say(text);
      const label = shortId('S', entry.id);
      say(`hob: session ${label}`);
      const end = (reached: Far<Daemon>): Promise<unknown> => E(reached).end(entry.id);
      try {
        const code = await (byRecipe === undefined ? runAgent(given.operands, entry) : byRecipe(entry));
        const left = isGiven(given, 'discardDrafts') ? 0 : await drafts(entry.id);
        if (left > 0) {
          // Before the line that tells of Ctrl-C.
          const signal = untilSignal();
          say(`hob: the agent ended with ${code} and left ${left === 1 ? 'one draft' : `${left} drafts`}: hob inbox shows them. This waits until each is answered; Ctrl-C discards them`); // biome-ignore format: one line
          while (!signal.aborted && (await drafts(entry.id)) > 0) await pause(300);
        }
        return code;
      } finally {
        over.resolve();
        // The host may have been started again meanwhile. Whatever comes of it, the exit code is the agent's.
        await end(daemon)
          .catch(isGone)
          .catch(() => withDaemon(given, (again) => end(again.daemon)))
          .catch(isGone)
          .catch(() => say(`hob: session ${label} could not be ended: hob end ${label} ends it when a host serves it`));
      }
    });
  },
};

/** How the program is run by a recipe or in a box; undefined if neither was asked for. Errors: `Mistake`. */
async function recipeRun(
  given: Given,
  say: (text: string) => void,
): Promise<((entry: OpenedEntry) => Promise<number>) | undefined> {
  const [named, inBox] = [textOf(given, 'recipe'), isGiven(given, 'box')];
  const [modelUrl, modelName] = [textOf(given, 'modelUrl'), textOf(given, 'model')];
  if (named === undefined && !inBox) {
    if (modelUrl !== undefined || modelName !== undefined)
      throw new Mistake('--model-url and --model go with --recipe or --box', 2);
    return undefined;
  }
  const { recipeFor, recipeOf } = await import('../../recipes/all.ts');
  const { VERBS } = await import('../../recipes/our-verbs.ts');
  const { ownCommand } = await import('../../drivers/own-code.ts');
  const { stateOf } = await import('../../drivers/places.ts');
  const recipe = named === undefined ? recipeFor(given.operands[0] ?? '') : recipeOf(named);
  const address = modelUrl ?? recipe.model;
  if (!URL.canParse(address)) throw new Mistake('--model-url is no address: write https://HOST/PATH', 2);
  if (recipe.needsModelName && modelName === undefined)
    throw new Mistake(`${recipe.program} has the name of its model in its configuration: name it with --model`, 2);
  if (named !== undefined && recipe.notTight !== undefined) say(`hob: this recipe is not tight: ${recipe.notTight}`);
  const run = {
    words: given.operands,
    state: stateOf(given),
    server: [...ownCommand(), 'mcp'],
    verbs: VERBS,
    upstream: new URL(address),
    ...(modelName === undefined ? {} : { modelName }),
    say,
  };
  if (inBox) {
    const { runBoxed } = await import('../../recipes/drivers/box.ts');
    return (entry) => runBoxed(recipe, { ...run, entry, box: entry.box, ownTools: named === undefined }); // biome-ignore format: one line
  }
  const { runRecipe } = await import('../../recipes/drivers/run.ts');
  return (entry) => runRecipe(recipe, { ...run, entry });
}

/** The session has ended already. Any other error is thrown again. */
function isGone(error: unknown): void {
  if ((error as { readonly code?: unknown }).code !== 'no-such-object') throw error;
}

/** Sessions that are open at once have different names. */
function freeName(name: string, taken: ReadonlySet<string>): string {
  for (let n = 1; ; n += 1) {
    const tried = n === 1 ? name : `${name}-${n}`;
    if (!taken.has(tried)) return tried;
  }
}
