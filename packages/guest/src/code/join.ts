/**
 * Joins modules into one script, so that the engine can keep its compiled form.
 *
 * It handles the forms of import and export that our own sources, `acorn` and `ses` use, and throws for any
 * other. A module runs once, after the modules that it imports. The script is Latin-1, because V8 needs two bytes
 * for each character of a text that has other characters.
 */
import { basename } from 'node:path';

/** How the modules are found and read. */
interface Sources {
  /** The text of a file, without types. */
  textOf(file: string): string;
  /** Returns the path of the file that an import names. */
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

/** Returns the script: a function of `parameters` that runs the modules `entries`. */
export function joined(entries: readonly string[], { textOf, resolve, parameters }: Sources): string {
  const numbers = new Map<string, number | undefined>();
  const parts: string[] = [];
  const shared = new Map<string, string>();
  const add = (file: string, isBundle: boolean): number => {
    const known = numbers.get(file);
    if (known !== undefined) return known;
    if (numbers.has(file)) throw new Error(`${basename(file)} imports itself, by way of others`);
    numbers.set(file, undefined);
    const from = (specifier: string): string =>
      specifier.startsWith('node:')
        ? `require('${specifier}')`
        : `m${add(resolve(specifier, file), bundles.has(specifier))}`;
    // Its number is known when all modules that it imports have theirs.
    const self = (): string => `m${parts.length}`;
    const body = inFunction(textOf(file), { name: basename(file), from: isBundle ? undefined : from, self, shared });
    const number = parts.push(`const ${self()} = ${body}`) - 1;
    numbers.set(file, number);
    return number;
  };
  for (const entry of entries) add(entry, false);
  return latin1(`(function (${parameters.join(', ')}) {\n'use strict';\n${declared(shared)}${parts.join('')}})`);
}

interface Rest {
  readonly name: string;
  /** The expression for the exports of another module. A bundle imports none. */
  readonly from: ((specifier: string) => string) | undefined;
  /** The expression for its own exports. */
  readonly self: () => string;
  readonly shared: Shared;
}

/**
 * The variable of each export that changes later, such as `m7.current`. It is a variable of the script, so that
 * all modules see the same one.
 */
type Shared = Map<string, string>;

/** Returns one module as a function that is called at once and returns the exports. */
function inFunction(text: string, { name, from, self, shared }: Rest): string {
  const exported: string[] = [];
  const share = (variable: string, outside: string): void => {
    if ([...shared.values()].includes(variable))
      throw new Error(`${name}: another module exports a variable ${variable}, too`);
    shared.set(`${self()}.${outside}`, variable);
    exported.push(`get ${outside}() { return ${variable}; }`);
  };
  let body = text.replaceAll(/^\/\/# sourceMappingURL=.*$/gm, '');
  if (from !== undefined) {
    body = body
      .replaceAll(imports, (...found) => imported(groupsOf(found), from, shared))
      .replaceAll(passedOn, (...found) => {
        const { all, names, specifier = '' } = groupsOf(found);
        const other = from(specifier);
        const changes = [...shared.keys()].find((key) => key.startsWith(`${other}.`));
        if (changes !== undefined) throw new Error(`${name}: it passes on a variable of ${specifier}`);
        if (all !== undefined) exported.push(`...${other}`);
        else exported.push(...pairsOf(names).map(([theirs, ours]) => `${ours}: ${other}.${theirs}`));
        return '';
      })
      .replaceAll(variables, (...found) => {
        const variable = groupsOf(found)['name'] ?? '';
        share(variable, variable);
        return variable;
      })
      .replaceAll(declarations, (...found) => {
        exported.push(groupsOf(found)['name'] ?? '');
        return '';
      });
  }
  const listed = [...body.matchAll(lists)].flatMap(({ groups }) => pairsOf(groups?.['names']));
  body = body.replaceAll(lists, '');
  for (const [ours, outside] of listed) {
    const declaration = new RegExp(`^(?:var|let) (?=${ours}\\s*[;=])`, 'm');
    if (from === undefined || !isReassigned(body, ours, declaration)) exported.push(`${outside}: ${ours}`);
    else {
      share(ours, outside);
      body = body.replace(declaration, '');
    }
  }
  const left = from === undefined ? null : /^(?:import|export)\b.*/m.exec(body);
  if (left !== null) throw new Error(`${name}: this import or export cannot be joined: ${left[0]}`);
  return `(() => { // ${name}\n${body}\nreturn { ${exported.join(', ')} };\n})();\n`;
}

/** Whether the variable is assigned again. In a packed module the list of exports does not show it. */
function isReassigned(text: string, name: string, declaration: RegExp): boolean {
  if (!declaration.test(text)) return false;
  const begins = new RegExp(`^(?:var|let) ${name}\\s*=`, 'm').test(text) ? 1 : 0;
  return [...text.matchAll(new RegExp(`(?<![\\w$.])${name}\\s*=(?![=>])`, 'g'))].length > begins;
}

const declared = (shared: Shared): string => (shared.size === 0 ? '' : `let ${[...shared.values()].join(', ')};\n`);

function imported(found: Groups, from: (specifier: string) => string, shared: Shared): string {
  const { whole, all, names, specifier = '' } = found;
  const other = from(specifier);
  // The default of a module of Node is the module.
  if (whole !== undefined || all !== undefined) return `const ${whole ?? all} = ${other};`;
  if (names === undefined) return '';
  const pairs = pairsOf(names).flatMap(([theirs, ours]) => {
    const variable = shared.get(`${other}.${theirs}`);
    if (variable === undefined) return [`${theirs}: ${ours}`];
    if (variable !== ours) throw new Error(`the variable ${variable} of ${specifier} must be imported by its name`);
    return [];
  });
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

/** Writes other characters as escapes. These mean the same in names, strings and regular expressions. */
const latin1 = (text: string): string =>
  text.replaceAll(/[^\0-\xff]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
