/** Hermes as the tests start it, with a call of each of its own tools. */
import type { PromisedHost } from './promises.ts';

export const HERMES: PromisedHost = {
  name: 'hermes',
  path: '/v1',
  key: 'OPENAI_API_KEY',
  options: ['--model', 'scripted'],
  words: (prompt) => ['hermes', 'chat', '-Q', '-q', prompt],
  reopens: { lines: `sed -i 's/^ *"hob"$/"hob", "terminal"/' "$HERMES_HOME/config.yaml"`, args: '' },
  bare: () => ({}),
  bareFiles: (url) => ({
    '.hermes/config.yaml': JSON.stringify({
      model: { default: 'scripted', provider: 'custom', base_url: `${url}/v1`, api_key: 'k', context_length: 200_000 },
      security: { tirith_enabled: false },
    }),
  }),
  ambient: (run, outside) => [
    { name: 'terminal', args: { command: run('terminal') } },
    { name: 'execute_code', args: { code: `import os; os.system(${JSON.stringify(run('code'))})` } },
    { name: 'process', args: { action: 'list' } },
    { name: 'read_file', args: { path: outside } },
    { name: 'write_file', args: { path: run('write').slice(6), content: 'x' } },
    { name: 'patch', args: { path: run('patch').slice(6), old_string: '', new_string: 'x', mode: 'replace' } },
    { name: 'search_files', args: { pattern: 'M[A]RK', path: '/' } },
    { name: 'delegate_task', args: { goal: 'x', toolsets: ['terminal'] } },
    { name: 'memory', args: { action: 'add', target: 'memory', content: 'x' } },
    { name: 'skill_manage', args: { action: 'create', name: 'evil', content: 'x' } },
    { name: 'skill_view', args: { name: 'evil' } },
    { name: 'skills_list', args: {} },
    { name: 'session_search', args: { query: 'x' } },
    { name: 'todo', args: { todos: [] } },
    { name: 'clarify', args: { question: 'x' } },
    { name: 'cronjob', args: { action: 'create', schedule: '* * * * *', prompt: 'x' } },
    { name: 'send_message', args: { target: 'x', message: 'x' } },
    { name: 'browser_navigate', args: { url: 'http://127.0.0.1:9/' } },
    { name: 'web_extract', args: { urls: ['http://127.0.0.1:9/'] } },
    { name: 'vision_analyze', args: { image_url: outside, question: 'x' } },
    { name: 'text_to_speech', args: { text: 'x' } },
    { name: 'tool_call', args: { name: 'terminal', arguments: { command: run('tool_call') } } },
    { name: 'list_resources', args: {} },
    { name: 'read_resource', args: { uri: `file://${outside}` } },
  ],
};
