/**
 * Turns a module of actors into code for a compartment.
 *
 * Promise: it understands `export const Counter = define(…)` and `import { define } from '@hob/vat'`. A
 * module uses only the names that it may use, and sets no global. The first other name is refused before the
 * module runs, with the line and the remedy.
 */
import type { ExportNamedDeclaration, ImportDeclaration } from 'acorn';
import { type Edit, type Edited, edited } from './edits.ts';
import { escaped, fresh } from './escape.ts';
import { freeNames, namesIn } from './names.ts';
import { OTHER_MODULE, type Parsed } from './parse.ts';
import { type Position, refusal } from './position.ts';
import type { Tree } from './walk.ts';

export interface Exported {
  readonly name: string;
  readonly place: Position;
}

export interface Module extends Edited {
  /**
   * The powers that its manifest names: `export const manifest = { powers: ['clock'] }`. Undefined without a
   * manifest.
   */
  readonly needs: readonly string[] | undefined;
  /** `code` is a function of the vocabulary that returns the values of these exports, in this order. */
  readonly exports: readonly Exported[];
}

/** `vocabulary` holds the names that may be imported from `@hob/vat`. */
export function asModule(parsed: Parsed, vocabulary: ReadonlySet<string>): Module {
  const { source, lines, tree } = parsed;
  const { edits: escapes, hoisted } = escaped(parsed);
  const edits: Edit[] = [...escapes];
  const exports: Exported[] = [];
  const locals: string[] = [];
  const prefix = fresh(source);
  const words = `${prefix}vat`;
  let needs: readonly string[] | undefined;

  const add = (name: string, local: string, offset: number): void => {
    if (name === 'then') throw refusal(lines.at(offset), 'an export called `then`: give it another name');
    exports.push({ name, place: lines.at(offset) });
    locals.push(local);
  };
  /** Replaces a declaration and drops the escapes inside it, because edits must not overlap. */
  const replace = (from: number, to: number, text: string): void => {
    for (let index = edits.length - 1; index >= 0; index -= 1) {
      const inside = edits[index] as Edit;
      if (inside.from >= from && inside.to <= to) edits.splice(index, 1);
    }
    edits.push({ from, to, text });
  };

  for (const node of tree.body) {
    if (node.type === 'ImportDeclaration') replace(node.start, node.end, imported(parsed, node, words, vocabulary));
    else if (node.type === 'ExportNamedDeclaration' && node.declaration) {
      replace(node.start, node.declaration.start, '');
      const found = manifest(parsed, node);
      needs ??= found;
      for (const name of declared(node)) if (name !== 'manifest') add(name, name, node.start);
    } else if (node.type === 'ExportNamedDeclaration') {
      replace(node.start, node.end, ';');
      for (const { exported, local } of node.specifiers) {
        const name = exported.type === 'Identifier' ? exported.name : String(exported.value);
        add(name, (local as { readonly name: string }).name, exported.start);
      }
    } else if (node.type === 'ExportDefaultDeclaration') {
      replace(node.start, node.declaration.start, `const ${prefix}default=`);
      add('default', `${prefix}default`, node.start);
    }
  }

  const names = [words, ...hoisted.map(([name]) => name)].join(',');
  const values = hoisted.map(([, expression]) => expression).join(',');
  // Not an arrow function: its `this` would be the globals. The `this` of this function is undefined.
  const before = `(${words}=>(function(${names}){`;
  const after = `\n;return[${locals.join(',')}]})(${[words, values].filter(Boolean).join(',')}))`;
  return { ...edited(source, edits, before, after), needs, exports };
}

/** Refuses the first free name that is not in `allowed`, and any free name that the module sets. */
export function checkNames({ tree, lines }: Parsed, allowed: ReadonlySet<string>): void {
  for (const { name, offset, use } of freeNames(tree)) {
    if (use === 'set')
      throw refusal(
        lines.at(offset),
        `sets \`${name}\`, which it has not declared: an actor's state is in its arguments, and changes by \`bcom\``,
      );
    if (!allowed.has(name))
      throw refusal(
        lines.at(offset),
        `\`${name}\` is not there: a module of actors has JavaScript, the words of @hob/vat, and the powers that it was loaded with. ` +
          `If it is to have this one, name it in the manifest and give it: loadActors(source, { powers: { ${name} } })`,
      );
  }
}

/** The same words come under both names, so that a module also loads as an ordinary file. */
const VAT: ReadonlySet<string> = new Set(['@hob/vat', '@hob/vat/actors']);

function imported({ lines }: Parsed, node: ImportDeclaration, words: string, vocabulary: ReadonlySet<string>): string {
  const from = String(node.source.value);
  if (!VAT.has(from) || node.specifiers.length === 0)
    throw refusal(
      lines.at(node.start),
      `an import of "${from}": ${OTHER_MODULE}; a module of actors may import @hob/vat and @hob/vat/actors`,
    );
  const taken = node.specifiers.map((specifier) => {
    const name =
      specifier.type === 'ImportSpecifier' && specifier.imported.type === 'Identifier' ? specifier.imported.name : '*';
    if (!vocabulary.has(name))
      throw refusal(
        lines.at(specifier.start),
        `"${name}" of @hob/vat is not for modules of actors; there are ${[...vocabulary].join(', ')}. A type is imported as \`import { type Name }\``,
      );
    return `${name}:${specifier.local.name}`;
  });
  return `const{${taken.join(',')}}=${words};`;
}

function declared({ declaration }: ExportNamedDeclaration): string[] {
  if (declaration?.type === 'VariableDeclaration') return declaration.declarations.flatMap(({ id }) => namesIn(id));
  return declaration?.id ? [declaration.id.name] : [];
}

/** Reads the manifest from the syntax tree, so that the needs of a module are known before any of it runs. */
function manifest({ lines }: Parsed, { declaration }: ExportNamedDeclaration): readonly string[] | undefined {
  if (declaration?.type !== 'VariableDeclaration') return undefined;
  const declarator = declaration.declarations.find(({ id }) => id.type === 'Identifier' && id.name === 'manifest');
  if (declarator === undefined) return undefined;
  const [property, more] = declarator.init?.type === 'ObjectExpression' ? declarator.init.properties : [];
  const list: Tree | undefined =
    property?.type === 'Property' && property.key.type === 'Identifier' && property.key.name === 'powers'
      ? (property.value as Tree)
      : undefined;
  const names =
    list?.type === 'ArrayExpression'
      ? list.elements.map((item) =>
          item?.type === 'Literal' && typeof item.value === 'string' ? item.value : undefined,
        )
      : [undefined];
  if (more !== undefined || declaration.kind !== 'const' || names.includes(undefined))
    throw refusal(
      lines.at(declarator.start),
      "the manifest is read before anything runs: write `export const manifest = { powers: ['name', …] }`, with nothing else in it",
    );
  return names as string[];
}
