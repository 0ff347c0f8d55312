/**
 * Finds the free names of a program.
 *
 * Promise: every name that the program uses and does not declare is returned, once for each kind of use, with
 * its first offset. No name that it declares is returned.
 */
import type { Program } from 'acorn';
import { below, type Tree } from './walk.ts';

interface FreeName {
  readonly name: string;
  readonly offset: number;
  /** `asked`: used by `typeof` only, which also works for a name that does not exist. */
  readonly use: 'read' | 'set' | 'asked';
}

type Use = FreeName['use'];

class Scope {
  readonly #names: ReadonlySet<string>;
  readonly #outer: Scope | undefined;
  constructor(names: Iterable<string>, outer?: Scope) {
    this.#names = new Set(names);
    this.#outer = outer;
  }
  has(name: string): boolean {
    return this.#names.has(name) || (this.#outer?.has(name) ?? false);
  }
}

export function freeNames(tree: Program): readonly FreeName[] {
  const finder = new Finder();
  finder.visit(tree, new Scope([]), 'read');
  return [...finder.found.values()].sort((a, b) => a.offset - b.offset);
}

class Finder {
  readonly found: Map<string, FreeName> = new Map();

  visit(node: Tree, scope: Scope, use: Use): void {
    switch (node.type) {
      case 'Identifier': {
        const key = `${use} ${node.name}`;
        const known = this.found.get(key);
        if (scope.has(node.name) || (known !== undefined && known.offset <= node.start)) return;
        this.found.set(key, { name: node.name, offset: node.start, use });
        return;
      }
      case 'Property':
        if (node.computed) this.visit(node.key as Tree, scope, 'read');
        return this.visit(node.value as Tree, scope, use);
      case 'PropertyDefinition':
      case 'MethodDefinition':
        if (node.computed) this.visit(node.key as Tree, scope, 'read');
        return this.#all([node.value], scope);
      case 'MemberExpression':
        this.visit(node.object, scope, 'read');
        if (node.computed) this.visit(node.property as Tree, scope, 'read');
        return;
      case 'LabeledStatement':
        return this.visit(node.body, scope, 'read');
      case 'BreakStatement':
      case 'ContinueStatement':
      case 'MetaProperty':
      case 'ImportDeclaration':
        return;
      case 'ExportNamedDeclaration':
        if (node.source != null) return;
        return this.#all([node.declaration, ...node.specifiers.map(({ local }) => local as Tree)], scope);
      case 'AssignmentExpression':
        this.visit(node.left as Tree, scope, 'set');
        // `a += 1` also reads `a`.
        if (node.operator !== '=') this.visit(node.left as Tree, scope, 'read');
        return this.visit(node.right, scope, 'read');
      case 'UpdateExpression':
        return this.visit(node.argument, scope, 'set');
      case 'UnaryExpression':
        return this.visit(node.argument, scope, node.operator === 'typeof' ? 'asked' : 'read');
      case 'AssignmentPattern':
        this.visit(node.left as Tree, scope, use);
        return this.visit(node.right, scope, 'read');
      case 'ObjectPattern':
      case 'ArrayPattern':
      case 'RestElement':
        return this.#all(below(node), scope, use);
      default:
        return this.#visitWithScope(node, scope);
    }
  }

  /** Visits a node that may declare names for the nodes below it. */
  #visitWithScope(node: Tree, scope: Scope): void {
    switch (node.type) {
      case 'Program':
        return this.#all(node.body, new Scope([...lexical(node.body), ...varsIn(node)], scope));
      case 'BlockStatement':
        return this.#all(node.body, new Scope(lexical(node.body), scope));
      case 'StaticBlock':
        return this.#all(node.body, new Scope([...lexical(node.body), ...node.body.flatMap(varsIn)], scope));
      case 'SwitchStatement': {
        this.visit(node.discriminant, scope, 'read');
        const inner = new Scope(lexical(node.cases.flatMap(({ consequent }) => consequent)), scope);
        return this.#all(node.cases, inner);
      }
      case 'ForStatement':
        return this.#all(below(node), new Scope(node.init ? lexical([node.init]) : [], scope));
      case 'ForInStatement':
      case 'ForOfStatement': {
        const inner = new Scope(lexical([node.left]), scope);
        this.visit(node.left, inner, node.left.type === 'VariableDeclaration' ? 'read' : 'set');
        return this.#all([node.right, node.body], inner);
      }
      case 'CatchClause': {
        const inner = new Scope(node.param ? namesIn(node.param) : [], scope);
        return this.#all([node.param, node.body], inner);
      }
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression': {
        const names = node.params.flatMap(namesIn);
        if (node.type !== 'ArrowFunctionExpression') names.push('arguments');
        if (node.type === 'FunctionExpression' && node.id) names.push(node.id.name);
        const inner = new Scope([...names, ...varsIn(node.body as Tree)], scope);
        return this.#all([...node.params, node.body] as Tree[], inner);
      }
      case 'ClassDeclaration':
      case 'ClassExpression':
        return this.#all([node.superClass, node.body], new Scope(node.id ? [node.id.name] : [], scope));
      default:
        return this.#all(below(node), scope);
    }
  }

  #all(nodes: readonly (Tree | null | undefined)[], scope: Scope, use: Use = 'read'): void {
    for (const node of nodes) if (node != null) this.visit(node, scope, use);
  }
}

/** The names that a pattern declares. */
export function namesIn(pattern: Tree): string[] {
  switch (pattern.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        namesIn(property.type === 'Property' ? (property.value as Tree) : property),
      );
    case 'ArrayPattern':
      return pattern.elements.flatMap((element) => (element === null ? [] : namesIn(element)));
    case 'RestElement':
      return namesIn(pattern.argument);
    case 'AssignmentPattern':
      return namesIn(pattern.left);
    default:
      return [];
  }
}

/** The names that statements declare in their own block. */
function lexical(statements: readonly Tree[]): string[] {
  return statements.flatMap((statement): string[] => {
    switch (statement.type) {
      case 'VariableDeclaration':
        return statement.kind === 'var' ? [] : statement.declarations.flatMap(({ id }) => namesIn(id));
      case 'FunctionDeclaration':
      case 'ClassDeclaration':
        return statement.id ? [statement.id.name] : [];
      case 'ImportDeclaration':
        return statement.specifiers.map(({ local }) => local.name);
      case 'ExportNamedDeclaration':
        return statement.declaration ? lexical([statement.declaration]) : [];
      case 'ExportDefaultDeclaration':
        return lexical([statement.declaration as Tree]);
      default:
        return [];
    }
  });
}

/** The names of every `var` below, except those inside nested functions. */
function varsIn(node: Tree): string[] {
  switch (node.type) {
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ArrowFunctionExpression':
    case 'StaticBlock':
      return [];
    case 'VariableDeclaration':
      return [
        ...(node.kind === 'var' ? node.declarations.flatMap(({ id }) => namesIn(id)) : []),
        ...below(node).flatMap(varsIn),
      ];
    default:
      return below(node).flatMap(varsIn);
  }
}
