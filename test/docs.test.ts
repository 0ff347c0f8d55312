/**
 * Every Markdown file tells the truth about the repository: the files, commands and links that it names exist.
 *
 * A file is named in backticks, by its whole path or by a part of it (`turn/turn.ts`), since pages say once which
 * folder their paths are in. `PACKAGE`, `NAME` and `CLASS` in a path stand for any name.
 */
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { filesIn, read } from './sources.ts';

const files = filesIn();
const pages = files.filter((file) => file.endsWith('.md'));
const sources = files.filter((file) => /^packages\/.*\.(?:ts|c|py)$/.test(file)).map((file) => read(file).text);

/** Names of files that a user or a program makes, and keys of the store that look like folders. */
const NOT_FILES = new Set([
  'x.test.ts',
  'try.ts',
  'reads.ts',
  'sorts.ts',
  'writes.ts',
  './',
  'link/',
  'counterexamples/sequences/',
  'hob.yaml',
  'hob.local.yaml',
  'ROOT/hob.yaml',
  '/etc/hob/organisation.yaml',
  '/etc/hob/machine.yaml',
  'settings.json',
  '.mcp.json',
  'config.toml',
  'CLAUDE.md',
  'GEMINI.md',
  'opencode.json',
  '.opencode/plugin/*.js',
]);
/** Folders that commands make. */
const MADE = /^\.(?:toolchain|hob)\//;

const CODE = /^[\w@.{},*/-]+\.(?:ts|mts|mjs|js|c|h|py|md|json|yaml|toml)$/;
const FOLDER = /^[\w@.{},*-]+(?:\/[\w@.{},*-]+)*\/$/;
const BELOW_TOP = /^(?:packages|docs|test|test-bisim|bench|examples|scripts|\.ci)\/[\w@.{},*/-]+$/;

/** Each file and folder by every part of its path: `a/b/c.ts`, `b/c.ts`, `c.ts`, `a/b/`, `b/`. */
const known = new Set(files.flatMap(partsOf));

function partsOf(file: string): string[] {
  const names = file.split('/');
  return names.flatMap((_, from) =>
    names.slice(from).map((_, n) => {
      const to = from + n + 1;
      return names.slice(from, to).join('/') + (to < names.length ? '/' : '');
    }),
  );
}

/** The same text with fenced blocks left empty, so that lines keep their numbers. */
const withoutFences = (text: string): string =>
  text.replace(/^ *(```+|~~~+)[\s\S]*?^ *\1/gm, (block) => block.replace(/[^\n]/g, ''));

/** Each text in backticks outside of fenced blocks. */
const quoted = (text: string): string[] =>
  [...withoutFences(text).matchAll(/`([^`]+)`/g)].map((match) => (match[1] as string).replace(/\s+/g, ' '));

/** `a/{b,c}.ts` names two files. */
function spelledOut(path: string): string[] {
  const braces = /\{([^{}]*)\}/.exec(path);
  if (braces === null) return [path];
  return (braces[1] as string).split(',').flatMap((part) => spelledOut(path.replace(braces[0], part)));
}

function isThere(page: string, path: string): boolean {
  const named = path.replace(/\b(?:PACKAGE|NAME|CLASS)\b/g, '*');
  const whole = named.startsWith('../') ? join(dirname(page), named) : named;
  if (!whole.includes('*')) return known.has(whole) || known.has(`${whole}/`);
  const pattern = new RegExp(`^${whole.replaceAll('.', '\\.').replace(/\*+/g, '[^/]*')}/?$`);
  return [...known].some((part) => pattern.test(part));
}

/** The paths in `text` that the repository lacks. */
function lostPaths(page: string, text: string): string[] {
  return quoted(text)
    .filter((name) => CODE.test(name) || FOLDER.test(name) || BELOW_TOP.test(name))
    .filter((name) => !NOT_FILES.has(name) && !MADE.test(name))
    .flatMap(spelledOut)
    .filter((path) => !isThere(page, path));
}

/** The `npm` commands in `text` that package.json lacks. */
function lostCommands(text: string): string[] {
  const { scripts } = JSON.parse(read('package.json').text) as { scripts: Readonly<Record<string, string>> };
  const verbs = [...text.matchAll(/\bnpm (?:--prefix \S+ )?(?:run (?:-s )?([a-z][\w:-]*)|(start|test(?::\w+)?))/g)];
  return verbs.map((match) => (match[1] ?? match[2]) as string).filter((verb) => !Object.hasOwn(scripts, verb));
}

/** The anchors that GitHub makes of the headings of a page. */
function anchorsOf(text: string): string[] {
  return [...withoutFences(text).matchAll(/^#+ (.*)$/gm)].map((match) =>
    (match[1] as string)
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** The relative links in `text` that lead nowhere. */
function lostLinks(page: string, text: string): string[] {
  const prose = withoutFences(text).replace(/`[^`]*`/g, '');
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map((match) => match[1] as string)
    .filter((target) => !/^[a-z]+:/.test(target))
    .filter((target) => {
      const [path = '', anchor] = target.split('#');
      const file = path === '' ? page : join(dirname(page), path);
      if (!files.includes(file) && !files.some((other) => other.startsWith(join(file, '/')))) return true;
      return anchor !== undefined && !anchorsOf(read(file).text).includes(anchor);
    });
}

const sourcesOf = (path: string): string[] =>
  files.filter((file) => file === path || file.endsWith(`/${path}`)).map((file) => read(file).text);

/** Whether `text` has each word of a name such as `Session.call` or `Outbound.#flush`. */
const hasName = (text: string, name: string): boolean =>
  name.split('.').every((word) => new RegExp(`(?<![\\w$])${word}(?![\\w$])`).test(text));

/**
 * The functions in `text` that are not where it says. `` `turn.ts`, `Turn.kept` `` and `` `Turn.kept` in `turn.ts` ``
 * need both words in that file. Any other name needs to stand in some source.
 */
function lostNames(text: string): string[] {
  const page = withoutFences(text).replace(/\s+/g, ' ');
  const pairs = [
    ...[...page.matchAll(/`([^` ]+\.(?:ts|c))`(?:,| \|) `([A-Za-z#][\w.#]*)`/g)].map((found) => [found[1], found[2]]),
    ...[...page.matchAll(/`([A-Za-z#][\w.#]*)`(?: in| \() ?`([^` ]+\.(?:ts|c))`/g)].map((found) => [
      found[2],
      found[1],
    ]),
  ] as [path: string, name: string][];
  const elsewhere = pairs
    .filter(([path, name]) => !CODE.test(name) && !sourcesOf(path).some((source) => hasName(source, name)))
    .map(([path, name]) => `${path}: ${name}`);
  const nowhere = quoted(text).filter(
    (name) => /^[A-Za-z#][\w.#]*$/.test(name) && !CODE.test(name) && !sources.some((source) => hasName(source, name)),
  );
  return [...elsewhere, ...nowhere];
}

const ofAll = (lost: (page: string, text: string) => string[]): string[] =>
  pages.flatMap((page) => lost(page, read(page).text).map((name) => `${page}: ${name}`));

test('each file and folder that a page names in backticks is there', () => {
  expect(ofAll(lostPaths)).toEqual([]);
});

test('each npm command that a page names is one', () => {
  expect(ofAll((_page, text) => lostCommands(text))).toEqual([]);
});

test('each link within the repository leads to a file and a heading', () => {
  expect(ofAll(lostLinks)).toEqual([]);
});

const withNames = pages.filter((page) =>
  /^docs\/(?:one-call|one-approval|architecture|glossary|decisions\/.*)\.md$/.test(page),
);
test.each(withNames)('%s: each function stands in the file that the page names for it', (page) => {
  expect(lostNames(read(page).text)).toEqual([]);
});

test('each decision says its status and its date, and its number is used once', () => {
  const decisions = pages
    .filter((page) => page.startsWith('docs/decisions/'))
    .flatMap((page) => read(page).text.split('\n\n').slice(2))
    .map((paragraph) => paragraph.trim().replace(/\s+/g, ' '));
  const form =
    /^\*\*Decision (\d+): .+?\.\*\* .+ Status: (?:current|superseded by \d.*)\. Date: 20\d\d-\d\d-\d\d\.(?: Code: `.*`\.)?$/;
  expect(decisions.filter((decision) => !form.test(decision))).toEqual([]);
  const numbers = decisions.map((decision) => form.exec(decision)?.[1]);
  expect(numbers.filter((number, n) => numbers.indexOf(number) !== n)).toEqual([]);
});

test('no file cites a document that is not in the repository', () => {
  const cites = /(?<![\w./])(?:reference\/[\w-]+\.md|seeds\/\w+|DESIGN(?:\.md|['’]s|\b(?= (?:says|section|§))))/g;
  const texts = files.filter((file) => /\.(?:ts|mjs|js|c|h|py|md|json)$/.test(file) && file !== 'test/docs.test.ts');
  const found = texts.flatMap((file) => [...read(file).text.matchAll(cites)].map((match) => `${file}: ${match[0]}`));
  expect(found).toEqual([]);
  // The rows of the bisimulation name files of their own.
  const ours = texts.filter((file) => !file.startsWith('test-bisim/'));
  const lost = ours.flatMap((file) =>
    [...read(file).text.matchAll(/(?<![\w./-])docs\/[\w/-]+\.md/g)]
      .map((match) => match[0])
      .filter((page) => !files.includes(page))
      .map((page) => `${file}: ${page}`),
  );
  expect(lost).toEqual([]);
});

test('a line of a page has at most 110 columns, unless it is a row of a table or a link', () => {
  const long = ofAll((_page, text) =>
    withoutFences(text)
      .split('\n')
      .flatMap((line, n) => (line.length > 110 && !/^\s*\||\]\([^)]{60,}\)|^\s*\S+$/.test(line) ? [`${n + 1}`] : [])),
  );
  expect(long).toEqual([]);
});

test.each(['CHANGELOG.md', 'CONTRIBUTING.md'])('%s fits on a screen', (page) => {
  expect(read(page).text.trimEnd().split('\n').length).toBeLessThanOrEqual(50);
});

test('these checks find what is wrong', () => {
  expect(lostPaths('docs/a.md', 'see `turn/turn.ts`, `{turn,deliver}.ts`, `../test/docs.test.ts`')).toEqual([]);
  expect(lostPaths('docs/a.md', '`turn/turm.ts` and `{turn,delivr}.ts`')).toEqual(['turn/turm.ts', 'delivr.ts']);
  expect(lostPaths('docs/a.md', '`packages/none` and `nowhere/`')).toEqual(['packages/none', 'nowhere/']);
  expect(lostCommands('`npm run lint`, `npm test`, `npm run -s nothing`')).toEqual(['nothing']);
  expect(lostLinks('docs/a.md', '[a](architecture.md#the-packages) [b](b.md) [c](architecture.md#none)')).toEqual([
    'b.md',
    'architecture.md#none',
  ]);
  expect(lostNames('`turn/deliver.ts`, `deliver`, `Turn.kept` and `nobodyIsHere`')).toEqual(['nobodyIsHere']);
  expect(lostNames('`turn/turn.ts`, `finish`; `deliver` in `turn/deliver.ts`')).toEqual(['turn/turn.ts: finish']);
});
