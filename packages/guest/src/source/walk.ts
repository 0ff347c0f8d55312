/** Walks the syntax trees of `acorn`. */
import type { AnyNode, Node } from 'acorn';

/** A node of any kind. Its `type` tells which. */
export type Tree = AnyNode;

const isNode = (x: unknown): x is Node =>
  typeof x === 'object' && x !== null && typeof (x as { type?: unknown }).type === 'string';

/** The child nodes of a node, in the order of the source. */
export function below(node: Tree): Tree[] {
  const found: Tree[] = [];
  for (const value of Object.values(node)) {
    if (isNode(value)) found.push(value as Tree);
    else if (Array.isArray(value)) for (const item of value) if (isNode(item)) found.push(item as Tree);
  }
  return found;
}

/**
 * Calls `visit` for a node and all nodes below it, each with the nodes above it, the nearest last. Any depth
 * works.
 */
export function walk(root: Tree, visit: (node: Tree, above: readonly Tree[]) => void): void {
  // Without recursion: a hundred thousand additions are a tree of that depth.
  const above: Tree[] = [];
  const open: { readonly node: Tree; readonly children: Tree[] }[] = [];
  const enter = (node: Tree): void => {
    visit(node, above);
    above.push(node);
    open.push({ node, children: below(node).reverse() });
  };
  enter(root);
  for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
    const next = top.children.pop();
    if (next !== undefined) enter(next);
    else {
      open.pop();
      above.pop();
    }
  }
}
