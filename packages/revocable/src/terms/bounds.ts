/**
 * Bounds on arguments: exactly this data, one of a list, a number in a range, a path beneath a directory, a text like a
 * template, or a record whose fields have bounds.
 *
 * A bound compares data with data, by type and value. A value that can change
 * (a promise, an object with behaviour) is not data and is refused. A bounded method takes no arguments after
 * the last one that has a bound: one more could change the meaning of the others. A refusal names the
 * argument and says what is allowed.
 */
import { CapError, isReference } from '@hob/vat';
import { frozenData } from '@hob/vat/forwarder';
import { type Bound, checkBound, isName, isRecord } from './bound.ts';
import { isLike, largestTemplates } from './like.ts';

/** Method, then position of the argument, from 0. */
export type Bounds = Readonly<Record<string, Readonly<Record<number, Bound>>>>;

/**
 * Bounds as a person gives them. In place of positions a method may have the names of its arguments: the method then
 * takes one record, `{pay: {to: {is: 'alice'}}}` means `{pay: {0: {fields: {to: {is: 'alice'}}}}}`.
 */
export type GivenBounds = Readonly<Record<string, Readonly<Record<number, Bound>> | Readonly<Record<string, Bound>>>>;

const refuse = (what: string): never => {
  throw new CapError('invalid', what);
};

/** As programs write the names of parameters. A number that is no position stands for a mistake. */
const isArgumentName = (key: string): boolean => /^[A-Za-z_$][\w$-]*$/.test(key) && key.length <= 128;
const isPosition = (key: string): boolean => /^(?:0|[1-9]\d?)$/.test(key);

/** Returns a frozen copy: nobody can change the bounds after the check. Errors: `invalid`. */
export function readBounds(given: GivenBounds): Bounds {
  const where: unknown = frozenData(given);
  const shape = 'where is a record such as {pay: {0: {is: "alice"}, 1: {max: 50}}} or {pay: {to: {is: "alice"}}}';
  if (!isRecord(where) || Object.keys(where).length === 0) return refuse(shape);
  const read: Record<string, Readonly<Record<number, Bound>>> = {};
  const room = { left: largestTemplates };
  for (const [method, args] of Object.entries(where)) {
    if (method === '' || !isRecord(args) || Object.keys(args).length === 0) return refuse(shape);
    for (const bound of Object.values(args)) checkBound(bound, room);
    const positions = Object.keys(args).filter(isPosition).length;
    if (positions !== 0 && positions !== Object.keys(args).length)
      refuse(`"${method.slice(0, 64)}" has positions and names: give each argument by its position, or all by name`);
    for (const key of Object.keys(args))
      if (!isPosition(key) && !isArgumentName(key))
        refuse(
          `"${key.slice(0, 64)}" is no argument: positions go from 0 to 99, and names are letters, digits, _, $ and -`,
        );
    const byPosition = args as Readonly<Record<number, Bound>>;
    read[method] = positions > 0 ? byPosition : { 0: { fields: args as Readonly<Record<string, Bound>> } };
  }
  return frozenData(read) as Bounds;
}

/**
 * Throws `denied` if `args` are outside the bounds of `method`. `args` are frozen copies, as a message
 * carries them.
 */
export function checkBounds(bounds: Bounds, method: string, args: readonly unknown[]): void {
  if (!Object.hasOwn(bounds, method)) return;
  const positions = Object.entries(bounds[method] as Readonly<Record<string, Bound>>);
  for (const [position, bound] of positions) {
    const at = Number(position);
    if (!within(bound, args[at]))
      throw new CapError(
        'denied',
        `argument ${at} of "${method.slice(0, 64)}" must be ${boundText(bound)} here: change the argument, or ask for a grant that allows this`,
      );
  }
  const most = 1 + Math.max(...positions.map(([position]) => Number(position)));
  if (args.length > most)
    throw new CapError(
      'denied',
      `"${method.slice(0, 64)}" takes at most ${most} argument${most === 1 ? '' : 's'} here: leave out the others, or ask for a grant that allows them`,
    );
}

function isBeneath(names: readonly string[], value: unknown): boolean {
  if (typeof value !== 'string' || !value.startsWith('/')) return false;
  const own = value === '/' ? [] : value.slice(1).split('/');
  return own.every(isName) && names.every((name, at) => own[at] === name);
}

function hasFields(fields: Readonly<Record<string, Bound>>, value: unknown): boolean {
  if (!isRecord(value)) return false;
  return (
    Object.keys(value).every((key) => Object.hasOwn(fields, key)) &&
    Object.entries(fields).every(([key, bound]) => within(bound, Object.hasOwn(value, key) ? value[key] : undefined))
  );
}

function within(bound: Bound, value: unknown): boolean {
  if ('any' in bound) return true;
  if ('beneath' in bound) return isBeneath(bound.beneath, value);
  if ('like' in bound) return isLike(bound, value);
  if ('optional' in bound) return value === undefined || within(bound.optional, value);
  if ('fields' in bound) return hasFields(bound.fields, value);
  if ('is' in bound) return same(bound.is, value);
  if ('oneOf' in bound) return bound.oneOf.some((choice) => same(choice, value));
  // A person who writes a range means neither NaN, nor -0, nor an infinite amount.
  if (typeof value !== 'number' || !Number.isFinite(value) || Object.is(value, -0)) return false;
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = bound;
  return value >= min && value <= max;
}

/**
 * Returns `bound` if it allows nothing that `outer` does not, else undefined. A range without `min` or `max`
 * takes it from `outer`.
 */
export function narrowerBound(outer: Bound, bound: Bound): Bound | undefined {
  if ('is' in bound) return within(outer, bound.is) ? bound : undefined;
  if ('oneOf' in bound) return bound.oneOf.every((choice) => within(outer, choice)) ? bound : undefined;
  if ('any' in outer) return bound;
  if ('optional' in outer) return narrowerOptional(outer.optional, bound);
  if ('optional' in bound) return undefined;
  if ('like' in outer || 'like' in bound)
    return 'like' in outer && 'like' in bound && outer.like === bound.like ? bound : undefined;
  if ('any' in bound || 'is' in outer || 'oneOf' in outer) return undefined;
  if ('beneath' in outer || 'beneath' in bound)
    return 'beneath' in outer && 'beneath' in bound && outer.beneath.every((name, at) => bound.beneath[at] === name)
      ? bound
      : undefined;
  if ('fields' in outer || 'fields' in bound)
    return 'fields' in outer && 'fields' in bound ? narrowerFields(outer.fields, bound) : undefined;
  const narrower = { ...outer, ...bound };
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = narrower;
  const inside = min >= (outer.min ?? Number.NEGATIVE_INFINITY) && max <= (outer.max ?? Number.POSITIVE_INFINITY);
  return inside && min <= max ? narrower : undefined;
}

/** A narrower bound need not allow that the argument is left out. */
function narrowerOptional(outer: Bound, bound: Bound): Bound | undefined {
  const inner = narrowerBound(outer, 'optional' in bound ? bound.optional : bound);
  return inner !== undefined && 'optional' in bound ? { optional: inner } : inner;
}

/** Each field is narrower. A field that the narrower bound does not name has to be one that may be left out. */
function narrowerFields(
  outer: Readonly<Record<string, Bound>>,
  bound: Extract<Bound, { readonly fields: unknown }>,
): Bound | undefined {
  const fields: Record<string, Bound> = {};
  for (const [key, inner] of Object.entries(bound.fields)) {
    const found = Object.hasOwn(outer, key) ? narrowerBound(outer[key] as Bound, inner) : undefined;
    if (found === undefined) return undefined;
    fields[key] = found;
  }
  const missing = Object.entries(outer).filter(([key]) => !Object.hasOwn(fields, key));
  return missing.every(([, inner]) => within(inner, undefined)) ? { fields } : undefined;
}

/** Deep equality by type and value; references by identity. A value that can change equals nothing. */
function same(a: unknown, b: unknown): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return Object.is(a, b);
  if (isReference(a) || isReference(b)) return a === b;
  if (a instanceof Uint8Array && b instanceof Uint8Array)
    return a.length === b.length && a.every((byte, at) => byte === b[at]);
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item, at) => same(item, (b as readonly unknown[])[at]));
  if (!isRecord(a) || !isRecord(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

/** Describes a bound to people: short, and only from the terms. */
export function boundText(bound: Bound): string {
  if ('is' in bound) return text(bound.is);
  if ('oneOf' in bound) {
    const some = bound.oneOf.slice(0, 5).map(text).join(', ');
    return bound.oneOf.length > 5 ? `one of ${some} and ${bound.oneOf.length - 5} more` : `one of ${some}`;
  }
  if ('any' in bound) return 'anything';
  if ('beneath' in bound) return `a path beneath ${text(`/${bound.beneath.join('/')}`)}`;
  if ('like' in bound) return `a text like ${text(bound.like)}`;
  if ('optional' in bound) return `${boundText(bound.optional)}, or left out`;
  if ('fields' in bound) {
    const fields = Object.entries(bound.fields);
    const some = fields
      .slice(0, 5)
      .map(([key, inner]) => `${text(key)} ${boundText(inner)}`)
      .join(', ');
    return `a record of ${some === '' ? 'no fields' : some}${fields.length > 5 ? ` and ${fields.length - 5} more` : ''}`;
  }
  const { min, max } = bound;
  if (min === undefined) return `a number of at most ${max}`;
  return max === undefined ? `a number of at least ${min}` : `a number from ${min} to ${max}`;
}

function text(data: unknown): string {
  if (typeof data === 'bigint') return `${data}n`.slice(0, 64);
  if (typeof data === 'number' || data === undefined) return Object.is(data, -0) ? '-0' : String(data);
  if (isReference(data)) return 'a certain object';
  const json = JSON.stringify(data, (_key, item: unknown) =>
    typeof item === 'bigint' ? `${item}n` : isReference(item) ? 'a certain object' : item,
  );
  return json === undefined ? 'certain data' : json.length > 64 ? `${json.slice(0, 63)}…` : json;
}
