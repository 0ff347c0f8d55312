/** Codex CLI. */
import { type Places, type Recipe, SERVER } from './recipe.ts';

/** The entry of a model that Codex reads, without the tools that it adds to such an entry. */
const CATALOG = '.codex/catalog.json';

/** The recipe for Codex CLI. */
export const codex: Recipe = {
  name: 'codex',
  program: 'codex',
  version: '0.169.0',
  wire: 'responses',
  model: 'https://api.openai.com/v1',
  keys: ['OPENAI_API_KEY'],
  toolName: (verb) => `mcp__${SERVER}/${verb}`,
  tolerated: {
    list_mcp_resources: 'Codex has it with every MCP server, and no setting removes it. It asks Hob’s server only, which has no resources',
    list_mcp_resource_templates: 'the same',
    read_mcp_resource: 'the same',
  }, // biome-ignore format: one line each
  needsModelName: true,
  acp: { ownArgs: 'left out', server: 'configured', passed: ['CODEX_PATH'] },
  closes: [
    'model_catalog_json: the entries of the models without apply_patch, code mode, search for tools, sub-agents and a shell; no other setting reaches those',
    'features: no shell, image viewer, sub-agents, goals, apps, plugins, hooks, browser, and the like',
    'web_search = "disabled", tools: no search by the provider, no questions, no plan',
    'project_doc_max_bytes = 0, skills: no AGENTS.md and no skills reach the prompt',
    'approval_policy = "never", sandbox_mode = "read-only": if a tool came back, it could neither ask nor write',
    'analytics and the check for updates are off: it calls nobody but its model',
    'the empty directory: nothing there configures it, whether it is trusted or not',
  ],
  made: [{ file: CATALOG, args: ['debug', 'models', '--bundled'], of: withoutTools }],
  setUp: ({ home, ...places }) => ({
    files: { '.codex/config.toml': `model_catalog_json = ${text(`${home}/${CATALOG}`)}\n${TIGHT}${common(places)}${FEATURES}` },
    env: { CODEX_HOME: `${home}/.codex` },
    args: [],
  }), // biome-ignore format: one line
  setUpInBox: ({ home, ...places }) => ({
    files: { '.codex/config.toml': `approval_policy = "never"\nsandbox_mode = "danger-full-access"\n${common(places)}` },
    env: { CODEX_HOME: `${home}/.codex` },
    args: [],
  }), // biome-ignore format: one line
};

type Entry = Readonly<Record<string, unknown>>;

/**
 * The catalog that Codex brings along, without tools of its own. A model that is not in it gets the entry of one that is:
 * without an entry Codex would hide the tools of MCP servers behind a search. Errors: `SyntaxError`, `TypeError`.
 */
function withoutTools(catalog: string, modelName: string): string {
  const { models, ...rest } = JSON.parse(catalog) as Entry & { readonly models: readonly Entry[] };
  const isKnown = models.some(({ slug }) => slug === modelName);
  const added = isKnown ? [] : [{ ...models[0], slug: modelName, display_name: modelName }];
  const emptied = [...models, ...added].map((model) => ({ ...model, ...NO_TOOLS }));
  return `${JSON.stringify({ ...rest, models: emptied })}\n`;
}

const NO_TOOLS: Entry = {
  apply_patch_tool_type: null,
  experimental_supported_tools: [],
  multi_agent_version: null,
  shell_type: 'disabled',
  supports_search_tool: false,
  tool_mode: null,
  use_responses_lite: false,
};

const TIGHT = `approval_policy = "never"
sandbox_mode = "read-only"
project_doc_max_bytes = 0
`;

/** In a box and out of it: the model, Hob's server, and nobody else to call. */
const common = ({ model, modelName, server: [command = '', ...args] }: Omit<Places, 'home'>): string => `web_search = "disabled"
check_for_update_on_startup = false
analytics = { enabled = false }
model = ${text(modelName)}
model_provider = "hob"

[model_providers.hob]
name = "the model behind the relay"
base_url = ${text(model)}
env_key = "OPENAI_API_KEY"
wire_api = "responses"
requires_openai_auth = false
supports_websockets = false

[mcp_servers.${SERVER}]
command = ${text(command)}
args = [${args.map(text).join(', ')}]
default_tools_approval_mode = "approve"
# Without it the first request may go out before the tools of this server are there.
required = true
startup_timeout_sec = 60
# A call that waits returns within 50 s.
tool_timeout_sec = 60
`; // biome-ignore format: one line

const FEATURES = `
[skills]
include_instructions = false

[agents]
enabled = false

[tools]
experimental_request_user_input = { enabled = false }
update_plan = { enabled = false }

[features]
${[
  ...['shell_tool', 'unified_exec', 'apps', 'plugins', 'hooks', 'image_generation', 'goals', 'browser_use'],
  ...['browser_use_external', 'computer_use', 'in_app_browser', 'skill_mcp_dependency_install', 'tool_suggest'],
  ...['skill_search', 'sleep_tool', 'view_image', 'shell_snapshot', 'workspace_dependencies'],
]
  .map((feature) => `${feature} = false\n`)
  .join('')}`;

/** A string of JSON is one of TOML, but for the character DEL. */
const text = (value: string): string => JSON.stringify(value).replaceAll('\u007f', '\\u007F');
