/**
 * Makes what a model wrote into what a compartment evaluates.
 *
 * Promise: a program may `await` and `return` at its top level, carry TypeScript types, and hold any text in its strings,
 * templates, regular expressions and comments; its values are what it says. What no guest can do (load a module, above all)
 * is refused before it runs, with the line and the remedy. Every place of `code` leads back to the model's line.
 *
 * Call it in the process that runs the program: a source that is nested deep enough spoils Node's stripping of
 * types for the rest of its process.
 */
import { CapError } from '@hob/vat';
import { stripTypes } from '../drivers/strip-types.ts';
import { type Edited, edited } from './edits.ts';
import { escaped } from './escape.ts';
import { mayMeanTypes, type Parsed, parse, refuse } from './parse.ts';
import type { Position } from './position.ts';

export type Place = Position;

export interface Prepared {
  /** An expression: an async function without parameters, whose answer is the value of the program. */
  readonly code: string;
  /** Where in the model's source a position of `code` is; both count from 1, columns as in a stack. */
  where(line: number, column: number): Place;
}

export function prepare(source: string): Prepared {
  const parsed = read(source);
  refuse(parsed, 'program');
  return wrap(parsed);
}

/** Plain JavaScript first: it is what most programs are, and read in a tenth of the time. */
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
  // An `async function`, for its own `arguments` and a `this` that is nothing. The line end closes a comment.
  return edited(parsed.source, edits, `((${names})=>async function(){`, `\n})(${values})`);
}
