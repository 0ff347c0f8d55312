/**
 * What runs in a guest's process, as text: every module of it, with the types taken out.
 *
 * Promise: a guest's process reads no file of this machine; what it runs comes over its channel, and no path is in it. It is
 * read once for all guests.
 */
import fs from 'node:fs';
import { createRequire, isBuiltin, stripTypeScriptTypes } from 'node:module';
import { basename, join } from 'node:path';

interface Module {
  readonly text: string;
  /** What it imports, by the name in its text. */
  readonly imports: Readonly<Record<string, string>>;
}

/** Modules by their names in stacks. */
export interface Program {
  readonly entry: string;
  readonly modules: Readonly<Record<string, Module>>;
}

/**
 * What waits in `node -e` for the program. It loads modules by name out of what it was sent.
 */
export const boot: string = `process.once('message', ({ entry, modules }) => {
  const { registerHooks } = require('node:module');
  registerHooks({
    resolve(name, { parentURL }, next) {
      const url = name === entry ? name : modules[parentURL]?.imports[name];
      return url === undefined ? next(name) : { url, format: 'module', shortCircuit: true };
    },
    load(url, context, next) {
      const found = modules[url];
      return found === undefined ? next(url, context) : { format: 'module', source: found.text, shortCircuit: true };
    },
  });
  import(entry);
});`;

/** As this module is called: source, or packed. */
const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

let read: Program | undefined;

export function program(): Program {
  read ??= collect(join(import.meta.dirname, `child.${ending}`));
  return read;
}

/** Our own sources and `ses`: nothing but such text stands between an import and what it names. */
const importing = /^(?:import|export)\b(?:[\w\s{},*$]*?\bfrom)?\s*(['"])([^'"\n]+)\1|\bimport\((['"])([^'"\n]+)\3\)/gm;

/** They import nothing; what looks like it stands in their comments. */
const bundles = new Set(['acorn', 'ses']);

function collect(path: string): Program {
  const names = new Map<string, string>();
  const modules: Record<string, Module> = {};
  const add = (file: string, whole = false): string => {
    const known = names.get(file);
    if (known !== undefined) return known;
    const name = `hob:${names.size}/${basename(file)}`;
    names.set(file, name);
    const text = textOf(file);
    const imports: Record<string, string> = {};
    for (const [, , named, , later] of whole ? [] : text.matchAll(importing)) {
      const specifier = (named ?? later) as string;
      if (!isBuiltin(specifier)) imports[specifier] = add(resolve(specifier, file), bundles.has(specifier));
    }
    modules[name] = { text, imports };
    return name;
  };
  return Object.freeze({ entry: add(path), modules });
}

function resolve(specifier: string, from: string): string {
  if (specifier.startsWith('.')) return join(from, '..', specifier);
  // The whole of it would take longer to load than all the rest; what a guest's process needs of it is in its other face.
  const wanted = specifier === '@hob/vat' ? '@hob/vat/peer' : specifier;
  const found = createRequire(from).resolve(wanted);
  // That was for `require`; a face for `import` lies beside it, or it is the same text (ses).
  const forImport = found.replace(/\.js$/, '.mjs');
  return fs.existsSync(forImport) ? forImport : found;
}

function textOf(file: string): string {
  const text = fs.readFileSync(file, 'utf8');
  return file.endsWith('.ts') ? quietly(() => stripTypeScriptTypes(text)) : text;
}

/** Node says once a process that stripping is an experiment; it runs all of our sources by it. */
function quietly<T>(act: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return act();
  } finally {
    process.emitWarning = emitWarning;
  }
}
