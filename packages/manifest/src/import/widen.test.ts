/**
 * Random files of rules: nothing runs that the rules would ask for or deny, nothing asks that they deny, and a rule that
 * gives less than it says is named with its line.
 *
 * The oracle below reads rules as their product does. It shares no code with the importer.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { volume } from '../../../../test/depth.ts';
import { check, decide, lineOf, type Plan } from '../index.ts';
import { manifestText } from '../rules.ts';
import { type Imported, importRules } from './import.ts';
import type { Product } from './rule.ts';

type How = 'allow' | 'ask' | 'deny';
/** A rule before it is written in the way of a product. */
type Meaning =
  | { readonly kind: 'exact' | 'prefix' | 'glob'; readonly line: string }
  | { readonly kind: 'read' | 'write'; readonly path: string | undefined }
  | { readonly kind: 'page'; readonly host: string }
  | { readonly kind: 'regex'; readonly source: string };
interface Given {
  readonly how: How;
  readonly meaning: Meaning;
  readonly rank: number;
  readonly hasCondition: boolean;
}
type Call =
  | { readonly kind: 'command'; readonly words: readonly string[] }
  | { readonly kind: 'read' | 'write'; readonly path: string }
  | { readonly kind: 'page'; readonly host: string };

const NAMES = ['src', 'gen', '.env', 'a.ts', 'secret', 'deep'];
const HOSTS = ['example.org', 'a.example.org', 'evil.example'];
const words = fc.array(fc.constantFrom('test', 'run', 'push', 'log', 'x', '--all', '-f', 'x y', '=x', 'text'), {
  minLength: 0,
  maxLength: 3,
});
const program = fc.constantFrom('npm', 'git', 'make', 'curl', 'env', 'bash', '/usr/bin/git', './run');
const line = fc.tuple(program, words).map(([name, args]) => [name, ...args.map(quoted)].join(' '));
const quoted = (word: string): string => (/[ =]/.test(word) ? `'${word}'` : word);
const path = fc.array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 4 }).map((names) => names.join('/'));
const filePattern = fc.oneof(
  path.map((text) => `${text}/**`),
  path,
  fc.constantFrom(
    '**',
    'src/**',
    '.env*',
    'src/*',
    '**/secret',
    '**/gen/**',
    '*.ts',
    'src/**/a.ts',
    '*/gen/**',
    'src/**/gen/**',
  ),
);
const meaning = (product: Product): fc.Arbitrary<Meaning> => {
  const commands: fc.Arbitrary<Meaning>[] = [
    line.map((text) => ({ kind: 'prefix' as const, line: text })),
    ...(product === 'codex' || product === 'gemini'
      ? []
      : [line.map((text) => ({ kind: 'exact' as const, line: text }))]),
    ...(product === 'claude'
      ? [
          fc
            .constantFrom('git*', '*', 'git * --all', '*push*', 'npm*test', 'n*x')
            .map((text) => ({ kind: 'glob' as const, line: text })),
        ]
      : []),
    ...(product === 'gemini'
      ? [fc.constantFrom('git (log|push)', 'npm .*', '.*').map((source) => ({ kind: 'regex' as const, source }))]
      : []),
  ];
  if (product === 'codex') return fc.oneof(...commands);
  const pattern = product === 'gemini' ? fc.constant(undefined) : fc.option(filePattern, { nil: undefined });
  const files = fc
    .tuple(fc.constantFrom('read' as const, 'write' as const), pattern)
    .map(([kind, text]) => ({ kind, path: text }));
  const pages = fc.constantFrom(...HOSTS, '*.example.org').map((host) => ({ kind: 'page' as const, host }));
  return fc.oneof(...commands, files, ...(product === 'claude' ? [pages] : []));
};
const given = (product: Product): fc.Arbitrary<Given> =>
  fc.record({
    how: fc.constantFrom<How>('allow', 'allow', 'allow', 'ask', 'deny'),
    meaning: meaning(product),
    rank: fc.constantFrom(1, 10, 100),
    hasCondition:
      product === 'gemini'
        ? fc.oneof({ weight: 5, arbitrary: fc.constant(false) }, fc.constant(true))
        : fc.constant(false),
  });
/** A call by itself, or one like the rule with that number, with more words or names after it. */
type Asked =
  | Call
  | { readonly kind: 'like'; readonly rule: number; readonly more: readonly string[]; readonly name: string };
const call: fc.Arbitrary<Asked> = fc.oneof(
  fc.record({
    kind: fc.constant('like' as const),
    rule: fc.nat(5),
    more: fc.oneof(fc.constant([]), words),
    name: fc.constantFrom(...NAMES),
  }),
  fc
    .tuple(fc.constantFrom('npm', 'git', 'make', 'curl', 'env', 'bash', '/usr/bin/git'), words)
    .map(([name, args]) => ({ kind: 'command' as const, words: [name, ...args] })),
  fc.tuple(fc.constantFrom('read' as const, 'write' as const), path).map(([kind, text]) => ({ kind, path: text })),
  fc.constantFrom(...HOSTS).map((host) => ({ kind: 'page' as const, host })),
);

/** The calls of a run, among the rules of that run. */
function callsOf(asked: readonly Asked[], rules: readonly Given[]): readonly Call[] {
  return asked.map((one): Call => {
    if (one.kind !== 'like') return one;
    const m = rules[one.rule % rules.length]?.meaning;
    if (m?.kind === 'exact' || m?.kind === 'prefix')
      return { kind: 'command', words: [...splitLine(m.line), ...one.more] };
    if (m?.kind === 'read' || m?.kind === 'write')
      return { kind: m.kind, path: `${(m.path ?? one.name).replaceAll('**', one.name).replaceAll('*', 'a')}` };
    return { kind: 'page', host: m?.kind === 'page' ? m.host.replace('*', 'a') : 'example.org' };
  });
}

/** A file, and the line of each rule. */
interface Written {
  readonly text: string;
  readonly file: string;
  readonly lines: readonly number[];
}

const WRITE: Readonly<Record<Product, (rules: readonly Given[]) => Written>> = {
  claude: (rules) =>
    lists(
      rules,
      'settings.json',
      claudeText,
      '{ "permissions": {',
      (how) => `"${how}": [`,
      ['],', '], "x": []}}'].map(String),
    ),
  hermes: (rules) => lists(rules, 'config.yaml', hermesText, 'approvals:\n  rules:', (how) => `    ${how}:`, []),
  codex: (rules) => {
    const text = rules.map(({ how, meaning: m }) => {
      const pattern = JSON.stringify(splitLine((m as { line: string }).line));
      return `prefix_rule(pattern = ${pattern}, decision = "${{ allow: 'allow', ask: 'prompt', deny: 'forbidden' }[how]}")`;
    });
    return { text: text.join('\n'), file: 'default.rules', lines: rules.map((_, n) => n + 1) };
  },
  gemini: (rules) => {
    const all: string[] = [];
    const lines = rules.map((rule) => {
      all.push('[[rule]]', ...geminiFields(rule));
      return all.length - geminiFields(rule).length;
    });
    return { text: all.join('\n'), file: 'rules.toml', lines };
  },
};

function lists(
  rules: readonly Given[],
  file: string,
  textOf: (rule: Given) => string,
  head: string,
  open: (how: How) => string,
  close: readonly string[],
): Written {
  const all = head.split('\n');
  const lines: number[] = [];
  for (const how of ['allow', 'ask', 'deny'] as const) {
    all.push(open(how));
    const own = rules.filter((rule) => rule.how === how);
    for (const [n, rule] of own.entries()) {
      const text = JSON.stringify(textOf(rule));
      all.push(file.endsWith('json') ? `${text}${n < own.length - 1 ? ',' : ''}` : `      - ${text}`);
      lines[rules.indexOf(rule)] = all.length;
    }
    if (close.length > 0) all.push(how === 'deny' ? ']}}' : '],');
  }
  return { text: all.join('\n'), file, lines };
}

function claudeText({ meaning: m }: Given): string {
  switch (m.kind) {
    case 'exact':
    case 'glob':
      return `Bash(${m.line})`;
    case 'prefix':
      return `Bash(${m.line} *)`;
    case 'read':
      return m.path === undefined ? 'Read' : `Read(${m.path})`;
    case 'write':
      return m.path === undefined ? 'Edit' : `Edit(${m.path})`;
    case 'page':
      return `WebFetch(domain:${m.host})`;
    case 'regex':
      return 'Bash';
  }
}
function hermesText({ meaning: m }: Given): string {
  if (m.kind === 'read' || m.kind === 'write') {
    const tool = m.kind === 'read' ? 'read_file' : 'write_file';
    return m.path === undefined ? tool : `${tool}(${m.path})`;
  }
  return m.kind === 'exact' || m.kind === 'prefix'
    ? `terminal(${m.line}${m.kind === 'prefix' ? ':*' : ''})`
    : 'browser_click';
}
function geminiFields({ how, meaning: m, rank, hasCondition }: Given): readonly string[] {
  const about =
    m.kind === 'read' || m.kind === 'write'
      ? [`toolName = "${m.kind === 'read' ? 'read_file' : 'write_file'}"`]
      : [
          'toolName = "run_shell_command"',
          m.kind === 'regex'
            ? `commandRegex = ${JSON.stringify(m.source)}`
            : `commandPrefix = ${JSON.stringify((m as { line: string }).line)}`,
        ];
  return [
    ...about,
    `decision = "${how === 'ask' ? 'ask_user' : how}"`,
    `priority = ${rank}`,
    ...(hasCondition ? ['modes = ["yolo"]'] : []),
  ];
}

/** Words of a line that the generator wrote: quotes hide spaces. */
const splitLine = (text: string): readonly string[] =>
  [...text.matchAll(/'([^']*)'|(\S+)/g)].map((found) => found[1] ?? (found[2] as string));

/** Whether a rule is about a call. `may` is for rules that take away: what they may mean is what they mean. */
function isAbout({ meaning: m }: Given, c: Call, product: Product, may: boolean): boolean {
  if (c.kind === 'command') {
    const text = c.words.map(quoted).join(' ');
    if (m.kind === 'exact' || m.kind === 'prefix') {
      const [own, called] = [splitLine(m.line), c.words];
      // A rule that takes away counts for a program wherever it lies. A rule that gives counts for the program that it names.
      const name = (word: string | undefined): string | undefined => word?.replace(/^.*\//, '');
      const isProgram = (word: string): boolean =>
        may ? name(word) === name(called[0]) : called[0] === word || called[0] === name(word);
      const same = own.every((word, n) => (n === 0 ? isProgram(word) : word === called[n]));
      return same && (m.kind === 'prefix' || own.length === called.length);
    }
    if (m.kind === 'glob') return new RegExp(`^${m.line.split('*').join('[^]*')}$`).test(text);
    return m.kind === 'regex' && new RegExp(`^${m.source}`).test(text);
  }
  if (c.kind === 'page')
    return m.kind === 'page' && new RegExp(`^${m.host.replaceAll('.', '\\.').replaceAll('*', '.*')}$`).test(c.host);
  // In Claude Code a deny of Read denies Edit as well.
  const same = m.kind === c.kind || (may && product === 'claude' && m.kind === 'read' && c.kind === 'write');
  return (
    same &&
    (m.kind === 'read' || m.kind === 'write') &&
    (m.path === undefined || takesPath(m.path, c.path) || (may && takesDeep(m.path, c.path, product)))
  );
}

/** A rule that takes away does so at any depth: in Hermes always, in Claude Code if it names one directory. */
const takesDeep = (pattern: string, file: string, product: Product): boolean =>
  (product === 'hermes' || /^[^/]*\/\*\*$/.test(pattern)) && takesPath(`**/${pattern}`, file);

/** The pattern of gitignore, read as a regular expression: also all that lies beneath what it takes. */
function takesPath(pattern: string, file: string): boolean {
  const isAnyDepth = !pattern.includes('/');
  const source = pattern
    .replace(/^\//, '')
    .replace(/[.]/g, '\\.')
    .replaceAll('**/', '\u0001')
    .replaceAll('/**', '\u0002')
    .replaceAll('**', '\u0003')
    .replaceAll('*', '[^/]*')
    .replaceAll('\u0001', '(?:.*/)?')
    .replaceAll('\u0002', '/.+')
    .replaceAll('\u0003', '.*');
  return new RegExp(`^${isAnyDepth ? '(?:.*/)?' : ''}${source}(?:/.*)?$`).test(file);
}

const STRICT = { allow: 0, ask: 1, deny: 2 } as const;

/** The product's decision about a call: the strictest rule, or in Gemini the one with the highest number. */
function oracle(rules: readonly Given[], c: Call, product: Product): How | undefined {
  const about = rules.filter(
    (rule) => isAbout(rule, c, product, rule.how !== 'allow') && !(rule.hasCondition && rule.how === 'allow'),
  );
  const byRank = (a: Given, b: Given): number => (product === 'gemini' ? b.rank - a.rank : 0);
  return about.sort((a, b) => byRank(a, b) || STRICT[b.how] - STRICT[a.how])[0]?.how;
}

/** The plan's decision about a call, with directories judged by path. */
function outcome(plan: Plan, c: Call): string {
  if (c.kind === 'command') return decide(plan, { command: c.words });
  const all = Object.values(plan.caps).flatMap((cap) => {
    if (c.kind === 'page') {
      const isHost = cap.kind === 'http' && cap.origin === `https://${c.host}`;
      return isHost ? [decide(plan, { cap: cap.name })] : [];
    }
    if (cap.kind !== 'fs' || !`${c.path}/`.startsWith(cap.directory.path === '' ? '' : `${cap.directory.path}/`))
      return [];
    const inside = cap.directory.path === '' ? c.path : c.path.slice(cap.directory.path.length + 1);
    // The directory itself has no text to read or write.
    if (inside === '' || cap.except.some((pattern) => takesPath(pattern, inside))) return [];
    return [decide(plan, { cap: cap.name, method: c.kind })];
  });
  return all.includes('runs') ? 'runs' : all.includes('asks') ? 'asks' : 'absent';
}

function imported(
  product: Product,
  rules: readonly Given[],
): { result: Extract<Imported, { mistakes: readonly [] }>; written: Written; plan: Plan } {
  const written = WRITE[product](rules);
  const result = importRules([written], { product, cwd: '/srv/ann/proj', home: '/srv/ann' });
  if (result.manifest === undefined) throw new Error(`${result.mistakes.map(lineOf)}\n${written.text}`);
  const { plan, mistakes } = check([{ layer: 'project', file: 'hob.yaml', text: manifestText(result.manifest) }], {
    now: 0,
  });
  expect(mistakes.map(lineOf)).toEqual([]);
  return { result, written, plan: plan as Plan };
}

const COUNT = { numRuns: volume(60, 250) };
for (const product of ['claude', 'hermes', 'codex', 'gemini'] as const) {
  const files = fc.array(given(product), { minLength: 1, maxLength: 6 });

  test(`${product}: no call runs that the rules ask for or deny, and none asks that they deny`, () => {
    fc.assert(
      fc.property(files, fc.array(call, { minLength: 20, maxLength: 40 }), (rules, asked) => {
        const calls = callsOf(asked, rules);
        const { plan, written } = imported(product, rules);
        for (const one of calls) {
          const [does, says] = [outcome(plan, one), oracle(rules, one, product)];
          const wider =
            (does === 'runs' && says !== 'allow') || (does === 'asks' && says !== 'allow' && says !== 'ask');
          expect(
            wider,
            `${JSON.stringify(one)} ${does}, the rules say ${says}\n${written.text}\n${JSON.stringify(plan.caps)}`,
          ).toBe(false);
        }
      }),
      COUNT,
    );
  });

  test(`${product}: each rule stands in the manifest or is named with its line, and a rule that is not named gives all of its calls`, () => {
    fc.assert(
      fc.property(files, fc.array(call, { minLength: 20, maxLength: 40 }), (rules, asked) => {
        const calls = callsOf(asked, rules);
        const { result, written, plan } = imported(product, rules);
        for (const [n, rule] of rules.entries()) {
          const at = { line: written.lines[n], file: written.file };
          const isNamed = result.untranslated.some(
            ({ line: l, file, why }) => l === at.line && file === at.file && why !== '',
          );
          const isThere = result.translated.some(({ line: l, file }) => l === at.line && file === at.file);
          expect(isNamed || isThere, `${JSON.stringify(rule)} is dropped\n${written.text}`).toBe(true);
          if (isNamed || rule.how === 'deny') continue;
          for (const one of calls) {
            if (!isAbout(rule, one, product, false) || oracle(rules, one, product) !== rule.how) continue;
            expect(outcome(plan, one), `${JSON.stringify(one)}\n${written.text}`).toBe(
              rule.how === 'allow' ? 'runs' : 'asks',
            );
          }
        }
      }),
      COUNT,
    );
  });
}
