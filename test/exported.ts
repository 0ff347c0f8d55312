/**
 * The exports of a module, followed through re-exports to the place where each name is declared.
 *
 * Promise: a form of export that is not understood throws. So a name cannot slip past a check.
 */
import { dirname, join } from 'node:path/posix';
import { blank, read } from './sources.ts';

export interface Exported {
  readonly name: string;
  /** The file that declares it. */
  readonly file: string;
  /** The doc comments before its declarations, without the stars. Empty if there is none. */
  readonly docs: readonly string[];
}

const LIST = /(?<![\w$.])export\s+(?:type\s*)?\{([^}]*)\}(\s*from\s*['"])?/g;
const STAR = /(?<![\w$.])export\s+(?:type\s+)?\*\s*(?:as\s+([\w$]+)\s*)?from\s*['"]/g;
const DECLARED =
  /(?<![\w$.])export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(const|let|function\*?|class|interface|type|enum)\s+([\w$]+)/g;
const IMPORTED = /(?<![\w$.])import\s+(?:type\s+)?\{([^}]*)\}\s*from\s*['"]/g;

/** `a`, `type a`, `a as b`: the name there and the name here. */
const pairs = (list: string): readonly (readonly [inner: string, outer: string])[] =>
  list
    .split(',')
    .map((item) => item.trim().replace(/^type\s+/, ''))
    .filter((item) => item !== '')
    .map((item) => {
      const [inner = '', outer = inner] = item.split(/\s+as\s+/);
      return [inner, outer] as const;
    });

/** All that `file` exports, by name, types included. `sourceOf` is for tests of this function. */
export function exportsOf(file: string, sourceOf = (name: string): string => read(name).text): Map<string, Exported> {
  const text = sourceOf(file);
  const code = blank(text);
  const target = (quote: number): string => {
    const specifier = text.slice(quote + 1, code.indexOf(text[quote] ?? '', quote + 1));
    return specifier.startsWith('.') ? join(dirname(file), specifier) : entryOf(specifier, file);
  };
  const found = new Map<string, Exported>();
  const forward = (from: string, inner: string, outer: string): void => {
    const there = exportsOf(from, sourceOf).get(inner);
    if (there === undefined) throw new Error(`${file} exports ${inner}, which ${from} does not export`);
    found.set(outer, { ...there, name: outer });
  };
  for (const match of code.matchAll(LIST)) {
    const from = match[2] === undefined ? undefined : target(match.index + match[0].length - 1);
    for (const [inner, outer] of pairs(match[1] ?? '')) {
      const origin = from ?? importedFrom(code, inner, target);
      if (origin !== undefined)
        forward(
          typeof origin === 'string' ? origin : origin.file,
          typeof origin === 'string' ? inner : origin.name,
          outer,
        );
      else found.set(outer, { name: outer, file, docs: docsBefore(text, code, inner, '') });
    }
  }
  for (const match of code.matchAll(STAR)) {
    const from = target(match.index + match[0].length - 1);
    if (match[1] !== undefined) throw new Error(`${file}: \`export * as\` has no declaration that could be documented`);
    for (const [name, exported] of exportsOf(from, sourceOf)) found.set(name, exported);
  }
  for (const [, , name = ''] of code.matchAll(DECLARED))
    found.set(name, { name, file, docs: docsBefore(text, code, name, String.raw`export\s+`) });
  const known = [LIST, STAR, DECLARED].reduce((sum, form) => sum + [...code.matchAll(form)].length, 0);
  if ([...code.matchAll(/(?<![\w$.])export(?![\w$:])/g)].length !== known)
    throw new Error(`${file} has an export of a form that is not understood`);
  return found;
}

/** The file behind `@hob/vat` or `@hob/vat/wire`. A name of somebody else's package has no docstring of ours. */
function entryOf(specifier: string, file: string): string {
  const [, name, face = ''] = /^@hob\/([\w-]+)(\/[\w-]+)?$/.exec(specifier) ?? [];
  if (name === undefined) throw new Error(`${file} re-exports ${specifier}, which is another project's`);
  const { exports } = JSON.parse(read(`packages/${name}/package.json`).text);
  const entry: unknown = exports[`.${face}`];
  if (typeof entry !== 'string') throw new Error(`${file} re-exports ${specifier}, which is no entry of ${name}`);
  return join('packages', name, entry);
}

function importedFrom(
  code: string,
  name: string,
  target: (quote: number) => string,
): { readonly file: string; readonly name: string } | undefined {
  for (const match of code.matchAll(IMPORTED))
    for (const [inner, outer] of pairs(match[1] ?? ''))
      if (outer === name) return { file: target(match.index + match[0].length - 1), name: inner };
  return undefined;
}

/** The doc comments that stand directly before the declarations of `name`. */
function docsBefore(text: string, code: string, name: string, prefix: string): readonly string[] {
  const declared = new RegExp(
    String.raw`(?<![\w$.])${prefix}(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class|interface|type|enum)\s+${name.replace('$', '\\$')}(?![\w$])`,
    'g',
  );
  return [...code.matchAll(declared)].flatMap(({ index }) => {
    const before = text.slice(0, index).trimEnd();
    if (!before.endsWith('*/')) return [];
    const comment = before.slice(before.lastIndexOf('/*'));
    return comment.startsWith('/**')
      ? [
          comment
            .slice(3, -2)
            .replace(/^\s*\*/gm, '')
            .trim(),
        ]
      : [];
  });
}
