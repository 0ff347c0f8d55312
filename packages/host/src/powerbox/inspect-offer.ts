/**
 * Finds out what an offered object can do: its methods, which of them only read, and whether it is a
 * directory, and where it is.
 */
import { CapError, isReference } from '@hob/vat';
import { type Effect, type Effects, effectsOf, objectOf, placeOf } from '@hob/vat/forwarder';
import type { OfferInfo } from '../state/records.ts';
import { checkLabel, placeText } from './offer-text.ts';

/** An object with more methods is known by the first of them only. */
export const mostMethods = 200;

interface Inspected {
  readonly reads: readonly string[];
  readonly methods?: readonly string[] | undefined;
  readonly label: string | undefined;
  readonly effects?: Effects | undefined;
}

/** Outside turns. Errors: `invalid`. */
export function inspectOffer(
  cap: object,
  { reads, methods: shown, label, effects: given }: Inspected,
): Omit<OfferInfo, 'number'> {
  checkLabel(label);
  const methods = isReference(cap) ? undefined : methodsOf(cap);
  const effects = bothEffects(effectsOf(isReference(cap) ? (objectOf(cap) ?? cap) : cap), given);
  const place = placeOf(isReference(cap) ? (objectOf(cap) ?? cap) : cap);
  return {
    methods: shown === undefined ? methods : [...shown],
    reads: [...reads],
    directory: isDirectory(methods),
    ...(effects === undefined ? {} : { effects }),
    ...(label === undefined ? {} : { label }),
    ...(place === undefined ? {} : { place: placeText(place) }),
  };
}

const classes: readonly unknown[] = ['A', 'B', 'C', 'D'];
const undoable: readonly unknown[] = [undefined, 'easy', 'hard', 'impossible'];

/** Errors: `invalid`. */
function bothEffects(declared: Effects | undefined, given: Effects | undefined): Effects | undefined {
  if (declared === undefined && given === undefined) return undefined;
  const both = { ...declared, ...given };
  for (const { class: of, undo, ...rest } of Object.values(both))
    if (!classes.includes(of) || !undoable.includes(undo) || !fits(rest))
      throw new CapError('invalid', "the effect of a method is a record such as {class: 'C', undo: 'hard', outbound: true}"); // biome-ignore format: one line
  return both;
}

const flags: readonly unknown[] = [undefined, true, false];

const fits = ({ outbound, idempotent, volatile = [], makes = {}, names = {} }: Partial<Effect>): boolean =>
  flags.includes(outbound) &&
  flags.includes(idempotent) &&
  Array.isArray(volatile) &&
  volatile.every((name) => typeof name === 'string') &&
  isRecord(makes, (field) => typeof field === 'string') &&
  isRecord(names, (at) => typeof at === 'string' || (Number.isInteger(at) && Number(at) >= 0));

const isRecord = (given: unknown, isFit: (value: unknown) => boolean): boolean =>
  typeof given === 'object' && given !== null && Object.values(given).every(isFit);

function methodsOf(cap: object): readonly string[] {
  const found = new Set<string>();
  for (let at: object | null = cap; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (name !== 'constructor' && typeof property.value === 'function') found.add(name);
  }
  return [...found].sort().slice(0, mostMethods);
}

/**
 * Decided by its methods. Another object with all of these names counts as a directory, which changes only
 * what a request shows.
 */
const isDirectory = (methods: readonly string[] | undefined): boolean =>
  ['readText', 'stat', 'write', 'edit', 'list'].every((name) => methods?.includes(name) === true);
