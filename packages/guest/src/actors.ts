/**
 * Loads a module of actors that somebody else wrote, such as a skill.
 *
 * Promise: the code of the module runs in its own compartment in this process. It reaches JavaScript, the
 * words of `@hob/vat`, and the powers that it was loaded with. It reaches nothing of Node, no clock and no
 * randomness, and it cannot set globals. Changing a shared object such as `Array.prototype` fails, so a
 * module cannot affect other modules or the program that loads it.
 *
 * This needs hardened intrinsics, so it refuses to load anything before `lockdown()` was called. A module can
 * stop this process with an endless loop, as any actor can. Load only what you would install. Run code that a
 * model writes as a guest.
 */
import {
  type AnyDefinition,
  attempt,
  CapError,
  define,
  defineProcedure,
  E,
  isReference,
  promise,
  spawn,
  table,
} from '@hob/vat';
import {
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
} from '@hob/vat/actors';
import { takeOptions } from '@hob/vat/forwarder';
// Only for its types (Compartment, harden). The program loads `ses` and calls lockdown().
import type {} from 'ses';
import { stripTypesElsewhere } from './drivers/strip-thread.ts';
import { asModule, checkNames, type Module } from './source/module.ts';
import { mayMeanTypes, type Parsed, parse, refuse } from './source/parse.ts';
import { refusal } from './source/position.ts';

/**
 * The names of the vat that every module gets: those that make actors, and small ready-made actors. None
 * leads out of the vat.
 */
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
/** Wrapped for each module, to record which definitions the module made. */
const DEFINING = { define, defineProcedure };
const VOCABULARY: ReadonlySet<string> = new Set(Object.keys({ ...WORDS, ...DEFINING }));

/**
 * Globals that modules may not use: they lead to the globals of the module, or make code that nobody has
 * checked.
 */
const NOT_FOR_MODULES: ReadonlySet<string> = new Set(['Compartment', 'Function', 'eval', 'globalThis', 'lockdown']);

/** The powers that a module gets besides JavaScript and the names of `@hob/vat`. */
export interface LoadOptions {
  /**
   * The values that the module finds under these names. Each is a reference, frozen plain data, or hardened.
   * A module with a manifest (`export const manifest = { powers: ['clock'] }`) gets only those that the
   * manifest names.
   */
  readonly powers?: Readonly<Record<string, unknown>>;
}

/** Loads a module and returns the definitions that it exports, by name. */
export async function loadActors(
  source: string,
  options?: LoadOptions,
): Promise<Readonly<Record<string, AnyDefinition>>> {
  const { powers = {} } = takeOptions(options, 'loadActors', { powers: true });
  if (!isLockedDown())
    throw new CapError(
      'unavailable',
      'modules load only into hardened intrinsics: call `lockdown()` of ses before everything else',
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
        `a power called "${name}" would hide a name of JavaScript or of the vat: give it another name`,
      );
  checkNames(parsed, new Set([...own, ...VOCABULARY, ...Object.keys(given)]));

  const made = new Set<unknown>();
  const words = vocabulary(made);
  Object.assign(compartment.globalThis, words, given);
  harden(compartment.globalThis);
  return definitionsOf(module, values(compartment, module, words), made);
}

/**
 * Tries plain JavaScript first. Types are stripped in another thread, where a hostile source breaks nothing.
 */
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
  // Otherwise one module could put a property on a shared function, and another module would find it.
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

/**
 * Whether everything reachable from `x` is frozen. References count as frozen: they protect their own state.
 */
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

/** Runs the module. An error that it throws is reported at the module's own line. */
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
      throw refusal(place, `exports "${name}", which is not a definition: export only what \`define\` returns`);
    Object.defineProperty(definitions, name, { value: exported[index], enumerable: true });
  }
  return Object.freeze(definitions);
}
