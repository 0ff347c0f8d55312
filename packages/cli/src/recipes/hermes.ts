/** Hermes. */
import { type Places, type Recipe, SERVER } from './recipe.ts';

/** The recipe for Hermes. */
export const hermes: Recipe = {
  name: 'hermes',
  program: 'hermes',
  version: '0.19.0',
  wire: 'chat',
  model: 'https://api.openai.com/v1',
  keys: ['OPENAI_API_KEY'],
  toolName: (verb) => `mcp__${SERVER}__${verb}`,
  tolerated: {},
  needsModelName: true,
  noAcp: 'over ACP it has fifteen tools of its own, which no setting takes away',
  noBox: 'its installation has its own place in its files, and a box puts a program elsewhere',
  closes: [
    'platform_toolsets: the toolset of Hob’s server and no other, on each platform that Hermes has',
    'mcp_servers: Hob’s alone, without tools for resources and prompts; tool_search is off, so each tool has its name',
    'a new HERMES_HOME: no plugins, hooks, skills, memories, schedules or .env of yours',
    'the empty directory: AGENTS.md, .hermes.md and plugins of a project are not there',
    'security.tirith_enabled: it downloads no scanner',
  ],
  setUp: ({ home, ...places }) => ({
    files: { '.hermes/config.yaml': `${JSON.stringify(configuration(places), null, 2)}\n` },
    env: { HERMES_HOME: `${home}/.hermes`, HERMES_DISABLE_LAZY_INSTALLS: '1' },
    args: [],
  }),
};

/** JSON is YAML. */
const configuration = ({ model, modelName, server: [command = '', ...args] }: Omit<Places, 'home'>): object => ({
  model: {
    default: modelName,
    provider: 'custom',
    base_url: model,
    // Hermes puts the variable in.
    api_key: '${OPENAI_API_KEY}',
    context_length: 200_000,
  },
  security: { tirith_enabled: false },
  approvals: { mode: 'manual', timeout: 1 },
  tools: { tool_search: { enabled: 'off' } },
  memory: { memory_enabled: false, user_profile_enabled: false },
  mcp_servers: {
    [SERVER]: { command, args, connect_timeout: 60, timeout: 60, tools: { resources: false, prompts: false } },
  },
  platform_toolsets: Object.fromEntries(PLATFORMS.map((platform) => [platform, [SERVER]])),
});

/** Each has a list of its own. One that is missing would have the tools of Hermes, and the relay would end the run. */
const PLATFORMS: readonly string[] = ['cli', 'cron', 'api_server', 'telegram', 'discord', 'slack', 'whatsapp', 'signal', 'email', 'webhook']; // biome-ignore format: one line
