/**
 * The modules that run in a guest's process, as text without types.
 *
 * Promise: a guest's process reads no file of this machine. Its code comes over its channel and contains no
 * path. The files are read once for all guests.
 */
import fs from 'node:fs';
import { createRequire, isBuiltin, stripTypeScriptTypes } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Module {
  readonly text: string;
  /** Its imports: from the specifier in the text to the name of the module. */
  readonly imports: Readonly<Record<string, string>>;
}

/** All modules, by the names that they have in stacks. */
interface ChildModules {
  readonly entry: string;
  readonly modules: Readonly<Record<string, Module>>;
}

/** The code that `node -e` starts with. It waits for the modules and then loads them by name. */
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

let read: ChildModules | undefined;

export function childModules(): ChildModules {
  read ??= collect(fileURLToPath(new URL('./child.ts', import.meta.url)));
  return read;
}

/** Finds the imports of our own sources and of `ses`. It handles only the forms of import that these use. */
const importing = /^(?:import|export)\b(?:[\w\s{},*$]*?\bfrom)?\s*(['"])([^'"\n]+)\1|\bimport\((['"])([^'"\n]+)\3\)/gm;

/** These import nothing. Their comments contain text that looks like an import. */
const bundles = new Set(['acorn', 'ses']);

function collect(path: string): ChildModules {
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
  // `@hob/vat` takes longer to load than everything else. A guest's process needs only its `peer` entry
  // point.
  const wanted = specifier === '@hob/vat' ? '@hob/vat/peer' : specifier;
  const found = createRequire(from).resolve(wanted);
  // `require` found the CommonJS file. The module file is next to it, or the same file is used (ses).
  const forImport = found.replace(/\.js$/, '.mjs');
  return fs.existsSync(forImport) ? forImport : found;
}

function textOf(file: string): string {
  const text = fs.readFileSync(file, 'utf8');
  return file.endsWith('.ts') ? quietly(() => stripTypeScriptTypes(text)) : text;
}

/** Silences Node's warning that stripping types is experimental. */
function quietly<T>(act: () => T): T {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return act();
  } finally {
    process.emitWarning = emitWarning;
  }
}
