/**
 * Strips TypeScript's types from a source with Node's own function. It replaces types with blanks, so
 * positions do not change.
 *
 * Promise: the result has the length of the source, or an error names the position that could not be
 * stripped. Node's stripper runs once per thread and cannot be restarted. Deep nesting breaks it for good
 * (3,000 brackets on Node 24), so it runs in the process that will run the program.
 */
import { stripTypeScriptTypes } from 'node:module';
import { CapError } from '@hob/vat';
import { OTHER_MODULE, type SourceKind } from '../source/parse.ts';
import { Lines, refusal } from '../source/position.ts';

/** A program may `return` and `await`, so it is stripped as the body of an async function. */
const AROUND = { program: ['async function program(){', '\n}'], module: ['', ''] } as const;

export function stripTypes(source: string, kind: SourceKind): string {
  try {
    return unwrapped(stripTypeScriptTypes(wrapped(source, kind), { mode: 'strip' }), kind);
  } catch (error) {
    throw refusalOf(error as StripperError, source, lengthBefore(kind));
  }
}

/** The length of the text before the source. */
export const lengthBefore = (kind: SourceKind): number => AROUND[kind][0].length;

/** The source with the text around it that the stripper needs. */
export const wrapped = (source: string, kind: SourceKind): string => AROUND[kind].join(source);

/** Removes the text around the source again. */
export function unwrapped(stripped: string, kind: SourceKind): string {
  const [before, after] = AROUND[kind];
  return stripped.slice(before.length, stripped.length - after.length);
}

/** The parts of an error of the stripper. */
export interface StripperError {
  readonly code?: string;
  readonly message?: string;
  readonly stack?: string;
}

/** Node puts the position at the head of the stack: `:LINE`, that line, and carets below the column. */
export function refusalOf(error: StripperError, source: string, before: number): unknown {
  const { code, message, stack } = error;
  if (code === 'ERR_INTERNAL_ASSERTION' || error instanceof RangeError)
    return new CapError('invalid', 'line 1, column 1: nested too deeply to remove the types. Write it flatter');
  if (code !== 'ERR_INVALID_TYPESCRIPT_SYNTAX' && code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return error;
  const line = Number(/^[^\n]*:(\d+)\n/.exec(stack ?? '')?.[1] ?? 1);
  const caret = /^( *)\^/m.exec(stack ?? '')?.[1]?.length ?? 0;
  // The text around the source shifts only its first line.
  const column = line === 1 ? caret - before : caret;
  const lines = new Lines(source);
  const place = lines.at(lines.offset({ line, column: Math.max(column, 0) + 1 }));
  if (/'import', and 'export' cannot be used/.test(message ?? ''))
    return refusal(place, `an import or export: ${OTHER_MODULE}`);
  const what =
    code === 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX'
      ? `${message}. Only types are taken out: write it as JavaScript`
      : `${message}. Mend it there`;
  return refusal(place, what);
}
