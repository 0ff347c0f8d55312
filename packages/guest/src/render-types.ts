/**
 * Renders the caps of a session as TypeScript, for the context of a model.
 *
 * Promise: the text compiles and names every cap. If the shape of a cap is not known, a comment says so. A
 * cap and its maker contribute only names of methods that are identifiers, and no text that a model could
 * take for an instruction.
 */
import { shapeOf } from '@hob/revocable';
import { CapError, type Far, isReference } from '@hob/vat';
import { KNOWN, type KnownShape } from './known-shapes.ts';

const HEAD = `// The caps of this session. Every call goes through E and returns a promise: \`await E(cap).method(…)\`.
// A call that was refused throws an error with a \`code\`. An answer that is itself a cap is called through E
// as well, also before it is there: \`await E(E(cap).subdir('src')).list()\`.
declare function E<T extends object>(cap: T | PromiseLike<T>): T;`;

const ANY = `/** Its methods are not known here. Ask the person who granted it what it is for. */
interface UnknownCap {
  readonly [method: string]: (...args: readonly unknown[]) => Promise<unknown>;
}`;

const IDENTIFIER = /^[A-Za-z_$][\w$]{0,63}$/;
const RESERVED: ReadonlySet<string> = new Set(
  `E await break case caps catch class const continue debugger default delete do else enum export extends false finally for function if
  implements import in instanceof interface let new null package private protected public return static super switch this throw true try
  typeof undefined var void while with yield arguments eval globalThis console Infinity NaN`.split(/\s+/),
);

/** Renders `caps`, given by petname. For the program that runs the host; call it outside turns. */
export async function renderTypes(caps: Readonly<Record<string, Far<object> | Promise<Far<object>>>>): Promise<string> {
  const names = Object.keys(caps).sort();
  const used = new Set<string>();
  const declared: string[] = [];
  const constants: string[] = [];
  const members: string[] = [];
  let number = 0;
  for (const name of names) {
    const cap: unknown = await caps[name];
    if (!isReference(cap))
      throw new CapError(
        'invalid',
        `"${name.slice(0, 64)}" is not a reference: take it from a session, or spawn an actor`,
      );
    const { methods, forwarded } = await shapeOf(cap as Far<object>);
    const known = KNOWN.find((one) => one.methods.every((method) => methods?.includes(method)));
    let type = known?.name ?? 'UnknownCap';
    if (known === undefined && methods !== undefined) {
      number += 1;
      type = `Cap${number}`;
      declared.push(interfaceOf(type, methods));
    } else for (const text of known === undefined ? [ANY] : textOf(known)) if (!used.has(text)) used.add(text);
    const lines = forwarded
      ? ['/** It was granted: some methods may be refused, and it ends when the grant does. */']
      : [];
    if (IDENTIFIER.test(name) && !RESERVED.has(name))
      constants.push([...lines, `declare const ${name}: ${type};`].join('\n'));
    members.push(`  readonly ${JSON.stringify(name)}: ${type};`);
  }
  const all = `/** All of them; also those whose names cannot stand in a program as they are. */\ndeclare const caps: {\n${members.join('\n')}\n};`;
  return `${[HEAD, ...constants, all, ...used, ...declared].join('\n\n')}\n`;
}

const textOf = ({ text }: KnownShape): readonly string[] => text;

/** An interface with the known names of methods. Their arguments are not known. */
function interfaceOf(type: string, methods: readonly string[]): string {
  const shown = methods.filter((method) => IDENTIFIER.test(method)).slice(0, 100);
  const more = methods.length - shown.length;
  return [
    '/** The arguments and results of its methods are not known here. */',
    `interface ${type} {`,
    ...shown.map((method) => `  ${method}(...args: readonly unknown[]): Promise<unknown>;`),
    ...(more > 0 ? [`  // and ${more} more`] : []),
    '}',
  ].join('\n');
}
