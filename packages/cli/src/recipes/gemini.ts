/** Gemini CLI. */
import { VERBS } from './our-verbs.ts';
import { type Recipe, SERVER } from './recipe.ts';

const toolName = (verb: string): string => `mcp_${SERVER}_${verb}`;

/** The recipe for Gemini CLI. */
export const gemini: Recipe = {
  name: 'gemini',
  program: 'gemini',
  version: '0.61.0',
  wire: 'gemini',
  model: 'https://generativelanguage.googleapis.com',
  keys: ['GEMINI_API_KEY'],
  toolName,
  tolerated: {},
  needsModelName: false,
  acp: { ownArgs: 'kept', server: 'configured' },
  closes: [
    'tools.core names Hob’s tools only, so that none of its own is offered',
    '--admin-policy denies every tool but Hob’s, above all settings, flags and files of a workspace',
    '-e none, skills.enabled: no extensions and no skills',
    'the empty directory: it reads GEMINI.md, .gemini/.env and .env of its directory and those above',
  ],
  setUp: ({ home, model, server }) => ({
    files: {
      '.gemini/settings.json': json({
        ...common(server),
        tools: { core: [toolName('*')] },
        skills: { enabled: false },
        admin: { extensions: { enabled: false } },
        advanced: { ignoreLocalEnv: true },
      }),
      'hob-policy.toml': POLICY,
    },
    // Else it starts itself again with more memory, and the one that ends would not be the one that works.
    env: { GOOGLE_GEMINI_BASE_URL: model, GEMINI_CLI_NO_RELAUNCH: 'true' },
    // Without --skip-trust it refuses a directory that it does not know, with 55.
    args: ['-e', 'none', '--admin-policy', `${home}/hob-policy.toml`, '--skip-trust'],
  }),
  setUpInBox: ({ model, server }) => ({
    files: {
      '.gemini/settings.json': json({ ...common(server), tools: { exclude: ['google_web_search', 'web_fetch'] } }),
    },
    env: { GOOGLE_GEMINI_BASE_URL: model, GEMINI_CLI_NO_RELAUNCH: 'true' },
    args: ['--approval-mode', 'yolo', '--skip-trust'],
  }),
};

/** In a box and out of it. */
const common = ([command = '', ...args]: readonly string[]): object => ({
  security: { auth: { selectedType: 'gemini-api-key' } },
  general: { enableAutoUpdate: false, disableAutoUpdate: true },
  privacy: { usageStatisticsEnabled: false },
  mcpServers: { [SERVER]: { command, args, trust: true, timeout: 60_000 } },
});

/** A pattern would list the tools and deny their calls: so each has its exact name. */
const POLICY = `[[rule]]
toolName = "*"
decision = "deny"
priority = 100

[[rule]]
toolName = ${JSON.stringify(VERBS.map(toolName))}
decision = "allow"
priority = 500
`;

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
