/** Claude Code. */
import { type Places, type Recipe, SERVER, type SetUp } from './recipe.ts';

/** The recipe for Claude Code. */
export const claude: Recipe = {
  name: 'claude',
  program: 'claude',
  version: '2.1.197',
  wire: 'anthropic',
  model: 'https://api.anthropic.com',
  keys: ['ANTHROPIC_API_KEY', 'ANTHROPIC_AUTH_TOKEN'],
  toolName: (verb) => `mcp__${SERVER}__${verb}`,
  tolerated: {},
  needsModelName: false,
  acp: {
    ownArgs: 'left out',
    server: 'given',
    passed: ['CLAUDE_CODE_EXECUTABLE'],
    // Else the mode is auto, in which two more requests to the model judge each call, and it has 27 tools of its own.
    meta: { claudeCode: { options: { tools: [], settingSources: [], strictMcpConfig: true, permissionMode: 'default', allowedTools: [`mcp__${SERVER}`] } } }, // biome-ignore format: one line
  },
  closes: [
    '--tools "" takes away all tools of its own, --disable-slash-commands its skills and commands',
    '--strict-mcp-config starts no MCP server but Hob’s, whatever .mcp.json says',
    '--setting-sources "" reads no settings, hooks, instructions, skills or agents of a project or a user',
    'CLAUDE_CODE_DISABLE_ATTACHMENTS: @path in a prompt reads no file',
    'CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: it does not run git at its start, which would run core.fsmonitor',
    'CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: it calls nobody but its model',
  ],
  setUp: (places) => ({
    files: files(places),
    env: {
      ...env(places),
      CLAUDE_CODE_DISABLE_ATTACHMENTS: '1',
      CLAUDE_CODE_DISABLE_AUTO_MEMORY: '1',
      CLAUDE_CODE_DISABLE_CLAUDE_MDS: '1',
      CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS: '1',
    },
    args: [
      ...['--tools', '', '--strict-mcp-config', '--mcp-config', `${places.home}/hob-mcp.json`, '--setting-sources', ''],
      // The last one takes one value, so that a prompt that follows is not taken for a value of a list.
      ...['--disable-slash-commands', '--allowedTools', `mcp__${SERVER}`, '--permission-mode', 'dontAsk'],
    ],
  }),
  setUpInBox: (places) => ({
    files: files(places),
    env: { ...env(places), IS_SANDBOX: '1' },
    args: [
      ...['--mcp-config', `${places.home}/hob-mcp.json`, '--allowedTools', `mcp__${SERVER},${OWN_TOOLS}`],
      ...['--disallowedTools', 'WebSearch,WebFetch', '--permission-mode', 'acceptEdits'],
    ],
  }),
};

/** They act in the box. */
const OWN_TOOLS = 'Bash,Edit,Write,NotebookEdit,Read,Glob,Grep,Task,Agent,Skill';

const files = ({ server: [command = '', ...args] }: Places): SetUp['files'] => ({
  'hob-mcp.json': json({ mcpServers: { [SERVER]: { type: 'stdio', command, args } } }),
});

/** The time that Claude Code gives Hob's MCP server to start. */
const SLOWEST_START_MS = 60_000;

const env = ({ home, model }: Places): SetUp['env'] => ({
  ANTHROPIC_BASE_URL: model,
  CLAUDE_CONFIG_DIR: `${home}/.claude`,
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  // By default Claude Code asks its model before a slow MCP server is connected, or waits for 5 s. The model then has no
  // tools.
  MCP_CONNECTION_NONBLOCKING: 'false',
  MCP_CONNECT_TIMEOUT_MS: `${SLOWEST_START_MS}`,
  MCP_TIMEOUT: `${SLOWEST_START_MS}`,
});

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;
