/**
 * A bound on one argument: its type, and the check of its shape.
 *
 * `hob check` loads this file. It must not import anything that loads a vat or a host.
 */
import { CapError } from '@hob/vat/errors';
import { checkTemplate, largestTemplates } from './like.ts';

/** The values that an argument may have. */
export type Bound =
  /** Exactly this data. */
  | { readonly is: unknown }
  | { readonly oneOf: readonly unknown[] }
  /** A number in a range. */
  | { readonly min?: number; readonly max?: number }
  /** An absolute path whose first names are these, compared name by name. It has no `.`, `..` or empty name. */
  | { readonly beneath: readonly string[] }
  /** A text like this template, such as `Dinner at {restaurant}`: see `like.ts`. */
  | { readonly like: string }
  /** Such a value, or none. */
  | { readonly optional: Bound }
  /** A record. A field that is named here has to have such a value; a field that is not may not be there. */
  | { readonly fields: Readonly<Record<string, Bound>> }
  /** Any value, or none. */
  | { readonly any: true };

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

/** Whether a value is a plain record, as data has them: no list, no reference, nothing with behaviour. */
export const isRecord = (x: unknown): x is Readonly<Record<string, unknown>> =>
  typeof x === 'object' && x !== null && Object.getPrototypeOf(x) === Object.prototype;

/** A name in a path: what no system takes for another directory. */
export const isName = (name: unknown): name is string =>
  typeof name === 'string' && name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name);

const DEEPEST = 8;

/**
 * Throws `invalid` for what is no bound. Its templates are taken from `room.left`, in the units of `sizeOf` in `like.ts`,
 * so that one room bounds all templates of a grant together.
 */
export function checkBound(bound: unknown, room: { left: number } = { left: largestTemplates }, depth = 0): void {
  const shape =
    'a bound is {is: …}, {oneOf: […]}, {min: …, max: …}, {beneath: [name, …]}, {like: "… {name} …"}, ' +
    '{fields: {name: bound}}, {optional: bound} or {any: true}';
  if (depth > DEEPEST) return refuse(`bounds lie more than ${DEEPEST} deep in each other: write them flatter`);
  if (!isRecord(bound)) return refuse(shape);
  switch (Object.keys(bound).sort().join()) {
    case 'is':
      return;
    case 'oneOf':
      if (!Array.isArray(bound['oneOf']) || bound['oneOf'].length === 0)
        refuse('oneOf is a list of at least one choice');
      return;
    case 'any':
      if (bound['any'] !== true) refuse('any is true, or left out');
      return;
    case 'beneath':
      if (!Array.isArray(bound['beneath']) || !bound['beneath'].every(isName))
        refuse('beneath is a list of the names of a path, without /, . and ..');
      return;
    case 'like':
      return checkTemplate(bound['like'], room);
    case 'optional':
      return checkBound(bound['optional'], room, depth + 1);
    case 'fields':
      if (!isRecord(bound['fields'])) return refuse('fields is a record of bounds');
      for (const field of Object.values(bound['fields'])) checkBound(field, room, depth + 1);
      return;
    case 'min':
    case 'max':
    case 'max,min': {
      const { min, max } = bound;
      for (const end of [min, max])
        if (end !== undefined && !(typeof end === 'number' && Number.isFinite(end)))
          refuse('min and max are finite numbers');
      if (min === undefined && max === undefined) refuse(shape);
      if ((min as number) > (max as number)) refuse('min is at most max');
      return;
    }
    default:
      refuse(shape);
  }
}
