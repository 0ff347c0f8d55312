/**
 * Joins modules into one script, so that the engine can keep its compiled form.
 *
 * It handles the forms of import and export that our own sources, `acorn` and `ses` use, and throws for any
 * other. A module runs once, after the modules that it imports. The text is Latin-1: a string with any other
 * character takes two bytes for each of them.
 */
import { basename } from 'node:path';

/** Where the modules come from. */
interface Sources {
  /** The text of a file, without types. */
  textOf(file: string): string;
  /** The file that an import means. */
  resolve(specifier: string, from: string): string;
  /** The names that the script gets from outside, `require` among them. */
  readonly parameters: readonly string[];
}

/** These import nothing. Their comments contain text that looks like an import. */
const bundles = new Set(['acorn', 'ses']);

const imports =
  /^import\s+(?:(?:(?<whole>[\w$]+)|\*\s+as\s+(?<all>[\w$]+)|\{(?<names>[^}]*)\})\s+from\s+)?(['"])(?<specifier>[^'"\n]+)\4;?/gm;
const passedOn = /^export\s+(?:(?<all>\*)|\{(?<names>[^}]*)\})\s+from\s+(['"])(?<specifier>[^'"\n]+)\3;?/gm;
const lists = /^export\s+\{(?<names>[^}]*)\};?/gm;
const variables = /^export let (?<name>[\w$]+)(?=\s*[;=])/gm;
const declarations = /^export(?=\s+(?:const|class|(?:async\s+)?function\*?)\s+(?<name>[\w$]+))/gm;

/** The script: a function of `parameters` that runs the module `entry`. */
export function joined(entry: string, { textOf, resolve, parameters }: Sources): string {
  const numbers = new Map<string, number | undefined>();
  const parts: string[] = [];
  const shared = new Set<string>();
  const add = (file: string, isBundle: boolean): number => {
    const known = numbers.get(file);
    if (known !== undefined) return known;
    if (numbers.has(file)) throw new Error(`${basename(file)} imports itself, by way of others`);
    numbers.set(file, undefined);
    const from = (specifier: string): string =>
      specifier.startsWith('node:')
        ? `require('${specifier}')`
        : `m${add(resolve(specifier, file), bundles.has(specifier))}`;
    const body = inFunction(textOf(file), { name: basename(file), from: isBundle ? undefined : from, shared });
    const number = parts.push(body) - 1;
    parts[number] = `const m${number} = ${body}`;
    numbers.set(file, number);
    return number;
  };
  add(entry, false);
  return latin1(`(function (${parameters.join(', ')}) {\n'use strict';\n${declared(shared)}${parts.join('')}})`);
}

interface Rest {
  readonly name: string;
  /** The expression for the exports of another module. A bundle imports none. */
  readonly from: ((specifier: string) => string) | undefined;
  /** Variables that change after they were exported. They are variables of the script, by the same name in all modules. */
  readonly shared: Set<string>;
}

/** One module as a call that returns its exports. */
function inFunction(text: string, { name, from, shared }: Rest): string {
  const exported: string[] = [];
  let body = text.replaceAll(/^\/\/# source.*$/gm, '');
  if (from !== undefined) {
    body = body
      .replaceAll(imports, (...found) => imported(groupsOf(found), from, shared))
      .replaceAll(passedOn, (...found) => {
        const { all, names, specifier = '' } = groupsOf(found);
        const other = from(specifier);
        if (all !== undefined) exported.push(`...${other}`);
        else exported.push(...pairsOf(names).map(([theirs, ours]) => `${ours}: ${other}.${theirs}`));
        return '';
      })
      .replaceAll(variables, (...found) => {
        const variable = groupsOf(found)['name'] ?? '';
        if (shared.has(variable)) throw new Error(`${name}: another module exports a variable ${variable}, too`);
        shared.add(variable);
        return variable;
      })
      .replaceAll(declarations, (...found) => {
        exported.push(groupsOf(found)['name'] ?? '');
        return '';
      });
  }
  body = body.replaceAll(lists, (...found) => {
    exported.push(...pairsOf(groupsOf(found)['names']).map(([ours, outside]) => `${outside}: ${ours}`));
    return '';
  });
  const left = from === undefined ? null : /^(?:import|export)\b.*/m.exec(body);
  if (left !== null) throw new Error(`${name}: this import or export cannot be joined: ${left[0]}`);
  return `(() => { // ${name}\n${body}\nreturn { ${exported.join(', ')} };\n})();\n`;
}

const declared = (shared: Set<string>): string => (shared.size === 0 ? '' : `let ${[...shared].join(', ')};\n`);

function imported(found: Groups, from: (specifier: string) => string, shared: Set<string>): string {
  const { whole, all, names, specifier = '' } = found;
  const other = from(specifier);
  // The default of a module of Node is the module.
  if (whole !== undefined || all !== undefined) return `const ${whole ?? all} = ${other};`;
  if (names === undefined) return '';
  const renamed = pairsOf(names).find(([theirs, ours]) => shared.has(theirs) && theirs !== ours);
  if (renamed !== undefined) throw new Error(`the variable ${renamed[0]} must be imported by its name`);
  const pairs = pairsOf(names)
    .filter(([theirs]) => !shared.has(theirs))
    .map(([theirs, ours]) => `${theirs}: ${ours}`);
  return pairs.length === 0 ? '' : `const { ${pairs.join(', ')} } = ${other};`;
}

type Groups = Readonly<Record<string, string | undefined>>;

/** The named groups come last. */
const groupsOf = (found: readonly unknown[]): Groups => found.at(-1) as Groups;

/** `a, b as c` as `[['a', 'a'], ['b', 'c']]`. */
const pairsOf = (names = ''): readonly (readonly [string, string])[] =>
  names
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')
    .map((one) => one.split(/\s+as\s+/))
    .map(([first = '', second = first]) => [first, second] as const);

/** An escape means the same in names, strings and regular expressions. Comments may change. */
const latin1 = (text: string): string =>
  text.replaceAll(/[^\0-\xff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
