/** From a manifest to a plan: what exists, what does not compile, and what each call would do. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Call, check, decide, explain, lineOf, type Mode, type Plan } from '../index.ts';

const now = Date.parse('2026-11-23');
const HEAD = `version: 1
roots: { project: ".", scratch: { temp: true } }
servers: { linear: { url: "https://mcp.example.org/" } }
channels: { slack: { slack: { "#eng": ENG_HOOK } } }
session:
`;

function checked(session: string, more = ''): ReturnType<typeof check> {
  return check([{ layer: 'project', file: 'hob.yaml', text: `${HEAD}${session}\n${more}` }], { now });
}
function planOf(session: string, more = ''): Plan {
  const { plan, mistakes } = checked(session, more);
  expect(mistakes.map(lineOf)).toEqual([]);
  return plan as Plan;
}
const wrong = (session: string, more = ''): readonly string[] => {
  const { plan, mistakes } = checked(session, more);
  expect(plan).toBeUndefined();
  return mistakes.map(lineOf);
};

/** The example of the documentation, whole. */
const WHOLE = `
  deadline: 8h
  caps:
    src:     { fs: project/src, can: [read, list, write] }
    docs:    { fs: project, can: [read, list], except: [".env*", ".git/**"] }
    git:     { command: git, cwd: project, argv: [[status|log|diff|show, flags(git.read)], [add, path(src)], [commit, --no-verify, -m, text]],
               match: ["git log -5", "git commit --no-verify -m x", "git add src/a.ts"],
               not_match: ["git push", "git -c core.pager=x log", "git diff --output=/tmp/x", "git log --ext-diff", "git add ../x", "git add src/../x"] }
    test:    { command: npm, argv: [[test]], net: none, uses: 50 }
    gh:      { http: "https://api.github.com/repos/acme/app/", methods: [GET], secret: GH_TOKEN }
    issues:  { mcp: linear, tools: [get_issue, list_issues] }
  ask:
    push:    { command: git, argv: [[push, origin, ref]], offer: { uses: 1, for: 15m } }
    tell:    { message: "slack:#eng", offer: { uses: 1 }, always_human: true }
    publish: { command: npm, argv: [[publish]], offer: { uses: 1 }, needs: passkey }
`;

test('the documented manifest compiles, and each call does what it says', () => {
  const plan = planOf(WHOLE, 'children: { reviewer: { give: [docs] } }');
  expect(Object.keys(plan.caps).sort()).toEqual([
    'docs',
    'gh',
    'git',
    'issues',
    'publish',
    'push',
    'src',
    'tell',
    'test',
  ]);
  const cases: readonly (readonly [Call, string])[] = [
    [{ cap: 'docs', method: 'read' }, 'runs'],
    [{ cap: 'docs', method: 'write' }, 'absent'],
    [{ cap: 'src', method: 'edit' }, 'runs'],
    [{ cap: 'src', method: 'remove' }, 'absent'],
    [{ cap: 'nosuch', method: 'read' }, 'absent'],
    [{ cap: 'toString', method: 'read' }, 'absent'],
    [{ cap: 'git', argv: ['log', '-5'] }, 'runs'],
    [{ cap: 'git', argv: ['push'] }, 'absent'],
    [{ cap: 'push', argv: ['push', 'origin', 'main'] }, 'asks'],
    [{ command: 'git push origin main' }, 'asks'],
    [{ command: 'git push -f origin main' }, 'absent'],
    [{ command: '/usr/bin/git status' }, 'absent'],
    [{ cap: 'docs', method: 'readText', path: 'src/a.ts' }, 'runs'],
    [{ cap: 'docs', method: 'readText', path: 'src/.env.local' }, 'absent'],
    [{ cap: 'docs', method: 'readText', path: '.git/config' }, 'absent'],
    [{ cap: 'docs', method: 'readText', path: '../x' }, 'absent'],
    [{ cap: 'docs', method: 'readText', path: '/etc/passwd' }, 'absent'],
    [{ cap: 'gh', method: 'GET', path: '/repos/acme/app/issues' }, 'runs'],
    [{ cap: 'gh', method: 'GET', path: '/repos/acme/app/../other' }, 'absent'],
    [{ cap: 'gh', method: 'GET', path: '/repos/acme/app/%2e%2e/other' }, 'absent'],
    [{ cap: 'gh', method: 'GET', path: '//evil.example/repos/acme/app/' }, 'absent'],
    [{ command: ['npm', 'publish'] }, 'asks'],
    [{ command: 'git "log' }, 'absent'],
    [{ command: 'sh -c "git log"' }, 'absent'],
    [{ cap: 'gh' }, 'runs'],
    [{ cap: 'gh', method: 'POST' }, 'absent'],
    [{ cap: 'issues', method: 'get_issue' }, 'asks'],
    [{ cap: 'issues', method: 'delete_issue' }, 'absent'],
    [{ cap: 'tell' }, 'asks'],
  ];
  expect(cases.map(([call]) => [call, decide(plan, call)])).toEqual(cases);
});

test.for([
  ['plan', ['runs', 'drafts', 'asks']],
  ['supervised', ['runs', 'asks', 'asks']],
  ['cautious', ['runs', 'runs', 'asks']],
  ['autonomous', ['runs', 'runs', 'runs']],
] as const)('mode %s decides listed caps by their effect, and makes nothing exist', ([mode, wanted]) => {
  const plan = planOf(`
  mode: ${mode}
  caps: { src: { fs: project, can: [read, write] }, issues: { mcp: linear, tools: [get_issue] } }
  ask: { docs: { fs: scratch, can: [read] } }`);
  const calls = [
    { cap: 'src', method: 'read' },
    { cap: 'src', method: 'write' },
    { cap: 'issues', method: 'get_issue' },
  ];
  expect(calls.map((call) => decide(plan, call))).toEqual(wanted);
  expect(decide(plan, { cap: 'docs', method: 'read' })).toBe('asks');
  expect(decide(plan, { cap: 'src', method: 'remove' })).toBe('absent');
});

test('in mode plan a program that writes and a stream wait for a person: nobody can show what they will change', () => {
  const plan = planOf(`
  mode: plan
  caps: { src: { fs: project, can: [read, write] }, make: { command: make, cwd: project, argv: [[all]] } }`);
  expect(decide(plan, { cap: 'src', method: 'edit' })).toBe('drafts');
  expect(decide(plan, { cap: 'src', method: 'openWrite' })).toBe('asks');
  expect(decide(plan, { command: 'make all' })).toBe('asks');
});

test.for([
  ['caps: { docs: { fs: nosuch, can: [read] } }', 'there is no root "nosuch"'],
  ['caps: { docs: { fs: projet, can: [read] } }', 'did you mean project?'],
  ['caps: { docs: { fs: project/../x, can: [read] } }', 'without . and ..'],
  ['caps: { docs: { fs: /etc, can: [read] } }', 'not a directory of a root'],
  ['caps: { docs: { fs: project, can: [read], until: 2026-01-01 } }', 'this date has passed'],
  ['caps: { is: { mcp: lineer, tools: [a] } }', 'did you mean linear?'],
  ['caps: { docs: { fs: project, can: [read] }, D0cs: { fs: project, can: [read] } }', 'D0cs looks like docs'],
  ...[
    ['azip', 'a2ip'],
    ['aZ2', 'a2z'],
    ['dbase', 'd8ase'],
    ['log9', 'l0g9'],
    ['dig', 'di9'],
    ['seg', 'seq'],
    ['news5', 'new55'],
  ].map(
    ([one, other]) =>
      [
        `caps: { ${one}: { fs: project, can: [read] }, ${other}: { fs: project, can: [read] } }`,
        `${other} looks like ${one}`,
      ] as const,
  ),
  ['caps: { al: { fs: project, can: [read] }, aI: { fs: project, can: [read] } }', 'aI looks like al'],
  ['caps: { docs: { fs: project, can: [read] } }\n  ask: { docs: { fs: project, can: [read] } }', 'in caps and in ask'],
  ['caps: { git: { command: git, argv: [[-C, text]] } }', 'a row begins with its verb'],
  ['caps: { git: { command: git, argv: [[log, flags(git.reed)]] } }', 'there is no flag set git.reed'],
  ['caps: { git: { command: git, argv: [[add, path(nosuch)]] } }', 'there is no directory cap nosuch'],
  ['caps: { git: { command: git, argv: [[log]], match: ["git push"] } }', 'no row of argv takes this'],
  ['caps: { git: { command: git, argv: [[log]], match: ["npm log"] } }', 'the cap runs "git"'],
  ['caps: { git: { command: git, argv: [[log]], not_match: ["git log"] } }', 'the cap git runs this'],
  [
    'caps: { git: { command: git, argv: [[log]], not_match: ["npm x"] }, npm: { command: npm, argv: [[x]] } }',
    'the cap npm runs this',
  ],
  [
    'caps: { git: { command: git, argv: [[log]], not_match: ["git x"] }, src: { fs: project, can: [read, list] }, sh: { shell: sandbox, mounts: [src] } }',
    'the shell sh runs any program',
  ],
  ['caps: { git: { command: git, argv: [[rest]] } }', 'a row begins with its verb'],
  ['caps: { git: { command: git, argv: [[push, rest]], deny: [[push, --force]] } }', 'cannot be listed'],
  [
    'caps: { sh: { shell: sandbox, mounts: [src] } }\n  ask: { src: { fs: project, can: [read] } }',
    'which has to be asked for',
  ],
  ['caps: { sh: { shell: sandbox, mounts: [nosuch] } }', 'there is no directory cap nosuch'],
  ['caps: { docs: { fs: project, can: [read] } }', 'has no cap "nosuch"', 'children: { reviewer: { give: [nosuch] } }'],
  ['caps: { docs: { fs: project, can: [read] } }', 'this set ships with Hob', 'flags: { git.read: [--output] }'],
  ['caps: { docs: { fs: project, can: [read] } }', '"x y" is not a flag', 'flags: { mine: ["x y"] }'],
] as const)('%s does not compile: %s', ([session, said, more]) => {
  expect(wrong(`  ${session}`, more).join('\n')).toContain(said);
});

test('a root that is not there is a mistake', () => {
  const { mistakes } = check([{ layer: 'project', file: 'f', text: 'version: 1\nroots: {a: /nosuch}' }], {
    now,
    exists: () => false,
  });
  expect(mistakes.map(lineOf)).toEqual([expect.stringContaining('f:2:12: roots.a: there is no folder "/nosuch"')]);
});

test('a deny inside a wider allow makes the allow smaller', () => {
  const plan = planOf(`
  caps:
    git: { command: git, argv: [[log|push|remote, ref], [stash, pop|drop]], deny: [[push], [stash, drop]] }`);
  const rows = (plan.caps['git'] as { rows: readonly unknown[] }).rows;
  expect(rows).toEqual([
    [{ kind: 'literal', texts: ['log', 'remote'] }, { kind: 'ref' }],
    [
      { kind: 'literal', texts: ['stash'] },
      { kind: 'literal', texts: ['pop'] },
    ],
  ]);
  expect(decide(plan, { command: 'git push main' })).toBe('absent');
  expect(decide(plan, { command: 'git stash drop' })).toBe('absent');
  expect(decide(plan, { command: 'git stash pop' })).toBe('runs');
});

test('a command may take no arguments: a row [] is that call alone, and explain says so', () => {
  const plan = planOf(`
  caps:
    ls: { command: ls, cwd: project, argv: [[]], match: [ls], not_match: ["ls -l", "ls src"] }`);
  expect(decide(plan, { command: 'ls' })).toBe('runs');
  expect(decide(plan, { cap: 'ls', argv: [] })).toBe('runs');
  expect(decide(plan, { command: 'ls -l' })).toBe('absent');
  expect(explain(plan, String).caps[0]?.does).toBe('may run ls without arguments, in project');
  expect(wrong('  caps: { ls: { command: ls, argv: [[]], not_match: [ls] } }').join()).toContain(
    'the cap ls runs this',
  );
});

test('a denied call never runs, and every other call of the rows still does', () => {
  const word = fc.constantFrom('a', 'b', 'c');
  const row = fc.array(
    fc.uniqueArray(word, { minLength: 1 }).map((all) => all.join('|')),
    { maxLength: 3 },
  );
  fc.assert(
    fc.property(
      fc.array(row, { minLength: 1, maxLength: 3 }),
      fc.array(fc.array(word, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
      fc.array(word, { maxLength: 3 }),
      (argv, denied, argvOfCall) => {
        const text = (more: string): string => `  caps: { x: { command: x, argv: ${JSON.stringify(argv)}${more} } }`;
        const whole = checked(text('')).plan as Plan;
        const less = checked(text(`, deny: ${JSON.stringify(denied)}`)).plan as Plan;
        const isDenied = denied.some((one) => one.every((part, n) => argvOfCall[n] === part));
        const call: Call = { cap: 'x', argv: argvOfCall };
        expect(decide(less, call)).toBe(isDenied ? 'absent' : decide(whole, call));
      },
    ),
  );
});

test('deny of a session takes a cap away, and every mode leaves it away', () => {
  for (const mode of ['plan', 'supervised', 'cautious', 'autonomous'] satisfies Mode[]) {
    const plan = planOf(`  mode: ${mode}\n  caps: { push: { command: git, argv: [[push]] } }\n  deny: [push]`);
    expect(decide(plan, { cap: 'push', argv: ['push'] })).toBe('absent');
    expect(plan.denied).toEqual(['push']);
  }
});

const SERVERS = 'version: 1\nroots: { project: ., tools: ./mcp }\nservers:\n  fs: { command: [node, /tools/a.js], roots: [tools], writes: [project] }\n  far: { url: "https://x.example/" }\n'; // biome-ignore format: one line

test('bounds of tools are compiled to data, with directories resolved', () => {
  const where = '{ owner: acme, n: { min: 1, max: 5 }, tags: { oneOf: [[a], b] }, path: { beneath: project/src }, more: { fields: { x: { any: true }, y: { is: null } } } }'; // biome-ignore format: one line
  const { plan } = check([{ layer: 'user', file: 'hob.yaml', text: `${SERVERS}session: { caps: { a: { mcp: fs, tools: [read], where: ${where} } } }` }], { now: 0 }); // biome-ignore format: one line
  expect(plan?.caps['a']).toMatchObject({
    kind: 'mcp',
    where: {
      owner: { is: 'acme' },
      n: { min: 1, max: 5 },
      tags: { oneOf: [['a'], 'b'] },
      path: { beneath: { root: 'project', path: 'src' } },
      more: { fields: { x: { any: true }, y: { is: null } } },
    },
  });
});

test.for([
  ['servers: { fs: { command: [node], roots: [proj] } }', 'servers.fs.roots[0]', 'there is no root'],
  ['{ mcp: fs, tools: [read], where: { path: { beneath: other } } }', 'where.path.beneath', 'there is no root'],
  ['{ mcp: far, tools: [read], where: { path: { beneath: project } } }', 'where.path.beneath', 'does not see'],
  ['{ mcp: fs, tools: [read], where: { path: { beneath: ../x } } }', 'where.path.beneath', 'there is no root'],
  ['{ mcp: fs, tools: [read_file, read-file] }', 'tools', 'looks like'],
  ['{ mcp: fs, tools: [read], where: {} }', 'where', 'no arguments'],
  ['{ mcp: fs, tools: [read], where: { n: { min: 5, max: 1 } } }', 'where.n', 'min is more than max'],
  ['{ mcp: fs, tools: [read], where: { n: { is: 1, oneOf: [1] } } }', 'where.n', 'no bound'],
  ['{ mcp: fs, tools: [read], where: { n: [1] } }', 'where.n', 'no bound'],
] as const)('%s is a mistake at its place', ([text, at, wrong]) => {
  const whole = text.startsWith('servers') ? `version: 1\nroots: { project: . }\n${text}` : `${SERVERS}session: { caps: { a: ${text} } }`; // biome-ignore format: one line
  const { mistakes } = check([{ layer: 'user', file: 'hob.yaml', text: whole }], { now: 0 });
  expect(mistakes.map((one) => `${one.at}: ${one.wrong}`).join('\n')).toContain(wrong);
  expect(mistakes.map((one) => one.at).join('\n')).toContain(at);
});

test('a lower layer takes no bound of a tool away', () => {
  const layer = (name: 'user' | 'project', cap: string) => ({ layer: name, file: `${name}.yaml`, text: `${name === 'user' ? SERVERS : 'version: 1\n'}session: { caps: { a: ${cap} } }` }); // biome-ignore format: one line
  const bound = layer('user', '{ mcp: fs, tools: [read, list], where: { path: { beneath: project/src } } }');
  for (const lower of ['{ mcp: fs, tools: [read] }', '{ mcp: fs, tools: [read], where: { path: { any: true } } }']) {
    const { plan } = check([bound, layer('project', lower)], { now: 0 });
    expect(plan?.caps['a']).toMatchObject({
      tools: ['read'],
      where: { path: { beneath: { root: 'project', path: 'src' } } },
    });
  }
});
