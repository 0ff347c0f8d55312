/**
 * Makes a module of actors into what a compartment evaluates.
 *
 * Promise: `export const Counter = define(…)`, as people write it, and `import { define } from '@hob/vat'`, are understood; the
 * module takes nothing from around it but what it may use, and sets nothing there: the first name that it may not is
 * refused before it runs, with the line and the remedy.
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
  /** What it says it needs: `export const manifest = { powers: ['clock'] }`. Absent where it says nothing. */
  readonly needs: readonly string[] | undefined;
  /** `code` is a function of the vocabulary that answers the values of these, in this order. */
  readonly exports: readonly Exported[];
}

/** `vocabulary`: what may be imported from `@hob/vat`. */
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
  /** What is written instead of a whole declaration may not meet an escape inside it. */
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
  // A function, whose `this` is nothing: an arrow's would be the globals.
  const before = `(${words}=>(function(${names}){`;
  const after = `\n;return[${locals.join(',')}]})(${[words, values].filter(Boolean).join(',')}))`;
  return { ...edited(source, edits, before, after), needs, exports };
}

/** Refuses the first name that the module takes from around it and is not among `allowed`, and any that it sets there. */
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

function imported({ lines }: Parsed, node: ImportDeclaration, words: string, vocabulary: ReadonlySet<string>): string {
  const from = String(node.source.value);
  if (from !== '@hob/vat' || node.specifiers.length === 0)
    throw refusal(lines.at(node.start), `an import of "${from}": ${OTHER_MODULE}; of modules there is only @hob/vat`);
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

/** Read, not run: what a module needs is known before any of it runs. */
function manifest({ lines }: Parsed, { declaration }: ExportNamedDeclaration): readonly string[] | undefined {
  if (declaration?.type !== 'VariableDeclaration') return undefined;
  const said = declaration.declarations.find(({ id }) => id.type === 'Identifier' && id.name === 'manifest');
  if (said === undefined) return undefined;
  const [property, more] = said.init?.type === 'ObjectExpression' ? said.init.properties : [];
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
      lines.at(said.start),
      "the manifest is read before anything runs: write `export const manifest = { powers: ['name', …] }`, with nothing else in it",
    );
  return names as string[];
}
