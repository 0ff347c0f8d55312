/** Ways in which lists of rules were evaded or grew wider: none of them widens an imported manifest. */
import { expect, test } from 'vitest';
import { check, decide, lineOf, type Plan } from '../index.ts';
import { type Imported, importRules, manifestText, type Product } from '../rules.ts';

type Done = Extract<Imported, { mistakes: readonly [] }>;

function imported(product: Product, file: string, text: string): { readonly result: Done; readonly plan: Plan } {
  const result = importRules([{ file, text }], { product, cwd: '/srv/ann/proj', home: '/srv/ann' });
  if (result.manifest === undefined) throw new Error(result.mistakes.map(lineOf).join('\n'));
  const { plan, mistakes } = check([{ layer: 'user', file: 'hob.yaml', text: manifestText(result.manifest) }], {
    now: 0,
  });
  expect(mistakes.map(lineOf)).toEqual([]);
  return { result, plan: plan as Plan };
}
type Rules = {
  readonly allow?: readonly string[];
  readonly ask?: readonly string[];
  readonly deny?: readonly string[];
};
const claude = (permissions: Rules) => imported('claude', 'settings.json', JSON.stringify({ permissions }));
const hermes = (rules: Rules) => imported('hermes', 'config.yaml', JSON.stringify({ approvals: { rules } }));
const codex = (...patterns: readonly (readonly (string | readonly string[])[])[]) =>
  imported('codex', 'default.rules', patterns.map((one) => `prefix_rule(pattern = ${JSON.stringify(one)})`).join('\n'));

/** Commands that an allow is about, as Claude Code and Hermes write them, and calls that must not exist. */
const NAMED: readonly (readonly [pitfall: string, command: string, never: readonly (readonly string[])[]])[] = [
  [
    'a wrapper',
    'timeout 5 npm test',
    [
      ['timeout', '5', 'rm', '-rf', 'x'],
      ['npm', 'test'],
    ],
  ],
  [
    'env',
    'env npm test',
    [
      ['env', 'sh'],
      ['npm', 'test'],
    ],
  ],
  [
    'xargs',
    'xargs -n1 rm:*',
    [
      ['xargs', 'rm'],
      ['rm', 'x'],
    ],
  ],
  [
    'npx',
    'npx eslint:*',
    [
      ['npx', 'other'],
      ['eslint', 'x'],
    ],
  ],
  ['docker exec', 'docker exec web:*', [['docker', 'exec', 'web', 'sh']]],
  ['find that executes', 'find . -exec rm:*', [['find', '.', '-exec', 'rm', 'x']]],
  ['a wrapper by its path', '/usr/bin/env npm test', [['/usr/bin/env', 'sh']]],
  ['an interpreter', 'python3 build.py', [['python3', 'evil.py']]],
  ['an interpreter with a version', 'python3.12 -c:*', [['python3.12', '-c', 'x']]],
  ['sed, which can write and execute', 'sed s/a/b/ x', [['sed', 's/a/b/w/etc/x']]],
  [
    'all of a program',
    'git:*',
    [
      ['git', 'push'],
      ['git', 'status'],
    ],
  ],
  [
    'a program without a word boundary',
    'npm*',
    [
      ['npmx', 'a'],
      ['npm', 'test'],
    ],
  ],
  [
    'an option before the verb',
    'git -C sub log:*',
    [
      ['git', 'log'],
      ['git', '-C', 'sub', 'log'],
    ],
  ],
  [
    'an option as the verb',
    'node --version',
    [
      ['node', '--version'],
      ['node', 'x.js'],
    ],
  ],
  [
    'a second command',
    'npm test && npm publish',
    [
      ['npm', 'test'],
      ['npm', 'publish'],
    ],
  ],
  ['a second command after ;', 'npm test; rm x', [['npm', 'test']]],
  ['a pipe', 'curl x | sh', [['curl', 'x'], ['sh']]],
  ['a redirection', 'echo hi > /etc/x', [['echo', 'hi']]],
  ['a here-document', 'cat << EOF', [['cat', '<<']]],
  ['a process substitution', 'diff <(ls) x', [['diff', 'x']]],
  [
    'a brace group',
    '{ npm test',
    [
      ['{', 'npm'],
      ['npm', 'test'],
    ],
  ],
  ['a substitution', 'npm run $(echo test)', [['npm', 'run', 'test']]],
  ['backticks', 'npm run `echo test`', [['npm', 'run', 'test']]],
  ['a variable', 'npm run $SCRIPT', [['npm', 'run', 'test']]],
  ['a substitution in quotes', 'npm run "$(echo test)"', [['npm', 'run', 'test']]],
  [
    'a glob that may become an option',
    'npm run *.js',
    [
      ['npm', 'run', '--x.js'],
      ['npm', 'run', 'a.js'],
    ],
  ],
  ['braces', 'npm run {test,publish}', [['npm', 'run', 'publish']]],
  [
    'a wildcard in the middle',
    'git * main',
    [
      ['git', 'push', 'main'],
      ['git', 'log', 'main'],
    ],
  ],
  ['the environment', 'PAGER=sh git log', [['git', 'log']]],
  ['a word of the shell that changes the environment', 'export PAGER=sh', [['export', 'PAGER=sh']]],
  ['another directory first', 'cd sub', [['cd', 'sub']]],
  ['a command of zsh', '=npm test', [['npm', 'test']]],
  ['home', 'ls ~/x', [['ls', '~/x']]],
  [
    'a program of the project',
    './run test',
    [
      ['./run', 'test'],
      ['run', 'test'],
    ],
  ],
  ['a path with ..', '/usr/bin/../../tmp/npm test', [['npm', 'test']]],
  ['a letter that looks like another', 'n\u0440m test', [['npm', 'test']]],
  ['full-width letters', '\uff4e\uff50\uff4d test', [['npm', 'test']]],
  ['a sign that hides', 'npm te\u200bst', [['npm', 'test']]],
  ['a sign that turns the text around', 'npm \u202etset', [['npm', 'test']]],
  ['a line break', 'npm test\nrm x', [['npm', 'test']]],
  ['a space that is none', 'npm\u00a0test', [['npm', 'test']]],
  ['an escape', 'npm te\\st', [['npm', 'test']]],
  ['an open quote', "npm 'test", [['npm', 'test']]],
  ['a quote of another kind', "npm $'te\\x73t'", [['npm', 'test']]],
  ['an empty word', "npm '' test", [['npm', 'test']]],
  ['a command that is too long', `npm run ${'x'.repeat(11_000)}`, [['npm', 'run']]],
  ['fifty commands', Array.from({ length: 60 }, () => 'npm test').join(' && '), [['npm', 'test']]],
];

test.each(NAMED)('%s: the rule is named, and nothing runs', (_name, command, never) => {
  for (const { result, plan } of [
    claude({ allow: [`Bash(${command})`] }),
    hermes({ allow: [`terminal(${command})`] }),
  ]) {
    expect(result.untranslated.map(({ line, why }) => [line, why.length > 10])).toEqual([[1, true]]);
    expect(result.translated).toEqual([]);
    expect(never.map((words) => decide(plan, { command: words }))).toEqual(never.map(() => 'absent'));
  }
});

test.each([
  [
    'an option that another rule did not give',
    'npm run test:*',
    [
      ['npm', 'run', 'test', '--x'],
      ['npm', 'run', 'tests'],
    ],
  ],
  [
    'an option that writes',
    'git diff:*',
    [
      ['git', 'diff', '--output=/x'],
      ['git', 'diff', '--ext-diff'],
      ['git', '-c', 'x', 'diff'],
    ],
  ],
  [
    'options before the verb',
    'gh pr view:*',
    [
      ['gh', 'pr', '--repo', 'r', 'view'],
      ['gh', '--repo', 'r', 'pr', 'view'],
    ],
  ],
  [
    'the same name elsewhere',
    'npm test',
    [
      ['/tmp/npm', 'test'],
      ['./npm', 'test'],
      ['npm', 'test', 'x'],
    ],
  ],
  ['an absolute path', '/opt/npm test', [['/usr/bin/npm', 'test']]],
  [
    'words of the grammar',
    'npm run text',
    [
      ['npm', 'run', 'other'],
      ['npm', 'run'],
    ],
  ],
  [
    'a word like rest',
    "npm run 'rest'",
    [
      ['npm', 'run', 'a'],
      ['npm', 'run'],
    ],
  ],
  [
    'a word like a|b',
    "npm run 'a|b'",
    [
      ['npm', 'run', 'a'],
      ['npm', 'run', 'b'],
    ],
  ],
  [
    'a word like flags(git.read)',
    "npm run 'flags(git.read)'",
    [
      ['npm', 'run'],
      ['npm', 'run', '-p'],
    ],
  ],
  [
    'a quoted space',
    "npm run 'a b'",
    [
      ['npm', 'run', 'a', 'b'],
      ['npm', 'run', 'a'],
    ],
  ],
] as const)('%s: the row takes what the rule gives, and not that', (_name, command, never) => {
  for (const { result, plan } of [
    claude({ allow: [`Bash(${command})`] }),
    hermes({ allow: [`terminal(${command})`] }),
  ]) {
    expect(result.translated).toHaveLength(1);
    expect(never.map((words) => decide(plan, { command: words }))).toEqual(never.map(() => 'absent'));
  }
});

test('a rule is compared with the words that run, and not with another text of them', () => {
  // The rule that a prompt stored differed from the command that ran, so it never matched again, or matched too much.
  const { plan } = codex(['git', ['log', 'st|atus', 'text', 'rest', 'flags(git.read)', '=x', 'a b']]);
  for (const verb of ['log', 'st|atus', 'text', 'rest', 'flags(git.read)', '=x', 'a b'])
    expect([verb, decide(plan, { command: ['git', verb] })]).toEqual([verb, 'runs']);
  for (const verb of ['st', 'atus', 'other', '-p', 'x', 'a', ''])
    expect([verb, decide(plan, { command: ['git', verb] })]).toEqual([verb, 'absent']);
});

test.each([
  ['a deny inside a wider allow', { allow: ['Bash(npm run *)'], deny: ['Bash(npm run deploy *)'] }],
  ['a deny with a wildcard', { allow: ['Bash(npm run *)'], deny: ['Bash(*deploy*)'] }],
  ['a deny of the program at another place', { allow: ['Bash(/opt/npm run deploy)'], deny: ['Bash(npm run *)'] }],
  ['a deny of all commands', { allow: ['Bash(npm run *)'], deny: ['Bash'] }],
  ['a deny of all tools', { allow: ['Bash(npm run *)'], deny: ['*'] }],
  ['a deny with quotes', { allow: ['Bash(npm run *)'], deny: ['Bash(n""pm run "deploy")'] }],
  ['a deny that has no form', { allow: ['Bash(npm run *)'], deny: ['Bash(npm run deploy'] }],
  ['a deny that is no text', { allow: ['Bash(npm run *)'], deny: [{ tool: 'Bash' }] as never }],
  ['a deny in two ways at once', { allow: ['Bash(npm run *)'], deny: ['Bash(npm run:*:*)'] }],
] as const)('%s takes its calls away, whatever it means', (_name, rules) => {
  const { result, plan } = claude(rules as Rules);
  for (const command of [
    ['npm', 'run', 'deploy'],
    ['npm', 'run', 'deploy', 'x'],
    ['/opt/npm', 'run', 'deploy'],
  ])
    expect(decide(plan, { command })).toBe('absent');
  expect(result.untranslated.length).toBeGreaterThan(0);
});

test.each([
  ['Read(.env)', ['.env', 'docs/.env', 'docs/.env/x']],
  ['Read(./secrets/**)', ['secrets/a', 'docs/secrets/a']],
  ['Read(/docs/private/**)', ['docs/private/a']],
  ['Read(//srv/ann/proj/docs/private/**)', ['docs/private/a']],
  ['Read(~/proj/docs/private/**)', ['docs/private/a']],
  ['Read(**/*.pem)', ['a.pem', 'docs/x/a.pem']],
  ['Read(d*cs/private/**)', ['docs/private/a']],
  ['Read(docs/../docs/private/**)', ['docs/private/a']],
] as const)('the deny %s hides its files from every directory, from wherever it is written', (deny, files) => {
  const { plan } = claude({
    allow: ['Read(docs/**)', 'Edit(**)', 'Read(//srv/**)'],
    deny: [deny, deny.replace('Read', 'Edit')],
  });
  for (const cap of Object.values(plan.caps)) {
    if (cap.kind !== 'fs') continue;
    const at = cap.directory.path === '' ? '' : `${cap.directory.path}/`;
    for (const file of files.filter((one) => one.startsWith(at))) {
      const path = file.slice(at.length);
      for (const method of ['readText', 'write', 'list']) {
        expect([cap.name, path, decide(plan, { cap: cap.name, method, path })]).toEqual([cap.name, path, 'absent']);
      }
    }
  }
  expect(Object.values(plan.caps).length).toBeGreaterThan(1);
});

test('a deny that cannot be placed or written as a pattern takes the whole directory', () => {
  for (const deny of ['Read(~/{a,b}/**)', 'Read(!docs)', 'Read(a\\*b)', 'Read(../../../**)', 'Read(d[a-z]cs)'])
    expect([deny, Object.keys(claude({ allow: ['Read(docs/**)'], deny: [deny] }).plan.caps)]).toEqual([deny, []]);
  const { plan } = imported(
    'claude',
    's.json',
    '{"permissions": {"allow": ["Read(docs/**)"], "deny": ["Read(~/.ssh/**)"]}}',
  );
  expect(Object.keys(plan.caps)).toEqual(['docs']);
});

test.each([
  [{ allow: ['Bash(npm test && npm x)'] }, /more than one command/],
  [{ allow: ['Bash(npm run $X)'] }, /would put another text/],
  [{ allow: ['Bash(PAGER=sh git log)'] }, /sets the environment/],
  [{ allow: ['Bash(npm run *.js)'] }, /a wildcard inside a command/],
  [{ allow: ['Bash(npm test *)'], deny: ['Bash(npm test)'] }, /denies a part of it, and the rest cannot be listed/],
] as const)('the reason for %j says what stands in the way', (rules, why) => {
  const { result, plan } = claude(rules);
  expect(result.untranslated.map((one) => one.why).join('\n')).toMatch(why);
  expect(Object.keys(plan.caps)).toEqual([]);
});

test('where home is not known, a deny beneath it may be anywhere', () => {
  const text = '{"permissions": {"allow": ["Read(docs/**)"], "deny": ["Read(~/.ssh/**)"]}}';
  const result = importRules([{ file: 's.json', text }], { product: 'claude' });
  expect([result.manifest?.session, result.mistakes]).toEqual([{}, []]);
});

test('a choice of words that makes too many rows is named', () => {
  const { result, plan } = codex(['git', 'log', ...Array.from({ length: 5 }, () => ['a', 'b c', 'd e'])]);
  expect([result.untranslated.length, Object.keys(plan.caps)]).toEqual([1, []]);
});

test('of two servers with one name none is taken', () => {
  const server = (command: string) =>
    JSON.stringify({ mcpServers: { a: { command } }, permissions: { allow: ['mcp__a__b'] } });
  const sources = ['one', 'two'].map((command) => ({ file: `${command}.json`, text: server(command) }));
  const result = importRules(sources, { product: 'claude' });
  expect([result.manifest?.servers, result.manifest?.session]).toEqual([undefined, {}]);
});

test('a deny of every tool leaves no directory, page or program', () => {
  const allow = ['Read(docs/**)', 'WebFetch(domain:example.org)', 'Bash(npm test)'];
  expect(Object.keys(claude({ allow }).plan.caps)).toHaveLength(3);
  expect(Object.keys(claude({ allow, deny: ['*'] }).plan.caps)).toEqual([]);
});

test('a program that shows files is named where a rule keeps files from the agent', () => {
  const { result, plan } = claude({ allow: ['Bash(cat docs *)', 'Bash(npm test)'], deny: ['Read(.env)'] });
  expect(result.untranslated.map(({ rule }) => rule)).toEqual(['Bash(cat docs *)']);
  expect(decide(plan, { command: 'cat docs .env' })).toBe('absent');
  expect(decide(plan, { command: 'npm test' })).toBe('runs');
});

test.each([
  'domain:*.example.org',
  'domain:*',
  'domain:user@example.org',
  'domain:example.org:8080',
  'domain:example.org/path',
  'domain:example.org.',
  'domain:ex\u0430mple.org',
  'domain:0x7f.1',
  'domain:2130706433',
  'https://example.org',
  'domain:',
])('the page rule WebFetch(%s) is named', (spec) => {
  const { result, plan } = claude({ allow: [`WebFetch(${spec})`] });
  expect([result.untranslated.length, Object.keys(plan.caps)]).toEqual([1, []]);
});

test.each([
  'Bash',
  'Bash(*)',
  'Bash()',
  'Read(*.ts)',
  'Read(src/*)',
  'Read(src)',
  'Read(src/**/*.ts)',
  'Write(src/**)',
  'Agent(x)',
  'mcp__a',
  'mcp__a__*',
  'mcp__a__b',
  'WebSearch',
  'B*',
  '*',
  'bash(npm test)',
  '\u0412ash(npm test)',
  'Skill(x)',
  'PowerShell(x)',
  '',
])('the rule %j is named and gives nothing', (rule) => {
  const { result, plan } = claude({ allow: [rule] });
  expect([result.untranslated.length > 0, Object.keys(plan.caps)]).toEqual([true, []]);
});

test('a command prefix of Gemini CLI on another tool gives nothing', () => {
  const text = '[[rule]]\ntoolName = "read_file"\ncommandPrefix = "x"\ndecision = "allow"\npriority = 1';
  const { result, plan } = imported('gemini', 'p.toml', text);
  expect([result.untranslated.length, Object.keys(plan.caps)]).toEqual([1, []]);
});

test('numbers of Gemini CLI count within a file only', () => {
  const rule = (decision: string, priority: number) =>
    `[[rule]]\ntoolName = "run_shell_command"\ncommandPrefix = "npm test"\ndecision = "${decision}"\npriority = ${priority}`;
  const sources = [
    { file: 'user.toml', text: rule('allow', 900) },
    { file: 'admin.toml', text: rule('deny', 1) },
  ];
  const result = importRules(sources, { product: 'gemini' });
  expect(result.manifest?.session).toEqual({});
  expect(result.mistakes).toEqual([]);
});

test('no text of a hostile file throws, and what comes of it compiles or is refused with its line', () => {
  const nested = `a: &a [x]\n${Array.from({ length: 30 }, (_, n) => `a${n}: &a${n} [*a${n === 0 ? '' : n - 1}, *a${n === 0 ? '' : n - 1}]`).join('\n')}\napprovals: *a29`;
  const aliases = `approvals: &x {mode: manual}\nb: [${Array.from({ length: 20_000 }, () => '*x').join(', ')}]`;
  const globs = JSON.stringify({
    permissions: {
      allow: Array.from({ length: 300 }, (_, n) => `Bash(npm run a${n} *)`),
      deny: Array.from({ length: 300 }, (_, n) => `Bash(*${'*a'.repeat(40)}${n}z)`),
    },
  });
  const many = JSON.stringify({ permissions: { allow: Array.from({ length: 5000 }, (_, n) => `Bash(a b${n})`) } });
  const wide = `prefix_rule(pattern = ["git", ${Array.from({ length: 5 }, () => '["a", "b=", "c d"]').join(', ')}])`;
  const cases: readonly (readonly [Product, string, string])[] = [
    ['hermes', 'c.yaml', nested],
    ['hermes', 'c.yaml', aliases],
    ['hermes', 'c.yaml', `approvals: ${'['.repeat(5000)}`],
    ['claude', 's.json', globs],
    ['claude', 's.json', many],
    ['claude', 's.json', `{"a": ${'['.repeat(100_000)}`],
    ['claude', 's.json', '"'.repeat(200_000)],
    ['claude', 's.json', `{"permissions": {"allow": ["Read(${'a/'.repeat(5000)}**)"]}}`],
    ['claude', 's.json', `{"permissions": {"allow": ["Read(**)"], "deny": ["Read(${'**/'.repeat(3000)}x)"]}}`],
    ['codex', 'r.rules', wide],
    ['codex', 'r.rules', '('.repeat(100_000)],
    ['codex', 'r.rules', `prefix_rule(pattern = ["a", "${'x'.repeat(100_000)}"])`],
    ['gemini', 'p.toml', `${'[a.b.c.d]\n'.repeat(3)}`],
    ['gemini', 'p.toml', `a = ${'{b='.repeat(20_000)}`],
    ['gemini', 'p.toml', `a.${'b.'.repeat(50_000)}c = 1`],
  ];
  for (const [product, file, text] of cases) {
    const result = importRules([{ file, text }], { product, cwd: '/srv/ann/proj', home: '/srv/ann' });
    if (result.manifest === undefined) expect(result.mistakes.map(lineOf).join('\n')).toMatch(/^\S+:\d+:\d+: .+; .+/);
    else check([{ layer: 'user', file: 'hob.yaml', text: manifestText(result.manifest) }], { now: 0 });
  }
});
