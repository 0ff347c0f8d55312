/**
 * Loads a module of actors that others wrote: skills, above all.
 *
 * Promise: its code runs in a compartment of its own, in this process, and reaches JavaScript, the words of `@hob/vat` and the
 * powers that it was loaded with: nothing of Node, no global to set, no clock and no chance. What it does to an object that
 * every program has (`Array.prototype`) fails, so no module reaches another one, or the program that loads it.
 *
 * That needs hardened intrinsics: where nobody called `lockdown()` it refuses. A module runs in this process and can stop it with an
 * endless loop, as any actor can: load what you would install, and run what a model writes as a guest.
 */
import {
  type AnyDefinition,
  allOf,
  attempt,
  CapError,
  callOrSend,
  define,
  defineProcedure,
  E,
  facet,
  isNear,
  isReference,
  makeCell,
  makeInbox,
  makeMint,
  makeNonceRegistry,
  makePubSub,
  makeQueue,
  makeSealers,
  makeSwappable,
  makeTicker,
  promise,
  race,
  readOnly,
  spawn,
  table,
  writeOnly,
} from '@hob/vat';
// For its types (Compartment, harden): it is the program that loads it and locks down.
import type {} from 'ses';
import { stripTypesElsewhere } from './drivers/strip-thread.ts';
import { asModule, checkNames, type Module } from './source/module.ts';
import { mayMeanTypes, type Parsed, parse, refuse } from './source/parse.ts';
import { refusal } from './source/position.ts';

/** What every module has of the vat: what makes actors, and the small ones to make them of. None of it leads out of the vat. */
const WORDS: Readonly<Record<string, unknown>> = {
  E,
  CapError,
  attempt,
  isReference,
  promise,
  spawn,
  table,
  allOf,
  callOrSend,
  facet,
  isNear,
  makeCell,
  makeInbox,
  makeMint,
  makeNonceRegistry,
  makePubSub,
  makeQueue,
  makeSealers,
  makeSwappable,
  makeTicker,
  race,
  readOnly,
  writeOnly,
};
/** Made anew for each module, so that it is known what a module defined. */
const DEFINING = { define, defineProcedure };
const VOCABULARY: ReadonlySet<string> = new Set(Object.keys({ ...WORDS, ...DEFINING }));

/** Of JavaScript, what leads to a module's globals or makes code that nobody looked at. */
const NOT_FOR_MODULES: ReadonlySet<string> = new Set(['Compartment', 'Function', 'eval', 'globalThis', 'lockdown']);

export interface LoadOptions {
  /**
   * What the module finds under these names. References, plain frozen data, or what was hardened. A module that has a manifest
   * (`export const manifest = { powers: ['clock'] }`) gets of them what it names there.
   */
  readonly powers?: Readonly<Record<string, unknown>>;
}

/** The definitions that a module exports, by name. */
export async function loadActors(
  source: string,
  { powers = {} }: LoadOptions = {},
): Promise<Readonly<Record<string, AnyDefinition>>> {
  if (!isLockedDown())
    throw new CapError(
      'unavailable',
      'modules are loaded only where nobody can change what all programs share: call `lockdown()` of ses before everything else',
    );
  const parsed = await read(source);
  refuse(parsed, 'module');
  const module = asModule(parsed, VOCABULARY);
  const given = chosen(module, powers);

  const compartment = new Compartment({ __options__: true });
  const own = new Set(Object.getOwnPropertyNames(compartment.globalThis).filter((name) => !NOT_FOR_MODULES.has(name)));
  for (const name of Object.keys(given))
    if (own.has(name) || VOCABULARY.has(name) || NOT_FOR_MODULES.has(name))
      throw new CapError(
        'invalid',
        `a power called "${name}" would stand before JavaScript's own: give it another name`,
      );
  checkNames(parsed, new Set([...own, ...VOCABULARY, ...Object.keys(given)]));

  const made = new Set<unknown>();
  const words = vocabulary(made);
  Object.assign(compartment.globalThis, words, given);
  harden(compartment.globalThis);
  return definitionsOf(module, values(compartment, module, words), made);
}

/** Plain JavaScript first; types are taken out elsewhere, where a hostile source breaks nothing. */
async function read(source: string): Promise<Parsed> {
  const parsed = parse(source, 'module');
  if (!(parsed instanceof CapError) && !mayMeanTypes(parsed)) return parsed;
  const stripped = await stripTypesElsewhere(source, 'module');
  const again = stripped === source ? parsed : parse(stripped, 'module');
  if (again instanceof CapError) throw again;
  return again;
}

function isLockedDown(): boolean {
  return (
    typeof harden === 'function' &&
    [Object.prototype, Array.prototype, Promise.prototype, Object.getPrototypeOf(isLockedDown)].every(Object.isFrozen)
  );
}

function vocabulary(made: Set<unknown>): Readonly<Record<string, unknown>> {
  const words: Record<string, unknown> = { ...WORDS };
  for (const [name, define] of Object.entries(DEFINING))
    words[name] = (...args: unknown[]) => {
      const definition: unknown = (define as (...args: unknown[]) => unknown)(...args);
      made.add(definition);
      return definition;
    };
  // What one module put on a shared function, another one would find.
  return harden(words);
}

function chosen({ needs }: Module, powers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const given: Record<string, unknown> = {};
  for (const name of needs === undefined ? Object.keys(powers) : needs) {
    if (!Object.hasOwn(powers, name))
      throw new CapError(
        'denied',
        `the module needs "${name}", which it was not given: loadActors(source, { powers: { ${name}: … } }), if it is to have it`,
      );
    if (!isFixed(powers[name], new Set()))
      throw new CapError(
        'invalid',
        `the power "${name}" could be changed by the module: give a reference (of a spawned actor, of \`driver\`), frozen data, or \`harden\` it`,
      );
    given[name] = powers[name];
  }
  return given;
}

/** Whether nothing that can be reached from it can be changed; a reference guards itself. */
function isFixed(x: unknown, seen: Set<unknown>): boolean {
  if ((typeof x !== 'object' && typeof x !== 'function') || x === null || isReference(x) || seen.has(x)) return true;
  seen.add(x);
  if (!Object.isFrozen(x)) return false;
  return [
    Object.getPrototypeOf(x) as unknown,
    ...Object.values(Object.getOwnPropertyDescriptors(x)).flatMap(({ value, get, set }) => [
      value as unknown,
      get,
      set,
    ]),
  ].every((inner) => isFixed(inner, seen));
}

/** Runs it: what it says while it does, it says by its own lines. */
function values(
  compartment: Compartment,
  module: Module,
  words: Readonly<Record<string, unknown>>,
): readonly unknown[] {
  try {
    const run = compartment.evaluate(module.code) as (words: Readonly<Record<string, unknown>>) => readonly unknown[];
    return run(words);
  } catch (error) {
    const { message, stack } = Object(error) as { readonly message?: unknown; readonly stack?: unknown };
    const [, line, column] = /<anonymous>:(\d+):(\d+)/.exec(String(stack)) ?? [];
    throw refusal(module.where(Number(line ?? 1), Number(column ?? 1)), String(message ?? error).slice(0, 500));
  }
}

function definitionsOf(
  module: Module,
  exported: readonly unknown[],
  made: ReadonlySet<unknown>,
): Readonly<Record<string, AnyDefinition>> {
  if (module.exports.length === 0)
    throw new CapError(
      'invalid',
      'the module exports no actor: `export const Name = define("Name", (bcom, …state) => ({ … }))`',
    );
  const definitions: Record<string, AnyDefinition> = {};
  for (const [index, { name, place }] of module.exports.entries()) {
    if (!made.has(exported[index]))
      throw refusal(place, `exports "${name}", which is no definition: export what \`define\` answers, keep the rest`);
    Object.defineProperty(definitions, name, { value: exported[index], enumerable: true });
  }
  return Object.freeze(definitions);
}
