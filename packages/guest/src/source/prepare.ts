/**
 * Turns the source that a model wrote into code for a compartment.
 *
 * Promise: a program may `await` and `return` at its top level and may have TypeScript types. It may hold any
 * text in its strings, templates, regular expressions and comments, and keeps their values. Syntax that no
 * guest can use, such as an import, is refused before the program runs, with the line and the remedy. Every
 * position in `code` maps back to a line of the model.
 *
 * Call it in the process that runs the program: a deeply nested source breaks Node's stripping of types for
 * the rest of that process.
 */
import { CapError } from '@hob/vat';
import { stripTypes } from '../drivers/strip-types.ts';
import { type Edited, edited } from './edits.ts';
import { escaped } from './escape.ts';
import { mayMeanTypes, type Parsed, parse, refuse } from './parse.ts';
import type { Position } from './position.ts';

export interface Prepared {
  /**
   * An expression for an async function without parameters. The function resolves to the value of the
   * program.
   */
  readonly code: string;
  /**
   * Maps a position in `code` to the model's source. Lines and columns count from 1, columns as in a stack.
   */
  where(line: number, column: number): Position;
}

export function prepare(source: string): Prepared {
  const parsed = read(source);
  refuse(parsed, 'program');
  return wrap(parsed);
}

/** Tries plain JavaScript first: most programs are that, and reading it takes a tenth of the time. */
function read(source: string): Parsed {
  const parsed = parse(source, 'program');
  if (!(parsed instanceof CapError) && !mayMeanTypes(parsed)) return parsed;
  const stripped = stripTypes(source, 'program');
  const again = stripped === source ? parsed : parse(stripped, 'program');
  if (again instanceof CapError) throw again;
  return again;
}

function wrap(parsed: Parsed): Edited {
  const { edits, hoisted } = escaped(parsed);
  const names = hoisted.map(([name]) => name).join(',');
  const values = hoisted.map(([, expression]) => expression).join(',');
  // An `async function` has its own `arguments`, and its `this` is undefined. The line feed ends a last `//`
  // comment.
  return edited(parsed.source, edits, `((${names})=>async function(){`, `\n})(${values})`);
}
