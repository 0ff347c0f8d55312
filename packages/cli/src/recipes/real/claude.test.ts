/** The recipe for Claude Code, with the real release and a scripted model. */
import { acpPromisesOf } from '../../../test/agents/acp-promises.ts';
import { type PromisedHost, promisesOf } from '../../../test/agents/promises.ts';

const host: PromisedHost = {
  name: 'claude',
  path: '',
  key: 'ANTHROPIC_API_KEY',
  options: [],
  words: (prompt) => ['claude', '-p', prompt],
  reopens: { lines: '', args: '--tools Bash' },
  bare: (url) => ({ ANTHROPIC_BASE_URL: url }),
  shell: (command) => ({ name: 'Bash', args: { command, description: 'x' } }),
  ambient: (run, outside) => [
    { name: 'Bash', args: { command: run('Bash'), description: 'x' } },
    { name: 'Write', args: { file_path: run('Write').slice(6), content: 'x' } },
    { name: 'Read', args: { file_path: outside } },
    { name: 'Edit', args: { file_path: run('Edit').slice(6), old_string: '', new_string: 'x' } },
    { name: 'NotebookEdit', args: { notebook_path: run('x.ipynb').slice(6), new_source: 'x' } },
    { name: 'Glob', args: { pattern: '*' } },
    { name: 'Grep', args: { pattern: 'M[A]RK' } },
    ...['Agent', 'Task'].map((name) => ({
      name,
      args: { description: 'x', prompt: 'x', subagent_type: 'general-purpose' },
    })),
    { name: 'WebFetch', args: { url: 'http://127.0.0.1:9/', prompt: 'x' } },
    { name: 'WebSearch', args: { query: 'xx' } },
    { name: 'Skill', args: { skill: 'evil' } },
    { name: 'SlashCommand', args: { command: '/evil' } },
    { name: 'CronCreate', args: { cron: '* * * * *', prompt: 'x', recurring: false } },
    { name: 'Workflow', args: { script: "export const meta = { name: 'x', description: 'x' }\n" } },
    { name: 'TaskCreate', args: { subject: 'x', description: 'x' } },
    { name: 'SendMessage', args: { to: 'x', message: 'x' } },
    { name: 'EnterWorktree', args: { name: 'x' } },
    { name: 'ToolSearch', args: { query: 'select:Bash' } },
    { name: 'ListMcpResourcesTool', args: {} },
    { name: 'ReadMcpResourceTool', args: { server: 'hob', uri: `file://${outside}` } },
    { name: 'Monitor', args: { command: run('Monitor'), description: 'x' } },
    { name: 'REPL', args: { code: '1' } },
    { name: 'LSP', args: { operation: 'hover' } },
    { name: 'ScheduleWakeup', args: { delaySeconds: 60, reason: 'x', prompt: 'x' } },
  ],
};

promisesOf(host);
acpPromisesOf(host, {
  words: ['claude-agent-acp'],
  adapter: { name: 'acp-claude', variable: 'CLAUDE_CODE_EXECUTABLE' },
  slowServer: true,
});
