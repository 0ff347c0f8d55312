/**
 * Takes TypeScript's types out of a source, by Node's own stripping: every type becomes blanks, so every place stays.
 *
 * Promise: what comes back has the length of the source, or an error says where what could not be stripped is.
 * Node's stripping is a program of its own that cannot be started twice in a process. A source that is nested deep enough
 * breaks it for good (measured on Node 24: 3,000 brackets), so it runs where the program itself will run.
 */
import { stripTypeScriptTypes } from 'node:module';
import { CapError } from '@hob/vat';
import { OTHER_MODULE } from '../source/parse.ts';
import { Lines, refusal } from '../source/position.ts';

/** A program may `return` and `await`, which a module may not: it is read as the body of a function. */
const AROUND = { program: ['async function program(){', '\n}'], module: ['', ''] } as const;

export type Kind = keyof typeof AROUND;

export function stripTypes(source: string, kind: Kind): string {
  try {
    return unwrapped(stripTypeScriptTypes(wrapped(source, kind), { mode: 'strip' }), kind);
  } catch (error) {
    throw refusalOf(error as Said, source, lengthBefore(kind));
  }
}

/** How much stands before the source in what is stripped. */
export const lengthBefore = (kind: Kind): number => AROUND[kind][0].length;

/** What is stripped, for a source. */
export const wrapped = (source: string, kind: Kind): string => AROUND[kind].join(source);

/** The source again, of what was stripped. */
export function unwrapped(stripped: string, kind: Kind): string {
  const [before, after] = AROUND[kind];
  return stripped.slice(before.length, stripped.length - after.length);
}

/** What is told of an error. */
export interface Said {
  readonly code?: string;
  readonly message?: string;
  readonly stack?: string;
}

/** Node says it as the head of the stack: `:LINE`, that line, and a line of carets below what it means. */
export function refusalOf(error: Said, source: string, before: number): unknown {
  const { code, message, stack } = error;
  if (code === 'ERR_INTERNAL_ASSERTION' || error instanceof RangeError)
    return new CapError('invalid', 'line 1, column 1: nested too deeply to take the types out. Write it flatter');
  if (code !== 'ERR_INVALID_TYPESCRIPT_SYNTAX' && code !== 'ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX') return error;
  const line = Number(/^[^\n]*:(\d+)\n/.exec(stack ?? '')?.[1] ?? 1);
  const caret = /^( *)\^/m.exec(stack ?? '')?.[1]?.length ?? 0;
  // What is around the source stands on its first line only.
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
