/** The recipe for Gemini CLI, with the real release and a scripted model. */
import { acpPromisesOf } from '../../../test/agents/acp-promises.ts';
import { type PromisedHost, promisesOf } from '../../../test/agents/promises.ts';

const host: PromisedHost = {
  name: 'gemini',
  path: '',
  key: 'GEMINI_API_KEY',
  options: [],
  words: (prompt) => ['gemini', '-m', 'gemini-2.5-pro', '-p', prompt],
  reopens: {
    lines: `sed -i 's/"deny"/"allow"/' "$HOME/hob-policy.toml"; sed -i 's/"mcp_hob_[*]"/"mcp_hob_*", "list_directory"/' "$HOME/.gemini/settings.json"`,
    args: '',
  },
  bare: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_CLI_TRUST_WORKSPACE: 'true' }),
  shell: (command) => ({ name: 'run_shell_command', args: { command, description: 'x' } }),
  ambient: (run, outside) => [
    { name: 'run_shell_command', args: { command: run('shell'), description: 'x' } },
    { name: 'write_file', args: { file_path: run('write').slice(6), content: 'x' } },
    {
      name: 'replace',
      args: { file_path: run('replace').slice(6), old_string: '', new_string: 'x', instruction: 'x' },
    },
    { name: 'read_file', args: { file_path: outside } },
    { name: 'list_directory', args: { dir_path: '.' } },
    { name: 'glob', args: { pattern: '*' } },
    { name: 'grep_search', args: { pattern: 'M[A]RK' } },
    { name: 'read_many_files', args: { include: [outside] } },
    { name: 'google_web_search', args: { query: 'x' } },
    { name: 'web_fetch', args: { prompt: 'http://127.0.0.1:9/' } },
    { name: 'save_memory', args: { fact: 'x' } },
    { name: 'invoke_agent', args: { agent_name: 'generalist', prompt: 'x' } },
    { name: 'codebase_investigator', args: { objective: 'x' } },
    { name: 'activate_skill', args: { name: 'evil' } },
    { name: 'enter_plan_mode', args: { reason: 'x' } },
    { name: 'update_topic', args: { title: 'x', strategic_intent: 'x' } },
    { name: 'ask_user', args: { questions: [] } },
    { name: 'write_todos', args: { todos: [] } },
    { name: 'list_mcp_resources', args: {} },
    { name: 'read_mcp_resource', args: { uri: `file://${outside}` } },
    { name: 'complete_task', args: {} },
  ],
};

promisesOf(host);
acpPromisesOf(host, { words: ['gemini', '--acp', '-m', 'gemini-2.5-pro'] });
