/**
 * Arguments that a model sent, checked once where they come in.
 *
 * Promise: a value fits its schema, or the model is told which argument does not, and how. Nothing is converted.
 */
import { CapError } from '@hob/vat';

/** The schema of one argument: the part of JSON Schema that is checked here. */
export interface Schema {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  /** The schema of each item of an array. */
  readonly items?: Schema;
}

const types: Readonly<Record<NonNullable<Schema['type']>, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  integer: (value) => Number.isSafeInteger(value),
  number: (value) => Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
  array: Array.isArray,
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

const invalid = (message: string): CapError => new CapError('invalid', message);

/** Text of a model as JSON, cut and in ASCII, so that it comes back marked as one word. */
export const quoted = (text: string): string =>
  JSON.stringify(text.slice(0, 80)).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** Reads arguments, as a record or as JSON. Errors: `invalid`. */
export function argumentsFrom(given: unknown): Readonly<Record<string, unknown>> {
  let value = given;
  if (typeof given === 'string')
    try {
      value = JSON.parse(given === '' ? '{}' : given);
    } catch {
      throw invalid('the arguments are not JSON');
    }
  if (!types.object(value)) throw invalid('the arguments are a record');
  return value as Readonly<Record<string, unknown>>;
}

/** Returns the arguments that fit their schemas. Errors: `invalid`. */
export function checked(
  args: Readonly<Record<string, unknown>>,
  parameters: Readonly<Record<string, Schema>>,
  optional: readonly string[],
): Readonly<Record<string, unknown>> {
  const lacking = Object.keys(parameters).filter((name) => !Object.hasOwn(args, name) && !optional.includes(name));
  if (lacking.length > 0) throw invalid(`an argument is missing: ${lacking.sort().join(', ')}`);
  const fitting: [string, unknown][] = [];
  for (const [name, value] of Object.entries(args)) {
    const schema = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
    if (schema === undefined)
      throw invalid(
        `there is no argument ${quoted(name)}: there are ${['cap', ...Object.keys(parameters)].join(', ')}`,
      );
    // Models send null for an argument that they leave out.
    if ((value === null || value === undefined) && optional.includes(name)) continue;
    check(name, value, schema);
    fitting.push([name, value]);
  }
  return Object.fromEntries(fitting);
}

function check(name: string, value: unknown, { type, enum: among, minimum, items }: Schema): void {
  if (type !== undefined && !types[type](value)) throw invalid(`"${name}" is not of the type ${type}`);
  if (among !== undefined && !among.includes(value)) throw invalid(`"${name}" is one of ${among.join(', ')}`);
  if (minimum !== undefined && (value as number) < minimum) throw invalid(`"${name}" is ${minimum} or more`);
  if (type === 'array' && items !== undefined) for (const item of value as readonly unknown[]) check(name, item, items);
}
