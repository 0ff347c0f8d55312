/** OpenCode. */
import { type Places, type Recipe, SERVER } from './recipe.ts';

/** The provider and the model, as OpenCode names them: `hob/MODEL`. */
const PROVIDER = 'hob';

/** The recipe for OpenCode. */
export const opencode: Recipe = {
  name: 'opencode',
  program: 'opencode',
  version: '1.18.33',
  wire: 'chat',
  model: 'https://api.openai.com/v1',
  keys: ['OPENAI_API_KEY'],
  toolName: (verb) => `${SERVER}_${verb}`,
  tolerated: {},
  needsModelName: true,
  acp: { ownArgs: 'kept', server: 'configured' },
  closes: [
    'permission "*": "deny" takes away all tools of its own',
    'enabled_providers: no model but the one behind the relay, not even those that OpenCode brings along',
    'the empty directory: OpenCode runs .opencode/plugin/*.js and the plugins of opencode.json at its start',
    'OPENCODE_DISABLE_PROJECT_CONFIG, OPENCODE_PURE, OPENCODE_DISABLE_CLAUDE_CODE: no settings of a project',
    'lsp, formatter, snapshot and autoupdate are off: it starts no programs for files',
  ],
  setUp: ({ home, model, modelName, server }) => ({
    files: { 'opencode.json': configuration({ model, modelName, server }) },
    env: {
      OPENCODE_CONFIG: `${home}/opencode.json`,
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_CLAUDE_CODE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_PROJECT_CONFIG: '1',
      OPENCODE_PURE: '1',
    },
    args: [],
  }),
  setUpInBox: ({ home, model, modelName, server }) => ({
    files: { 'opencode.json': configuration({ model, modelName, server }, { '*': 'allow', webfetch: 'deny', websearch: 'deny' }) }, // biome-ignore format: one line
    env: {
      OPENCODE_CONFIG: `${home}/opencode.json`,
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      // A workspace with .opencode makes it ask the package registry, and in a box nobody answers.
      npm_config_fetch_retries: '0',
    },
    args: [],
  }),
};

type Permission = Readonly<Record<string, 'allow' | 'deny'>>;

const HOB_ALONE: Permission = { '*': 'deny', [`${SERVER}_*`]: 'allow' };

function configuration(
  { model, modelName, server }: Omit<Places, 'home' | 'start'>,
  permission: Permission = HOB_ALONE,
): string {
  const mcp = { type: 'local', command: server, enabled: true };
  return `${JSON.stringify(
    {
      model: `${PROVIDER}/${modelName}`,
      small_model: `${PROVIDER}/${modelName}`,
      // OpenCode has models of its own, which need no key and would not go through the relay.
      enabled_providers: [PROVIDER],
      autoupdate: false,
      share: 'disabled',
      lsp: false,
      formatter: false,
      snapshot: false,
      permission,
      provider: {
        [PROVIDER]: {
          npm: '@ai-sdk/openai-compatible',
          name: 'the model behind the relay',
          options: { baseURL: model, apiKey: '{env:OPENAI_API_KEY}' },
          models: { [modelName]: { limit: { context: 200_000, output: 8_000 } } },
        },
      },
      // A call that waits returns within 50 s.
      mcp: { [SERVER]: { ...mcp, timeout: 60_000 } },
    },
    null,
    2,
  )}\n`;
}
