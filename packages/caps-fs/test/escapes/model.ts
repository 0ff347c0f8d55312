/**
 * Works out in memory what a path means: a second opinion on the walk, written from its rules and not from its
 * code.
 *
 * Promise: it knows no file system. Only what lies in the tree can come out of it.
 */
export type Tree =
  | { readonly kind: 'file'; readonly content: string }
  | { readonly kind: 'link'; readonly text: string }
  | { readonly kind: 'dir'; readonly entries: ReadonlyMap<string, Tree> };
type Directory = Extract<Tree, { kind: 'dir' }>;

export class Refused extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.code = code;
  }
}

const bytes = (text: string): number => Buffer.byteLength(text);

/** The grammar: what may be asked for at all. */
export function namesOf(path: string): { readonly names: string[]; readonly directory: boolean } {
  if (path === '' || path.includes('\0') || !path.isWellFormed() || bytes(path) > 4096)
    throw new Refused('PATH_INVALID');
  if (path[0] === '/') throw new Refused('PATH_ABSOLUTE');
  const parts = path.split('/');
  if (parts.some((part) => part === '..')) throw new Refused('PATH_ESCAPES');
  const names = parts.filter((part) => part !== '' && part !== '.');
  const bad = names.some((name) => bytes(name) > 255 || /^\.~caps-[0-9a-f]{16}$/.test(name));
  if (bad || names.length > 128) throw new Refused('PATH_INVALID');
  return { names, directory: ['', '.'].includes(parts.at(-1) ?? '') };
}

/** Follows every link; what is found is a file or a directory. */
export function resolve(root: Directory, path: string): Tree {
  const { names, directory } = namesOf(path);
  return walk(root, names, directory);
}

/** As `resolve`, but the last name is looked at itself. */
export function look(root: Directory, path: string): Tree {
  const { names, directory } = namesOf(path);
  const last = names.at(-1);
  if (directory || last === undefined) return walk(root, names, directory);
  const parent = walk(root, names.slice(0, -1), true);
  const found = parent.kind === 'dir' ? parent.entries.get(last) : undefined;
  if (found === undefined) throw new Refused('NOT_FOUND');
  return found;
}

function walk(root: Directory, asked: readonly string[], directory: boolean): Tree {
  const stack: Directory[] = [root];
  const todo = [...asked];
  let mustBeDirectory = directory;
  for (let links = 0; todo.length > 0; ) {
    const name = todo.shift() as string;
    const here = stack.at(-1) as Directory;
    if (name === '..') {
      stack.pop();
      if (stack.length === 0) throw new Refused('RESOLVED_OUTSIDE');
      continue;
    }
    const next = here.entries.get(name);
    if (next === undefined) throw new Refused('NOT_FOUND');
    if (next.kind === 'dir') stack.push(next);
    else if (next.kind === 'link') {
      links += 1;
      if (links > 40) throw new Refused('LINK_LOOP');
      if (next.text[0] === '/') throw new Refused('RESOLVED_OUTSIDE');
      const parts = next.text.split('/');
      if (todo.length === 0 && ['', '.', '..'].includes(parts.at(-1) ?? '')) mustBeDirectory = true;
      todo.unshift(...parts.filter((part) => part !== '' && part !== '.'));
    } else {
      if (todo.length > 0 || mustBeDirectory) throw new Refused('NOT_A_DIRECTORY');
      return next;
    }
  }
  return stack.at(-1) as Directory;
}
