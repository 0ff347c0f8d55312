/**
 * What goes through a forwarder, one way or the other: every reference and every promise in it gets a face of the forwarder.
 *
 * Promise: one face an object and direction, for as long as anybody holds it, and in a store for as long as the membrane lives; a face
 * that comes home is what it stands for again; a promise is wrapped before anybody can pipeline to it. Data stays as it is.
 *
 * Which object has which face is known by identity: weakly in this process, and for a membrane in a durable vat by a row of its table, under
 * the object's name in the store. Holders can ask for neither.
 */
import { argumentsOf, became, breakAnswer, byMessage, ephemeral, forwardsTo, isNear, isReference, lastingName, passOn, spawn, type Table } from '@hob/vat'; // biome-ignore format: one line
import { Forwarder, type ForwarderState, type ForwardTarget } from './forwarder.ts';

export interface Crossing {
  readonly rules: ForwarderState;
  /** From who holds the forwarder to what is behind it. */
  readonly inward: boolean;
  /** Of a membrane, which wraps what goes in as well. */
  readonly members: Table<object> | undefined;
  /** Calls on a promise go ahead of it; otherwise they wait until it is known what it is. */
  readonly pipelined: boolean;
}

interface Known extends ForwardTarget {
  readonly rules: ForwarderState;
}

// Faces of what ends with the process: no portrait says what they stand for.
const fleeting = new WeakMap<object, Known>();
/** The faces that were made under some rules, in each direction. */
const made = new WeakMap<
  object,
  readonly [out: WeakMap<object, WeakRef<object>>, back: WeakMap<object, WeakRef<object>>]
>();

/** What a face stands for; undefined for everything else. */
export function forwardTargetOf(reference: unknown): Known | undefined {
  const said = argumentsOf(reference, Forwarder);
  if (said !== undefined) {
    const [rules, inner, back, direct] = said as readonly [ForwarderState, object, boolean, boolean];
    return { rules, inner, back, direct };
  }
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
  const held = facesUnder(rules, inward).get(reference)?.deref();
  // One that was made in a turn that was undone stands for nothing.
  if (held !== undefined && (fleeting.has(held) || forwardTargetOf(held) !== undefined)) return held;
  const known = forwardTargetOf(reference);
  if (known !== undefined && known.rules === rules) return known.back === inward ? reference : known.inner;
  if (inward && members === undefined) return reference;

  const name = lastingName(reference);
  const kept = name === undefined ? undefined : members?.get(row(name, inward));
  const face =
    kept ??
    (name === undefined ? fleetingFace(reference, by) : looksLike(spawn(faceOf(rules, reference, inward)), reference));
  if (name !== undefined && kept === undefined) members?.set(row(name, inward), face);
  facesUnder(rules, inward).set(reference, new WeakRef(face));
  return face;
}

function facesUnder(rules: ForwarderState, back: boolean): WeakMap<object, WeakRef<object>> {
  let faces = made.get(rules);
  if (faces === undefined) made.set(rules, (faces = [new WeakMap(), new WeakMap()]));
  return faces[back ? 1 : 0];
}

const row = (name: string, back: boolean): string => `${back ? 'in' : 'out'} ${name}`;

/** The first face of a forwarder, the one that is handed out: `inner` has no other, should it come out itself. */
export function firstFace(rules: ForwarderState, inner: object, members?: Table<object>): object {
  const face = looksLike(spawn(faceOf(rules, inner, false)), inner);
  const reference = became(inner);
  facesUnder(rules, false).set(reference, new WeakRef(face));
  const name = members === undefined ? undefined : lastingName(reference);
  if (name !== undefined) members?.set(row(name, false), face);
  return face;
}

function fleetingFace(inner: object, { rules, inward: back }: Crossing): object {
  const via = { inner, back, direct: answersNear(inner) };
  const face = ephemeral('forwarder', (method, args) => rules.call(via, method, args, byMessage()));
  fleeting.set(face, { rules, ...via });
  return looksLike(face, inner);
}

/** So that whoever passes it to others sees that it is a stream. */
function looksLike(face: object, inner: object): object {
  forwardsTo(face, inner);
  return face;
}

const faceOf = (rules: ForwarderState, inner: object, back: boolean): ReturnType<typeof Forwarder> =>
  Forwarder(rules, inner, back, answersNear(inner));

/** Not so a forwarder of this vat that is reached by message only: its terms say that, and never change. */
function answersNear(inner: object): boolean {
  const behind = forwardTargetOf(inner);
  return behind === undefined || !isNear(behind.rules) || behind.rules.near();
}

function promiseFor(promise: Promise<unknown>, { rules, inward, members, pipelined }: Crossing): Promise<unknown> {
  if (inward && members === undefined) return promise;
  return passOn(promise, {
    ok: (value) => rules.pass(inward, value),
    broken: (error) => breakAnswer(error),
    next: pipelined
      ? (method, args) => rules.call({ inner: promise, back: inward, direct: false }, method, args, true)
      : undefined,
  });
}
