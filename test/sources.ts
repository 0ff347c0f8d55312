/**
 * Reads TypeScript as text, for the tests of the house.
 *
 * Promise: `blank` puts blanks for every comment and for the inside of every string, template and regular expression,
 * and moves nothing: a search in the blanked text cannot be fooled by what a comment or a string says, and an offset in
 * it is the same place in the source.
 */
import { spawnSync } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT: string = join(import.meta.dirname, '..');

export interface Source {
  /** Relative to the repository, with slashes. */
  file: string;
  text: string;
}

const NOT_OURS = new Set(['node_modules', '.toolchain', '.hob', '.git', 'dist', 'coverage']);

let ours: readonly string[] | undefined;

/** Every file of the repository below `folder`, sorted; without what is installed, made or ignored, and without links. */
export function filesIn(folder = ''): string[] {
  ours ??= filesOfCheckout(ROOT);
  return folder === '' ? [...ours] : ours.filter((file) => file.startsWith(`${folder}/`));
}

/**
 * Those that git knows, or would add. What somebody keeps here and tells git to ignore is no file of ours.
 * Where there is no git, or no checkout: all that are there.
 */
export function filesOfCheckout(root: string): readonly string[] {
  const git = (...args: string[]): string => {
    const { status, stdout } = spawnSync('git', ['-C', root, ...args], { encoding: 'utf8', maxBuffer: 1 << 26 });
    return status === 0 ? stdout : '';
  };
  const top = git('rev-parse', '--show-toplevel').trim();
  if (top === '' || realpathSync(top) !== realpathSync(root)) return walk(root, '');
  const named = git('ls-files', '-z', '--cached', '--others', '--exclude-standard').split('\0');
  const isFile = (file: string): boolean =>
    !file.split('/').some((part) => NOT_OURS.has(part)) &&
    lstatSync(join(root, file), { throwIfNoEntry: false })?.isFile() === true;
  return [...new Set(named)].filter(isFile).sort();
}

function walk(root: string, folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !NOT_OURS.has(entry.name) && !entry.isSymbolicLink())
    .flatMap((entry) => {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      return entry.isDirectory() ? walk(root, path) : [path];
    })
    .sort();
}

export const read = (file: string): Source => ({ file, text: readFileSync(join(ROOT, file), 'utf8') });

export const isTypeScript = (file: string): boolean => /\.[cm]?[jt]sx?$/.test(file);
export const isTest = (file: string): boolean => /\.test\.ts$/.test(file) || /^packages\/[^/]+\/test\//.test(file);
/** What the Python package installs. */
export const isPythonProduct = (file: string): boolean => /^packages\/[^/]+\/src\/.*\.py$/.test(file);

export const packages: string[] = [...new Set(filesIn('packages').map((file) => file.split('/')[1] ?? ''))];

export interface Import {
  specifier: string;
  /** Erased before it runs. */
  typeOnly: boolean;
}

/** The modules that a file imports, re-exports or requires by a literal name. */
export function importsOf(text: string): Import[] {
  const code = blank(text);
  const found: Import[] = [];
  const add = (quote: number, typeOnly: boolean): void => {
    const end = code.indexOf(text[quote] ?? '', quote + 1);
    found.push({ specifier: text.slice(quote + 1, end), typeOnly });
  };
  // `import … from '…'`, `export … from '…'`: the clause holds names, braces, commas and stars only.
  for (const match of code.matchAll(/(?<![\w$.])(?:import|export)\b([\w$\s{},*]*?)\bfrom\s*['"]/g)) {
    add(match.index + match[0].length - 1, /^\s+type\s+(?!from\b)[\w${*]/.test(match[1] ?? ''));
  }
  for (const match of code.matchAll(/(?<![\w$.])import\s*['"]/g)) add(match.index + match[0].length - 1, false);
  for (const match of code.matchAll(/(?<![\w$.])(?:import|require)\s*\(\s*['"]/g)) {
    // `typeof import('x')` and `import('x').T` in a type look the same as a call; they are rare and count as one.
    add(match.index + match[0].length - 1, false);
  }
  return found;
}

/** True for `import(expression)`: nobody can say from the text what it loads. */
export function importsComputed(text: string): boolean {
  return /(?<![\w$.])(?:import|require)\s*\(\s*(?!['"\s])/.test(blank(text));
}

/** A word after which a slash begins a regular expression. */
const BEFORE_REGEX = /(?:^|[^\w$.])(?:return|typeof|case|in|of|do|else|void|delete|throw|new|instanceof|yield|await)$/;

/** The tests of the house look at the same files, and share a process. */
const blanked = new Map<string, string>();

export function blank(text: string): string {
  const known = blanked.get(text);
  if (known !== undefined) return known;
  const out = text.split('');
  let at = 0;
  const wipe = (from: number, to: number): void => {
    for (let i = from; i < to; i += 1) if (out[i] !== '\n') out[i] = ' ';
  };

  /** Up to the brace that ends a `${`, or to the end of the text. */
  const code = (inTemplate: boolean): void => {
    let depth = 0;
    let before = ''; // the code since the last separator, enough to tell a division from a regular expression
    while (at < text.length) {
      const char = text[at] ?? '';
      const next = text[at + 1];
      if (char === '/' && next === '/') {
        const end = text.indexOf('\n', at);
        const start = at;
        at = end < 0 ? text.length : end;
        wipe(start, at);
      } else if (char === '/' && next === '*') {
        const end = text.indexOf('*/', at + 2);
        const start = at;
        at = end < 0 ? text.length : end + 2;
        wipe(start, at);
      } else if (char === "'" || char === '"') {
        const start = at + 1;
        skipTo(char);
        wipe(start, at - 1);
        before = '"';
      } else if (char === '`') {
        template();
        before = '"';
      } else if (char === '/' && beginsRegex(before, next)) {
        const start = at + 1;
        skipRegex();
        wipe(start, at - 1);
        before = '"';
      } else {
        if (char === '{') depth += 1;
        if (char === '}') {
          if (depth === 0 && inTemplate) return;
          depth -= 1;
        }
        before = /\s/.test(char) ? before : (before + (/\s/.test(text[at - 1] ?? '') ? ' ' : '') + char).slice(-16);
        at += 1;
      }
    }
  };

  const skipTo = (quote: string): void => {
    at += 1;
    while (at < text.length && text[at] !== quote && text[at] !== '\n') at += text[at] === '\\' ? 2 : 1;
    at += 1;
  };

  const skipRegex = (): void => {
    let inClass = false;
    at += 1;
    while (at < text.length && text[at] !== '\n' && (inClass || text[at] !== '/')) {
      if (text[at] === '[') inClass = true;
      if (text[at] === ']') inClass = false;
      at += text[at] === '\\' ? 2 : 1;
    }
    at += 1;
  };

  const template = (): void => {
    at += 1;
    let start = at;
    while (at < text.length && text[at] !== '`') {
      if (text[at] === '$' && text[at + 1] === '{') {
        wipe(start, at);
        at += 2;
        code(true);
        start = at + 1;
        at += 1;
      } else {
        at += text[at] === '\\' ? 2 : 1;
      }
    }
    wipe(start, at);
    at += 1;
  };

  code(false);
  const result = out.join('');
  blanked.set(text, result);
  return result;
}

/** The end of an element in JSX, `</p>` or `<br />`, is none. */
function beginsRegex(before: string, next: string | undefined): boolean {
  if (before.endsWith('<') || (before.endsWith('}') && next === '>')) return false;
  return before === '' || /[(,=:[!&|?{};+\-*%<>~^]$/.test(before) || BEFORE_REGEX.test(before);
}
