/** `hob acp`: an agent for an editor, in sessions of the manifest. */
import { STATE } from '../../line/options.ts';
import { isGiven, listOf, textOf, type Verb } from '../../line/verb.ts';

/** `hob acp` */
export const acp: Verb = {
  name: 'acp',
  operands: '<agent...>',
  about:
    'stands between an editor and an agent that speaks ACP: the editor starts it in place of the agent, and each of its sessions is one of the manifest',
  options: [
    { flags: '--name <name>', about: 'the name of the sessions (default: acp)' },
    {
      flags: '--layer <layer=file>',
      about: 'a manifest that makes these sessions narrower: project, local or flags',
      many: true,
    },
    {
      flags: '--recipe <host>',
      about: 'starts the agent so that its model has the verbs of Hob and nothing else: see hob recipe',
    },
    {
      flags: '--box',
      about: 'starts a known agent host in the sandbox: it sees the directories of its session and its model, and keeps its own tools', // biome-ignore format: one line
    },
    {
      flags: '--apart',
      about:
        'an agent without --recipe and --box begins in an empty directory: for one that reads or runs what lies in a project',
    },
    {
      flags: '--model-url <url>',
      about: 'with --recipe or --box: the address of the model, if it is not the usual one',
    },
    {
      flags: '--model <name>',
      about: 'with --recipe or --box: the model’s name, for a host whose configuration has it',
    },
    STATE,
  ],
  examples: [
    'hob acp --recipe opencode --model gpt-5.5 -- opencode acp',
    'hob acp --box -- gemini --acp',
    'hob acp --apart -- hob-hermes acp',
  ],
  codes: {
    0: 'the editor closed, or a signal ended it',
    1: 'no host serves the state, a layer has mistakes, or the agent cannot be run',
  },
  hardened: true,
  async run(given, { say }) {
    const { wrap } = await import('@hob/acp');
    const { E } = await import('@hob/vat');
    const { untilSignal } = await import('../../daemon/drivers/agent.ts');
    const { withDaemon } = await import('../../daemon/drivers/client.ts');
    const { openNamed } = await import('../../sessions/open-named.ts');
    const { layerTexts } = await import('../../drivers/layers.ts');
    const { checkAcp, startAgent } = await import('../../acp/drivers/agents.ts');
    const { ofThisProcess } = await import('../../acp/drivers/pipes.ts');
    const { editorOf, openWork } = await import('../../acp/work.ts');
    const { hostRun } = await import('../../recipes/drivers/host-run.ts');
    const how = hostRun(given, say);
    const isApart = isGiven(given, 'apart');
    checkAcp(how, isApart);
    const layers = layerTexts(listOf(given, 'layer'));
    const name = textOf(given, 'name') ?? 'acp';
    return await withDaemon(given, async ({ daemon }) => {
      const granter = await editorOf(daemon);
      await wrap({
        editor: ofThisProcess(),
        open: () =>
          openWork({
            daemon,
            say,
            open: (starter) => openNamed(daemon, { name, starter, layers }),
            start: (entry) => startAgent(how, entry, isApart),
            end: (session) =>
              E(daemon)
                .end(session)
                .catch(() => withDaemon(given, (again) => E(again.daemon).end(session))),
          }),
        ...(granter === undefined ? {} : { granter }),
        end: untilSignal(),
        say,
      });
      return 0;
    });
  },
};
