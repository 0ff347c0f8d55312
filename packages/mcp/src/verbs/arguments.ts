/**
 * The arguments of a verb: their schema, and the check of what a client sent.
 *
 * Promise: nothing is sent to a cap before all arguments fit, so a call that does not fit spends no use. Nothing is
 * converted.
 */
import { CapError } from '@hob/vat/peer';

/** The schema of one argument: the part of JSON Schema that is checked here. */
export interface ArgumentSchema {
  readonly type?: 'string' | 'integer' | 'boolean' | 'array' | 'object';
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minimum?: number;
  /** The schema of each item of an array. Absent: an item is any JSON. */
  readonly items?: ArgumentSchema;
}

/** JSON Schema of a record. */
export interface RecordSchema {
  // The SDK wants an index signature, which only a type alias has by itself.
  readonly [key: string]: unknown;
  readonly type: 'object';
  readonly properties: Readonly<Record<string, object>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
}

/** The arguments of one call, checked. */
export class Arguments {
  readonly #given: ReadonlyMap<string, unknown>;

  constructor(given: ReadonlyMap<string, unknown>) {
    this.#given = given;
  }

  has(name: string): boolean {
    return this.#given.has(name);
  }

  /** An argument of the type string. Errors: `invalid` (it is missing). */
  text(name: string): string {
    const value = this.#given.get(name);
    if (typeof value !== 'string') throw missing(name);
    return value;
  }

  /** An argument of the type string that may be left out. */
  maybe(name: string): string | undefined {
    return this.#given.get(name) as string | undefined;
  }

  count(name: string): number | undefined {
    return this.#given.get(name) as number | undefined;
  }

  flag(name: string): boolean {
    return this.#given.get(name) === true;
  }

  record(name: string): Readonly<Record<string, unknown>> | undefined {
    return this.#given.get(name) as Readonly<Record<string, unknown>> | undefined;
  }

  list(name: string): readonly unknown[] | undefined {
    return this.#given.get(name) as readonly unknown[] | undefined;
  }
}

const FITS: Readonly<Record<NonNullable<ArgumentSchema['type']>, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string' && value.isWellFormed(),
  integer: (value) => Number.isSafeInteger(value),
  boolean: (value) => typeof value === 'boolean',
  array: (value) => Array.isArray(value),
  object: (value) => typeof value === 'object' && value !== null && !Array.isArray(value),
};

const missing = (name: string): CapError => new CapError('invalid', `the argument "${name}" is missing`);

/** Reads what a client sent. Errors: `invalid`, which names the argument and what it should be. */
export function readArguments(given: unknown, { properties, required = [] }: RecordSchema): Arguments {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new CapError('invalid', 'the arguments are a record');
  const record = given as Readonly<Record<string, unknown>>;
  const taken = new Map<string, unknown>();
  for (const [name, value] of Object.entries(record)) {
    if (!Object.hasOwn(properties, name))
      throw new CapError('invalid', `there is no argument ${quoted(name)}: there are ${Object.keys(properties).join(', ')}`); // biome-ignore format: one line
    // Models send null for an argument that they leave out.
    if (value === null && !required.includes(name)) continue;
    check(name, value, properties[name] as ArgumentSchema);
    taken.set(name, value);
  }
  for (const name of required) if (!taken.has(name)) throw missing(name);
  return new Arguments(taken);
}

function check(name: string, value: unknown, { type, enum: among, minimum, items }: ArgumentSchema): void {
  if (type !== undefined && !FITS[type](value)) throw new CapError('invalid', `"${name}" is not of the type ${type}`);
  if (among !== undefined && !among.includes(value as string))
    throw new CapError('invalid', `"${name}" is one of ${among.join(', ')}`);
  if (minimum !== undefined && (value as number) < minimum)
    throw new CapError('invalid', `"${name}" is ${minimum} or more`);
  if (type === 'array' && items !== undefined) for (const item of value as readonly unknown[]) check(name, item, items);
}

/** Text of a client, so that it comes back marked as one word. */
export const quoted = (text: string): string =>
  JSON.stringify(text.slice(0, 80)).replace(
    /[^\x20-\x7e]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
