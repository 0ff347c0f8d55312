/** Documented rules of four products, and what becomes of each of them. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type Call, check, decide, lineOf, type Plan } from '../index.ts';
import { type Imported, importRules, manifestText, type Product } from '../rules.ts';

type Done = Extract<Imported, { mistakes: readonly [] }>;

function done(product: Product, ...files: readonly (readonly [file: string, text: string])[]): Done {
  const sources = files.map(([file, text]) => ({ file, text }));
  const result = importRules(sources, { product, cwd: '/srv/ann/proj', home: '/srv/ann' });
  if (result.manifest === undefined) throw new Error(result.mistakes.map(lineOf).join('\n'));
  return result;
}
function planOf({ manifest }: Done): Plan {
  const text = manifestText(manifest);
  const { plan, mistakes } = check([{ layer: 'user', file: 'hob.yaml', text }], { now: Date.parse('2026-11-23') });
  expect(mistakes.map(lineOf), text).toEqual([]);
  return plan as Plan;
}
const named = ({ untranslated }: Done): readonly string[] =>
  untranslated.map(({ line, rule, why }) => `${line} ${rule}: ${why}`);
const decisions = (plan: Plan, calls: readonly Call[]): readonly string[] => calls.map((call) => decide(plan, call));
const folder = new URL('../../test/import/', import.meta.url);

test('the configuration that proposed per-tool rules becomes the manifest that is written beside it', () => {
  const text = readFileSync(new URL('per-tool-rules.yaml', folder), 'utf8');
  const result = done('hermes', ['config.yaml', text]);
  expect(manifestText(result.manifest)).toBe(readFileSync(new URL('per-tool-rules.hob.yaml', folder), 'utf8'));
  expect(named(result)).toEqual([
    '3 tool_mode: autonomous: only in part: it also decides for tools without a rule, and here these do not exist',
    '8 terminal(git:*): it allows every command of the program: list those that are needed, each by its verb',
    '11 read_file: only in part: it is about every file of the machine: here it holds beneath project',
    '16 terminal(npm publish:*): only in part: after these words it takes no options but those of a reviewed set: list those that are needed as flags',
    '17 write_file(.env*): a directory cap has a whole directory: the pattern picks files in it',
    '18 cronjob: no cap stands for the tool cronjob',
    '21 mode: smart: only in part: here a model may propose and refuse, and a person approves',
    '23 timeout: 60: how long a question waits is set where the host starts (requestMs), for all sessions',
  ]);
  expect(result.translated.map(({ line, to }) => [line, to])).toEqual([
    [3, 'session.mode'],
    [9, 'session.caps.npm'],
    [10, 'session.caps.src'],
    [11, 'session.caps.project'],
    [13, 'session: what it denies does not exist'],
    [14, 'session: what it denies does not exist'],
    [16, 'session.ask.npm-ask'],
    [21, 'judge'],
    [22, 'session: it holds no schedules, so they run nothing'],
  ]);
  const calls = [
    { command: 'npm test' },
    { command: 'npm publish' },
    { command: 'git status' },
    { command: 'rm -rf x' },
  ];
  expect(decisions(planOf(result), calls)).toEqual(['runs', 'asks', 'absent', 'absent']);
});

test.for(['plan', 'supervised', 'cautious', 'autonomous'] as const)(
  'an explicit allow still runs in tool_mode %s, or is named with its line',
  (mode) => {
    const rules = ['read_file(docs/**)', 'write_file(src/**)', 'terminal(npm test)'];
    const text = `approvals:\n  tool_mode: ${mode}\n  rules:\n    allow:\n${rules.map((rule) => `      - "${rule}"`).join('\n')}\n`;
    const result = done('hermes', ['config.yaml', text]);
    const plan = planOf(result);
    expect(plan.mode).toBe(mode);
    const runs = [
      decide(plan, { cap: 'docs', method: 'read' }),
      decide(plan, { cap: 'src', method: 'write' }),
      decide(plan, { command: 'npm test' }),
    ];
    for (const [n, decision] of runs.entries())
      expect([n, result.untranslated.some(({ line }) => line === n + 5)]).toEqual([n, decision !== 'runs']);
    expect(runs[0]).toBe('runs');
  },
);

test('Claude Code: prefixes, paths, pages and tools become caps, and deny wins over ask and allow', () => {
  const settings = `{
  // comments and trailing commas are read
  "permissions": {
    "allow": [
      "Bash(npm run build)",
      "Bash(npm run test:*)",
      "Bash(git diff *)",
      "Read(./docs/**)",
      "Edit(/src/**)",
      "WebFetch(domain:example.com)",
      "mcp__tracker__get_issue",
      "Read(~/notes/**)",
    ],
    "ask": ["Bash(git push *)", "mcp__tracker__close_issue"],
    "deny": ["Read(./.env)", "Edit(/src/gen/**)", "Bash(curl *)", "WebSearch"],
    "defaultMode": "default",
  },
  "model": "any",
}`;
  const servers =
    '{"mcpServers": {"tracker": {"command": "tracker-server", "args": ["--stdio"], "env": {"KEY": "x"}}}}';
  const result = done('claude', ['settings.json', settings], ['.mcp.json', servers]);
  expect(result.manifest).toEqual({
    version: 1,
    roots: { project: '.' },
    servers: { tracker: { command: ['tracker-server', '--stdio'] } },
    session: {
      // A tool of a server is external: in the default mode it would wait for a person.
      mode: 'autonomous',
      caps: {
        docs: { fs: 'project/docs', can: ['read', 'list', 'search'], except: ['.env'] },
        src: { fs: 'project/src', can: ['write'], except: ['.env', '/gen/**'] },
        npm: {
          command: 'npm',
          argv: [
            ['run', 'build'],
            ['run', 'test', 'rest'],
          ],
          cwd: 'project',
        },
        git: { command: 'git', argv: [['diff', 'flags(git.read)', 'rest']], cwd: 'project' },
        'example-com': { http: 'https://example.com/', methods: ['GET'] },
        tracker: { mcp: 'tracker', tools: ['get_issue'] },
      },
      ask: {
        'git-ask': {
          command: 'git',
          argv: [['push', 'rest']],
          cwd: 'project',
          offer: { uses: 1 },
        },
        'tracker-ask': { mcp: 'tracker', tools: ['close_issue'], offer: { uses: 1 } },
      },
    },
  });
  const inPart =
    'only in part: after these words it takes no options but those of a reviewed set: list those that are needed as flags';
  expect(named(result)).toEqual([
    '1 server tracker: env: values of secrets are not copied: store them with hob secret set, and name them in secrets or secret',
    `6 Bash(npm run test:*): ${inPart}`,
    `7 Bash(git diff *): ${inPart}`,
    '12 Read(~/notes/**): it lies in no root: add one with --root NAME=DIR',
    `14 Bash(git push *): ${inPart}`,
  ]);
  const plan = planOf(result);
  const calls = [
    'npm run build',
    'npm run test a',
    'git diff --stat',
    'git push',
    'git diff --output=x',
    'curl x',
    'npm run',
  ];
  expect(
    decisions(
      plan,
      calls.map((command) => ({ command })),
    ),
  ).toEqual(['runs', 'runs', 'runs', 'asks', 'absent', 'absent', 'absent']);
});

test('Codex: prefixes with alternatives, the strictest rule, and what config.toml says', () => {
  const rules = `# comments stay out
prefix_rule(
    pattern = ["git", ["status", "log", "push"]],
    match = [["git", "log"], "git status"],
    justification = "reads, and one that does not",
)
prefix_rule(pattern = ['git', 'push'], decision = "prompt")
prefix_rule(pattern = ["npm", "run", "deploy"], decision = "forbidden")
prefix_rule(pattern = ["npm", "run"], decision = "allow")
prefix_rule(pattern = ["cargo", "build"])
prefix_rule(pattern = ["bash", "-lc"], decision = "prompt")
network_rule(host = "example.org", protocol = "https", decision = "allow")
host_executable(name = "git", paths = ["/usr/bin/git"])
`;
  const config = `model = "any"
approval_policy = "on-request"
sandbox_mode = "workspace-write"

[mcp_servers.tracker]
url = "https://mcp.example.org/"
enabled_tools = ["get_issue", "close_issue", "list"]
default_tools_approval_mode = "prompt"

[mcp_servers.tracker.tools.get_issue]
approval_mode = "approve"

[mcp_servers.tracker.tools.list]
approval_mode = "auto"
`;
  const result = done('codex', ['default.rules', rules], ['config.toml', config]);
  expect(result.manifest.session).toEqual({
    mode: 'autonomous',
    caps: {
      git: { command: 'git', argv: [['status|log', 'rest']], cwd: 'project' },
      cargo: { command: 'cargo', argv: [['build', 'rest']], cwd: 'project' },
      tracker: { mcp: 'tracker', tools: ['get_issue'] },
    },
    ask: {
      'git-ask': { command: 'git', argv: [['push', 'rest']], cwd: 'project', offer: { uses: 1 } },
      'tracker-ask': { mcp: 'tracker', tools: ['close_issue'], offer: { uses: 1 } },
    },
  });
  expect(result.untranslated.map(({ file, line }) => `${file}:${line}`)).toEqual([
    'config.toml:3',
    'config.toml:7',
    'default.rules:2',
    'default.rules:7',
    'default.rules:9',
    'default.rules:10',
    'default.rules:11',
    'default.rules:12',
    'default.rules:13',
  ]);
  expect(named(result)).toContain(
    '9 prefix_rule([npm, run], allow): line 8 denies a part of it, and the rest cannot be listed: list in argv what is allowed',
  );
  const plan = planOf(result);
  expect(
    decisions(
      plan,
      ['git log x', 'git push', 'git push --force', 'npm run x'].map((command) => ({ command })),
    ),
  ).toEqual(['runs', 'asks', 'absent', 'absent']);
});

test('Codex: where approvals never ask, what would ask does not exist', () => {
  const rules = 'prefix_rule(pattern = ["git", "push"], decision = "prompt")\nprefix_rule(pattern = ["npm", "test"])';
  const result = done('codex', ['default.rules', rules], ['config.toml', 'approval_policy = "never"']);
  expect(Object.keys(result.manifest.session ?? {})).toEqual(['caps']);
  expect(named(result)[0]).toMatch(/^1 prefix_rule\(\[git, push\], prompt\): another setting refuses/);
});

test('Gemini CLI: the highest number wins, and lower denies do not take from it', () => {
  const policy = `[[rule]]
toolName = "*"
decision = "deny"
priority = 10

[[rule]]
toolName = "run_shell_command"
commandPrefix = ["npm test", "git log"]
decision = "allow"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandPrefix = "npm test"
decision = "ask_user"
priority = 200

[[rule]]
toolName = ["read_file", "glob"]
decision = "allow"
priority = 100

[[rule]]
toolName = "write_file"
decision = "allow"
priority = 5

[[rule]]
mcpName = "tracker"
toolName = "get_issue"
decision = "allow"
priority = 100

[[rule]]
toolName = "run_shell_command"
commandRegex = "git (commit|push)"
decision = "allow"
priority = 100
`;
  const settings = '{"mcpServers": {"tracker": {"httpUrl": "https://mcp.example.org/"}}}';
  const result = done('gemini', ['rules.toml', policy]);
  expect(result.manifest.session).toEqual({
    caps: {
      project: { fs: 'project', can: ['read', 'search'] },
      git: { command: 'git', argv: [['log', 'flags(git.read)', 'rest']], cwd: 'project' },
    },
    ask: {
      'npm-ask': { command: 'npm', argv: [['test', 'rest']], cwd: 'project', offer: { uses: 1 } },
    },
  });
  const lines = new Set(result.untranslated.map(({ line }) => line));
  expect([...lines]).toEqual([6, 12, 18, 23, 28, 34]);
  expect(named(result).join('\n')).toMatch(/23 .*: line 1 denies every call\n/);
  expect(named(result).join('\n')).toMatch(/34 .*: a regular expression stands for calls that are not listed$/);
  // A server that nobody trusts asks for each tool. Its file is another one, so its number does not count.
  const both = done('gemini', ['rules.toml', policy], ['settings.json', settings]);
  expect(both.manifest.servers).toBeUndefined();
  expect(named(both).join('\n')).toMatch(/28 .*: settings.json:1 asks for this tool/);
});

test.for([
  ['hermes', 'c.yaml', 'approvals:\n  rules:\n    allow: [a', 3],
  ['hermes', 'c.yaml', 'approvals:\n  rules:\n    allow: []\n    allow: []', 4],
  ['hermes', 'c.yaml', 'a: 1\n---\nb: 2', 2],
  ['hermes', 'c.yaml', 'a: !python/object:os.system x', 1],
  ['hermes', 'c.yaml', 'a: &a [*a]', 1],
  ['hermes', 'c.yaml', '- a', 1],
  ['claude', 's.json', '{\n"permissions": {"allow": [}', 2],
  ['claude', 's.json', '{"permissions": {"deny": ["a"],\n"deny": []}}', 2],
  ['claude', 's.json', '{"permissions": {"allow": "Bash"}}', 1],
  ['claude', 's.json', '[]', 1],
  ['codex', 'r.rules', '# x\nfor a in b: pass', 2],
  ['codex', 'r.rules', 'prefix_rule(pattern = ["git"] + MORE)', 1],
  ['codex', 'r.rules', 'prefix_rule(pattern = [])', 1],
  ['codex', 'r.rules', '\nprefix_rule(pattern = ["a"], decision = "maybe")', 2],
  ['codex', 'r.rules', 'prefix_rule(pattern = ["a"], regex = "x")', 1],
  ['codex', 'r.rules', 'suffix_rule(pattern = ["a"])', 1],
  ['codex', 'r.rules', 'x = "a', 1],
  ['gemini', 'p.toml', '[[rule]]\ntoolName = "a"\ndecision = "allow"', 1],
  ['gemini', 'p.toml', '[[rule]]\ntoolName = "a"\ndecision = "allow"\npriority = 1000', 1],
  ['gemini', 'p.toml', 'a = 1\na = 2', 2],
  ['gemini', 'p.toml', '[rules]\na = 1', 1],
] as const)('a file that cannot be read whole is not read: %s %s %j', ([product, file, text, line]) => {
  const result = importRules([{ file, text }], { product });
  expect(result.manifest).toBeUndefined();
  expect(result.mistakes).toMatchObject([{ file, line, severity: 'error' }]);
  expect(lineOf(result.mistakes[0] as never)).not.toMatch(/undefined|\n/);
});

test('aliases and merge keys of YAML are rules like others', () => {
  const text = `
shared: &shared
  deny: ["terminal(npm publish:*)"]
lists: &lists
  - "terminal(npm run:*)"
approvals:
  rules:
    <<: *shared
    allow: *lists
`;
  const result = done('hermes', ['config.yaml', text]);
  expect(result.translated.map(({ rule, line }) => [rule, line])).toEqual([
    ['terminal(npm publish:*)', 3],
    ['terminal(npm run:*)', 5],
  ]);
  // `off` without quotes is false in YAML 1.1, and Hermes then asks nothing.
  const off = done('hermes', ['config.yaml', 'approvals:\n  mode: off\n  cron_mode: off']);
  expect(off.untranslated.map(({ line }) => line)).toEqual([2, 3]);
});
