/**
 * What goes through a forwarder, one way or the other: every reference and every promise in it gets a face of the forwarder.
 *
 * Promise: one face an object and direction, for as long as anybody holds it, and in a store for as long as the membrane lives; a face
 * that comes home is what it stands for again; a promise is wrapped before anybody can pipeline to it. Data stays as it is.
 *
 * Which object has which face is known by identity: weakly in this process, and for a membrane in a durable vat by a row of its table, under
 * the object's name in the store. Holders can ask for neither.
 */
import { argumentsOf, became, breakAnswer, byMessage, ephemeral, isReference, lastingName, mutant, passOn, spawn, type Table } from '@hob/vat'; // biome-ignore format: one line
import { Face, type Rules } from './face.ts';

export interface Crossing {
  readonly rules: Rules;
  /** From who holds the forwarder to what is behind it. */
  readonly inward: boolean;
  /** Of a membrane, which wraps what goes in as well. */
  readonly members: Table<object> | undefined;
  /** Calls on a promise go ahead of it; otherwise they wait until it is known what it is. */
  readonly pipelined: boolean;
}

/** What stands behind a face, and for whom. */
interface Stands {
  readonly rules: Rules;
  readonly inner: object;
  readonly back: boolean;
}

// Faces of what ends with the process: no portrait says what they stand for.
const fleeting = new WeakMap<object, Stands>();
/** The faces that were made under some rules, in each direction. */
const made = new WeakMap<object, readonly [out: WeakMap<object, WeakRef<object>>, back: WeakMap<object, WeakRef<object>>]>(); // biome-ignore format: one line

const staysWrapped = mutant('membrane-home');
const manyFaces = mutant('membrane-identity');
const barePromises = mutant('membrane-promise');
const bareCallbacks = mutant('membrane-back');

/** What a face stands for; undefined for everything else. */
export function standsFor(reference: unknown): Stands | undefined {
  const said = argumentsOf(reference, Face);
  if (said !== undefined) return { rules: said[0] as Rules, inner: said[1] as object, back: said[2] as boolean };
  const at = became(reference);
  return typeof at === 'object' && at !== null ? fleeting.get(at) : undefined;
}

/** `value` as the other side gets it. It is frozen data, as a message carries it. */
export function cross(value: unknown, by: Crossing): unknown {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return value;
  if (isReference(value)) return faceFor(value, by);
  if (value instanceof Promise) return promiseFor(value, by);
  if (Array.isArray(value)) {
    const items = value.map((item) => cross(item, by));
    return items.every((item, at) => item === value[at]) ? value : items;
  }
  if (Object.getPrototypeOf(value) !== Object.prototype) return value;
  let changed = false;
  const entries = Object.entries(value).map(([key, item]) => {
    const crossed = cross(item, by);
    if (crossed !== item) changed = true;
    return [key, crossed] as const;
  });
  return changed ? Object.fromEntries(entries) : value;
}

function faceFor(given: object, by: Crossing): object {
  const { rules, inward, members } = by;
  // Not by the name of a promise, where it is known what that has become: there would be two faces of one object.
  const reference = became(given);
  const known = standsFor(reference);
  if (known !== undefined && known.rules === rules && !staysWrapped)
    return known.back === inward ? reference : known.inner;
  if (inward && (members === undefined || bareCallbacks)) return reference;

  let faces = made.get(rules);
  if (faces === undefined) made.set(rules, (faces = [new WeakMap(), new WeakMap()]));
  const some = faces[inward ? 1 : 0];
  const held = manyFaces ? undefined : some.get(reference)?.deref();
  // One that was made in a turn that was undone stands for nothing.
  if (held !== undefined && standsFor(held) !== undefined) return held;
  const name = lastingName(reference);
  const row = `${inward ? 'in' : 'out'} ${name}`;
  const kept = name === undefined || manyFaces ? undefined : members?.get(row);
  const face = kept ?? (name === undefined ? fleetingFace(reference, by) : spawn(Face(rules, reference, inward)));
  if (name !== undefined && kept === undefined) members?.set(row, face);
  some.set(reference, new WeakRef(face));
  return face;
}

function fleetingFace(inner: object, { rules, inward: back }: Crossing): object {
  const face = ephemeral('forwarder', (method, args) => rules.call(inner, back, method, args, byMessage()));
  fleeting.set(face, { rules, inner, back });
  return face;
}

function promiseFor(promise: Promise<unknown>, { rules, inward, members, pipelined }: Crossing): Promise<unknown> {
  if (barePromises || (inward && members === undefined)) return promise;
  return passOn(promise, {
    ok: (value) => rules.pass(inward, value),
    broken: (error) => breakAnswer(error),
    next: pipelined ? (method, args) => rules.call(promise, inward, method, args, true) : undefined,
  });
}
