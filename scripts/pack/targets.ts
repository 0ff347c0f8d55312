/**
 * Finds the files that a compiled module reaches by `new URL('FILE', import.meta.url)`: threads, programs, sources in C.
 *
 * No import names such a file, so the compiler leaves it out, and the packed program fails where it first needs it.
 * A packed module may use `import.meta` only in a form that shows the file. Every other use is a fault.
 */
import { existsSync, statSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { type AnyNode, type Expression, parse } from 'acorn';

/** A file named in a module: by which text, and from where to where this text stands in the module. */
export interface Named {
  readonly path: string;
  readonly start: number;
  readonly end: number;
}

export interface Found {
  readonly named: readonly Named[];
  /** A target that packing cannot follow, with its line. */
  readonly faults: readonly string[];
}

/** The files that a module names. `text` is JavaScript. */
export function namedIn(text: string): Found {
  const named: Named[] = [];
  const faults: string[] = [];
  const fault = (node: AnyNode, what: string): void => {
    faults.push(`line ${text.slice(0, node.start).split('\n').length}: ${what}`);
  };
  const understood = new Set<AnyNode>();
  walk(parse(text, { ecmaVersion: 'latest', sourceType: 'module' }), (node) => {
    const call = node.type === 'NewExpression' || node.type === 'CallExpression' ? node : undefined;
    if (call?.callee.type === 'Identifier') {
      const [first, second] = call.arguments as Expression[];
      if (call.callee.name === 'URL' && isOwnUrl(second)) {
        understood.add(second.object);
        const path = first?.type === 'Literal' ? first.value : undefined;
        if (typeof path === 'string' && first) named.push({ path, start: first.start, end: first.end });
        else fault(call, 'new URL(…, import.meta.url) needs the file as one text, so that packing finds it');
      }
      // It looks for packages, which are dependencies, and not for files of ours.
      if (call.callee.name === 'createRequire' && isOwnUrl(first)) understood.add(first.object);
      if (call.callee.name === 'Worker' && (first?.type === 'Literal' || first?.type === 'TemplateLiteral'))
        fault(call, 'new Worker(…) needs new URL(FILE, import.meta.url), so that packing finds the file');
    }
    if (node.type === 'MetaProperty' && node.meta.name === 'import' && !understood.has(node))
      fault(node, 'import.meta is used in a form that packing cannot follow: use new URL(FILE, import.meta.url)');
  });
  return { named, faults };
}

const isOwnUrl = (node: Expression | undefined): node is Expression & { readonly object: AnyNode } =>
  node?.type === 'MemberExpression' &&
  node.object.type === 'MetaProperty' &&
  node.property.type === 'Identifier' &&
  node.property.name === 'url';

/** Calls `see` with each node, parents first. */
function walk(node: AnyNode, see: (node: AnyNode) => void): void {
  see(node);
  for (const value of Object.values(node) as unknown[])
    for (const child of Array.isArray(value) ? value : [value])
      if (typeof (child as AnyNode | null)?.type === 'string') walk(child as AnyNode, see);
}

export interface Target {
  /** Its place in the package's folder, with `/`. */
  readonly path: string;
  readonly kind: 'module' | 'file' | 'folder' | 'made';
}

/**
 * The target that `named` means in the source `file` of the package in `folder`. Throws by name if there is none.
 * `made` lists the files of the package that come into being on the user's machine.
 */
export function targetOf(named: string, file: string, folder: string, made: readonly string[]): Target {
  const place = join(file, '..', named);
  const path = relative(folder, place).split(sep).join('/');
  const say = (what: string): Error => new Error(`${file}: its file ${named} ${what}`);
  if (path.startsWith('..') || path === '') throw say('is outside of the package: a tarball has nothing there');
  if (made.includes(path)) return { path, kind: 'made' };
  if (!existsSync(place)) throw say('is not there');
  if (statSync(place).isDirectory()) return { path, kind: 'folder' };
  if (!path.endsWith('.ts')) return { path, kind: 'file' };
  if (path.startsWith('src/')) return { path, kind: 'module' };
  throw say('is TypeScript outside of src/, where nothing is compiled');
}

/** The same module, with the compiled file for each named source: `'./a.ts'` becomes `'./a.js'`. */
export function withCompiledNames(text: string, named: readonly Named[]): string {
  let changed = text;
  // The length stays, so no place moves and source maps stay true.
  for (const { path, start, end } of named)
    if (path.endsWith('.ts')) changed = `${changed.slice(0, start)}'${path.replace(/ts$/, 'js')}'${changed.slice(end)}`;
  return changed;
}
