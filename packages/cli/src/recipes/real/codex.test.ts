/** The recipe for Codex CLI, with the real release and a scripted model. */
import { acpPromisesOf } from '../../../test/agents/acp-promises.ts';
import { type PromisedHost, promisesOf } from '../../../test/agents/promises.ts';

const host: PromisedHost = {
  name: 'codex',
  path: '/v1',
  key: 'OPENAI_API_KEY',
  options: ['--model', 'gpt-6.1-sol'],
  words: (prompt) => ['codex', 'exec', '--skip-git-repo-check', prompt],
  reopens: { lines: `sed -i 's/^model_catalog_json.*//' "$CODEX_HOME/config.toml"`, args: '' },
  bare: () => ({}),
  bareArgs: (url) => [
    ...['-c', 'model_provider="local"', '-c', 'model="scripted"', '-c', 'model_providers.local.name="local"'],
    ...['-c', `model_providers.local.base_url="${url}/v1"`, '-c', 'model_providers.local.wire_api="responses"'],
  ],
  shell: (cmd) => ({
    name: 'exec',
    item: {
      type: 'custom_tool_call',
      name: 'exec',
      input: `text(JSON.stringify(await tools.exec_command({ cmd: ${JSON.stringify(cmd)} })))`,
    },
  }),
  ambient: (run, outside) => [
    { name: 'exec_command', args: { cmd: run('exec_command') } },
    { name: 'shell', args: { command: ['sh', '-c', run('shell')] } },
    { name: 'shell_command', args: { command: run('shell_command') } },
    { name: 'local_shell', args: { command: ['sh', '-c', run('local_shell')] } },
    ...[
      {
        type: 'local_shell_call',
        action: { type: 'exec', command: ['sh', '-c', run('local_shell_call')], timeout_ms: 5000, working_directory: null, env: null, user: null },
      },
      { type: 'custom_tool_call', name: 'apply_patch', input: patch(run('apply_patch').slice(6)) },
      { type: 'custom_tool_call', name: 'exec', input: `await tools.exec_command({ cmd: ${JSON.stringify(run('code-mode'))} })` },
      { type: 'custom_tool_call', name: 'exec', input: `await tools.apply_patch(${JSON.stringify(patch(run('code-patch').slice(6)))})` },
      { type: 'tool_search_call', execution: 'client', arguments: { query: 'shell' } },
    ].map((item) => ({ name: item.type, item })),
    { name: 'container.exec', args: { command: ['sh', '-c', run('container.exec')] } },
    { name: 'apply_patch', args: { input: patch(run('apply_patch_f').slice(6)) } },
    { name: 'view_image', args: { path: outside } },
    ...['multi_agent_v1/spawn_agent', 'collaboration/spawn_agent', 'spawn_agent'].map((name) => ({ name, args: { message: 'x', task_name: 'x' } })),
    { name: 'write_stdin', args: { session_id: 1, chars: 'x' } },
    { name: 'request_user_input', args: { questions: [] } },
    { name: 'request_permissions', args: { permissions: {} } },
    { name: 'update_plan', args: { plan: [] } },
    { name: 'web_search', args: { query: 'x' } },
    { name: 'js_repl', args: { code: '1' } },
    { name: 'create_goal', args: { objective: 'x' } },
    { name: 'read_file', args: { file_path: outside } },
    { name: 'list_dir', args: { dir_path: '/' } },
    { name: 'list_mcp_resources', args: {} },
    { name: 'read_mcp_resource', args: { server: 'hob', uri: `file://${outside}` } },
    { name: 'read_mcp_resource', args: { server: 'codex_apps', uri: `file://${outside}` } },
  ], // biome-ignore format: one line each
};

promisesOf(host);
acpPromisesOf(host, { words: ['codex-acp'], adapter: { name: 'acp-codex', variable: 'CODEX_PATH' } }); // biome-ignore format: one line

function patch(file: string): string {
  return `*** Begin Patch\n*** Add File: ${file}\n+x\n*** End Patch\n`;
}
