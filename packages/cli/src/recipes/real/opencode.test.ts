/** The recipe for OpenCode, with the real release and a scripted model. */
import { acpPromisesOf } from '../../../test/agents/acp-promises.ts';
import { type PromisedHost, promisesOf } from '../../../test/agents/promises.ts';

const PROVIDER = (url: string): string =>
  JSON.stringify({
    model: 'local/scripted',
    small_model: 'local/scripted',
    provider: {
      local: {
        npm: '@ai-sdk/openai-compatible',
        options: { baseURL: `${url}/v1`, apiKey: 'k' },
        models: { scripted: { limit: { context: 200_000, output: 8_000 } } },
      },
    },
  });

const host: PromisedHost = {
  name: 'opencode',
  path: '/v1',
  key: 'OPENAI_API_KEY',
  options: ['--model', 'scripted'],
  words: (prompt) => ['opencode', 'run', prompt],
  reopens: { lines: `sed -i 's/"deny"/"allow"/' "$OPENCODE_CONFIG"`, args: '' },
  bare: (url) => ({ OPENCODE_CONFIG_CONTENT: PROVIDER(url), OPENCODE_DISABLE_MODELS_FETCH: '1' }),
  shell: (command) => ({ name: 'bash', args: { command, description: 'x' } }),
  ambient: (run, outside) => [
    { name: 'bash', args: { command: run('bash'), description: 'x' } },
    { name: 'Bash', args: { command: run('Bash'), description: 'x' } },
    { name: 'shell', args: { command: run('shell'), description: 'x' } },
    { name: 'write', args: { filePath: run('write').slice(6), content: 'x' } },
    { name: 'edit', args: { filePath: run('edit').slice(6), oldString: '', newString: 'x' } },
    { name: 'read', args: { filePath: outside } },
    { name: 'glob', args: { pattern: '*' } },
    { name: 'grep', args: { pattern: 'M[A]RK' } },
    { name: 'list', args: { path: '/' } },
    { name: 'task', args: { description: 'x', prompt: 'x', subagent_type: 'general' } },
    { name: 'todowrite', args: { todos: [] } },
    { name: 'webfetch', args: { url: 'http://127.0.0.1:9/', format: 'text' } },
    { name: 'skill', args: { name: 'evil' } },
    {
      name: 'apply_patch',
      args: { patchText: `*** Begin Patch\n*** Add File: ${run('patch').slice(6)}\n+x\n*** End Patch` },
    },
    {
      name: 'batch',
      args: { tool_calls: [{ tool: 'bash', parameters: { command: run('batch'), description: 'x' } }] },
    },
    { name: 'websearch', args: { query: 'x' } },
    { name: 'question', args: { questions: [] } },
    { name: 'lsp', args: { operation: 'hover', filePath: 'x', line: 1, character: 1 } },
    { name: 'invalid', args: { tool: 'bash', error: 'x' } },
    { name: 'evil', args: {} },
  ],
};

promisesOf(host);
acpPromisesOf(host, { words: ['opencode', 'acp'] });
