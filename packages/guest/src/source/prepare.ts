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
import { stripTypes } from '../drivers/strip-types.ts';
import { type Edited, edited } from './edits.ts';
import { escape } from './escape.ts';
import { mayMeanTypes, type Parsed, parse } from './parse.ts';
import type { Position } from './position.ts';

export type Place = Position;

export interface Prepared {
  /** An expression: an async function without parameters, whose answer is the value of the program. */
  readonly code: string;
  /** Where in the model's source a position of `code` is; both count from 1, columns as in a stack. */
  where(line: number, column: number): Place;
}

export function prepare(source: string): Prepared {
  return wrap(read(source));
}

/** Plain JavaScript first: it is what most programs are, and read in a tenth of the time. */
function read(source: string): Parsed {
  let parsed: Parsed;
  try {
    parsed = parse(source, 'program');
  } catch (error) {
    const stripped = stripTypes(source, 'program');
    // Without types in it, what was said about the JavaScript holds.
    if (stripped === source) throw error;
    return parse(stripped, 'program');
  }
  return mayMeanTypes(parsed) ? parse(stripTypes(source, 'program'), 'program') : parsed;
}

function wrap(parsed: Parsed): Edited {
  const { edits, hoisted } = escape(parsed);
  const names = hoisted.map(([name]) => name).join(',');
  const values = hoisted.map(([, expression]) => expression).join(',');
  // An `async function`, for its own `arguments` and a `this` that is nothing. The line end closes a comment.
  return edited(parsed.source, edits, `((${names})=>async function(){`, `\n})(${values})`);
}
