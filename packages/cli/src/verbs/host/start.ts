/** `hob start`: runs an agent in a session of its own. */
import type { Far } from '@hob/vat';
import type { Daemon, OpenedEntry, Starter } from '../../daemon/daemon.ts';
import { shortId } from '../../line/ids.ts';
import { STATE } from '../../line/options.ts';
import { type Given, isGiven, listOf, textOf, type Verb } from '../../line/verb.ts';

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
    const { untilSignal } = await import('../../daemon/drivers/agent.ts');
    const { layerTexts } = await import('../../drivers/layers.ts');
    const { pause } = await import('../../drivers/pause.ts');
    const { openNamed } = await import('../../sessions/open-named.ts');
    const runIn = await runnerOf(given, say);
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
      const entry = await openNamed(daemon, { name, starter: starter as unknown as Starter, layers });
      for (const text of entry.said) say(text);
      const label = shortId('S', entry.id);
      say(`hob: session ${label}`);
      const end = (reached: Far<Daemon>): Promise<unknown> => E(reached).end(entry.id);
      try {
        const code = await runIn(entry);
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

/** How the program is run. Errors: `Mistake`. */
async function runnerOf(given: Given, say: (text: string) => void): Promise<(entry: OpenedEntry) => Promise<number>> {
  const { hostRun } = await import('../../recipes/drivers/host-run.ts');
  const { recipe, inBox, ownTools, run } = hostRun(given, say);
  if (recipe === undefined) {
    const { runAgent } = await import('../../daemon/drivers/agent.ts');
    return (entry) => runAgent(given.operands, entry);
  }
  if (inBox) {
    const { runBoxed } = await import('../../recipes/drivers/box.ts');
    return (entry) => runBoxed(recipe, { ...run, entry, box: entry.box, ownTools });
  }
  const { runRecipe } = await import('../../recipes/drivers/run.ts');
  return (entry) => runRecipe(recipe, { ...run, entry });
}

/** The session has ended already. Any other error is thrown again. */
function isGone(error: unknown): void {
  if ((error as { readonly code?: unknown }).code !== 'no-such-object') throw error;
}
