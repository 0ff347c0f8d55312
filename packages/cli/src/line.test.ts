/** The command line of `hob`, as a process: help, mistakes, JSON. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { inherited } from '../../../test/mutants/environment.ts';
import { clientVerb } from './client-verbs.ts';
import { dataVerb } from './data-verbs.ts';
import { helpAfter } from './line/help.ts';
import { termsOf } from './line/limits.ts';
import { GRANT_JSON, REQUEST_JSON, SESSION_JSON, STORE_JSON } from './line/shapes.ts';
import { tableLines } from './line/table.ts';
import { TABLE, verbsFor } from './table.ts';
import { verbs } from './verbs.ts';
import { GROUPS, withHelp, wordOf } from './word-lines.ts';

const main = new URL('./main.ts', import.meta.url).pathname;
const resolveHook = new URL('../../../scripts/resolve.mjs', import.meta.url).href;

function hob(...args: readonly string[]): { readonly code: number | null; readonly out: string; readonly err: string } {
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: '/nonexistent', ...inherited() };
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', resolveHook, main, ...args], { env });
  return { code: status, out: String(stdout), err: String(stderr) };
}

test('a mistyped verb or option is refused with 2, and the nearest one is named', () => {
  const verb = hob('versoin');
  expect([verb.code, verb.out]).toEqual([2, '']);
  expect(verb.err).toMatch(/Did you mean version\?/);
  const option = hob('version', '--jsno');
  expect([option.code, option.out]).toEqual([2, '']);
  expect(option.err).toMatch(/Did you mean --json\?/);
  expect(hob().code).toBe(2);
  for (const { err } of [verb, option]) expect(err).not.toMatch(/^\s+at /m);
});

test('on an older Node hob says which one to install, and loads nothing else', () => {
  const older = 'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "22.11.0" } });';
  const hooks = ['--import', resolveHook, '--import', `data:text/javascript,${encodeURIComponent(older)}`];
  const { status, stderr } = spawnSync(process.execPath, [...hooks, main, '--version'], { encoding: 'utf8' });
  expect([status, stderr]).toEqual([1, 'hob: this is Node 22.11.0: install Node 24 or later, and run hob with it\n']);
});

test('the help of every verb has an example, its exit codes, and the shape of its JSON', () => {
  expect(hob('--help').code).toBe(0);
  const shown = hob('ledger', 'verify', '--help');
  expect(shown.code).toBe(0);
  for (const verb of verbs) {
    const text = helpAfter(verb);
    expect(text, verb.name).toMatch(/Examples?:\n {2}hob /);
    expect(text, verb.name).toMatch(/Exit codes:\n {2}0 {2}\S.*\n(?: {2}\d+ .*\n)* {2}2 {2}the command line is wrong/);
    expect(text.includes('--json prints:'), verb.name).toBe(verb.json !== undefined);
    if (verb.name === 'ledger verify') expect(shown.out).toContain(text);
  }
});

test('hob help, hob help VERB, hob -h and hob VERB -h print the help; a -h of an agent stays its own', () => {
  const helps = {
    ...{ help: '--help', '-h': '--help', 'help check': 'check --help', 'check -h': 'check --help' },
    ...{ 'ledger show -h': 'ledger show --help', 'help ledger verify': 'ledger verify --help' },
  };
  for (const [line, same] of Object.entries(helps)) {
    const shown = hob(...line.split(' '));
    expect(shown, line).toEqual(hob(...same.split(' ')));
    expect([shown.code, shown.err], line).toEqual([0, '']);
  }
  const groups = Object.keys(TABLE).flatMap((name) => (name.includes(' ') ? [name.split(' ')[0]] : []));
  expect(GROUPS).toEqual([...new Set(groups)].sort());
  const agents = ['start', 'claude', '-h'];
  expect(withHelp(agents)).toEqual(agents);
  // A person who asks for help starts no program.
  for (const line of ['help start claude', 'help start -- claude -h', 'help start'])
    expect(withHelp(line.split(' ')), line).toEqual(['start', '--help']);
  expect(withHelp(['help', 'ledger', 'show', 'G1'])).toEqual(['ledger', 'show', '--help']);
});

test('the README has the shape of the JSON of every verb, as its help has it, and of no other', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');
  const block = /### With `--json`[\s\S]*?```text\n([\s\S]*?)```/.exec(readme)?.[1] ?? '';
  const flat = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
  const said = new Map(
    block
      .split(/\n(?=\S)/)
      .map((entry) => /^(\w+(?: \w+)?) {2,}([\s\S]*)$/.exec(entry) as RegExpExecArray)
      .map(([, name = '', shape = '']) => [name, flat(shape)]),
  );
  const named = { Grant: GRANT_JSON, Request: REQUEST_JSON, Session: SESSION_JSON, Store: STORE_JSON };
  for (const [name, shape] of Object.entries(named)) expect(said.get(name)).toBe(flat(shape));
  const withNames = (json: string): string =>
    Object.entries(named).reduce((text, [name, shape]) => text.replace(flat(shape), name), flat(json));
  const shapes = verbs.flatMap(({ name, json }) => (json === undefined ? [] : [[name, withNames(json)]]));
  expect([...said].filter(([name]) => !(name in named))).toEqual(shapes);
});

test('with --json a verb prints one line of JSON, and without it none', () => {
  expect(JSON.parse(hob('version', '--json').out)).toEqual({ hob: expect.any(String) });
  expect(hob('version').out).toMatch(/^hob \d/);
});

test('a table is aligned on a terminal, and divided by tabs elsewhere', () => {
  const rows = [
    ['G1', 'notes'],
    ['G12', 'a\tb'],
  ];
  expect(tableLines(['id', 'name'], rows, { isTerminal: true })).toEqual(['id   name', 'G1   notes', 'G12  a\tb']);
  expect(tableLines(['id', 'name'], rows, { isTerminal: false })).toEqual(['G1\tnotes', 'G12\ta b']);
});

test('a command line loads its own verb, or those of its group; a word that names none has all to choose from', async () => {
  const names = async (args: readonly string[]): Promise<readonly string[]> =>
    (await verbsFor(args)).map(({ name }) => name);
  const all = Object.keys(TABLE);
  expect(verbs.map(({ name }) => name)).toEqual(all);
  for (const name of all) {
    const [first = ''] = name.split(' ');
    expect(await names([first, '--help'])).toEqual(all.filter((one) => one.split(' ')[0] === first));
  }
  for (const args of [[], ['--help'], ['chek'], ['toString'], ['ledger verify']])
    expect(await names(args), args.join(' ')).toEqual(all);
});

test('an option or a verb of a group that is mistyped is named though only its own verbs are loaded', () => {
  expect(hob('ledger', 'verfy').err).toMatch(/verify/);
  expect(hob('list', '--sesion', 'S1').err).toMatch(/Did you mean --session\?/);
});

/** Names each module that a process loads. */
const namesLoaded = `data:text/javascript,${encodeURIComponent(
  "import { registerHooks } from 'node:module'; registerHooks({ load(url, context, next) { process.stderr.write(`loaded ${url}\\n`); return next(url, context); } });",
)}`;

function loadedBy(...args: readonly string[]): readonly string[] {
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: '/nonexistent', ...inherited() };
  const hooks = [resolveHook, namesLoaded].flatMap((hook) => ['--import', hook]);
  const { stderr } = spawnSync(process.execPath, [...hooks, main, ...args], { env, maxBuffer: 16 << 20 });
  return [...String(stderr).matchAll(/^loaded (.*)$/gm)].map((found) => found[1] ?? '');
}

test('a bundle runs no command line of another verb or with a database, and not the help of a group', () => {
  const client = (line: string) => clientVerb(line.split(' '));
  for (const line of ['status', 'inbox --json', 'grant R1 --uses 3', 'list --help'])
    expect(client(line)).toBe(line.split(' ')[0]);
  for (const line of ['ledger', 'ledger --grant G3', 'ledger show --json']) expect(client(line)).toBe('ledger show');
  const others = ['status --store a.yaml', 'metrics --store=a.yaml', 'serve', 'grants', 'constructor', '__proto__'];
  for (const line of [
    ...others,
    'ledger verify --store a.yaml',
    'ledger verify --url=ws://a',
    'ledger --help',
    'ledger -h',
    '--help',
    'granter list',
    'version',
  ])
    expect([line, client(line), dataVerb(line.split(' '))]).toEqual([line, undefined, undefined]);
  expect(['check', 'explain'].map((word) => dataVerb([word]))).toEqual(['check', 'explain']);
  expect(dataVerb(['ledger', 'verify', 'a.jsonl'])).toBe('ledger verify');
  // Here `--store` is not an option. Such a line runs without a bundle all the same, and the same verb is found.
  expect([client('inbox -- --store'), client('grant R1 --uses --store')]).toEqual([undefined, undefined]);
  expect([client('--json status'), client('ledger -hx')]).toEqual([undefined, 'ledger show']);
  // `hob 'ledger show'` is one word, and not a verb.
  expect([clientVerb(['ledger show', '--help']), dataVerb(['ledger verify', 'a'])]).toEqual([undefined, undefined]);
  expect([clientVerb([]), dataVerb([])]).toEqual([undefined, undefined]);
});

test('a line for help, version or completion is told from a line that runs a verb', () => {
  const word = (line: string) => wordOf(line === '' ? [] : line.split(' '));
  for (const line of ['', '--help', '-h', 'status --help', '--nonsense', 'nonsense --help'])
    expect(word(line)).toBe('help');
  for (const line of ['--version', 'version --json', 'version --nonsense']) expect(word(line)).toBe('version');
  expect(word('completion bash')).toBe('completion');
  for (const line of ['status', 'nonsense', 'start claude', 'serve --state x']) expect(word(line)).toBe(undefined);
  // The help of `hob` lists each verb once, and says which verbs have options.
  const { out } = hob('--help');
  for (const { name, options = [], json } of verbs.filter((each) => !each.name.includes(' ')))
    expect(out).toMatch(
      new RegExp(`^ {2}${name}${options.length > 0 || json !== undefined ? ' \\[options\\]' : ''} `, 'm'),
    );
  // Before the help of a verb by its older name, the new name is printed once.
  expect(hob('grants', '--help')).toEqual({ ...hob('list', '--help'), err: 'hob: hob grants is hob list\n' });
  // `--help` after the name of an agent belongs to the agent. No host serves this state, so the agent does not start.
  const asked = hob('start', 'agent', '--help', '--state', '/nonexistent/state');
  expect([asked.code, asked.out]).toEqual([1, '']);
  expect(asked.err).toMatch(/no host serves this state|no manifest/);
});

test('a verb of a granter loads no parser of manifests, no sandbox and no terms of grants; --version loads one verb', () => {
  const others =
    /\/node_modules\/(?:\.pnpm\/)?(?:zod|yaml)\b|\/packages\/(?:manifest\/src\/index|caps-shell|caps-fs|revocable)\b/;
  for (const args of [['status'], ['ledger', 'verify'], ['narrow', 'G1', '--uses', '1']]) {
    const loaded = loadedBy(...args, '--state', '/nonexistent/state');
    expect(loaded.length, args.join(' ')).toBeGreaterThan(100);
    expect(loaded.filter((url) => others.test(url))).toEqual([]);
  }
  expect(loadedBy('check', '/nonexistent/hob.yaml').filter((url) => others.test(url))).not.toEqual([]);
  const verbFiles = loadedBy('--version').filter((url) => url.includes('/cli/src/verbs/'));
  expect(verbFiles).toEqual([expect.stringMatching(/\/verbs\/version\.ts$/)]);
  expect(hob('--version').out).toBe(hob('version').out);
});

test('limits, a date and methods become the terms of a grant; two times at once, and a date that is none, are mistakes', () => {
  const of = (options: Readonly<Record<string, string>>): unknown => termsOf({ operands: [], options });
  expect(of({})).toEqual({});
  expect(of({ uses: '5', for: '15m', methods: 'readText,list' })).toEqual({
    uses: 5,
    for: 900_000,
    methods: ['readText', 'list'],
  });
  expect(of({ until: '2027-01-31' })).toEqual({ until: Date.UTC(2027, 0, 31) });
  expect(() => of({ until: 'one day' })).toThrow(/^--until takes a date/);
  expect(() => of({ until: '2027-01-31', for: '15m' })).toThrow(/not both/);
});
