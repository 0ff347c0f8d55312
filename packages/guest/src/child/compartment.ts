/**
 * The compartment of one program. It contains the caps that the program was given, and globals that only
 * compute.
 *
 * Promise: every global is listed here. Before you add one, show that it reaches nothing outside.
 */
import 'ses';

/** The powers of a guest. They come from the driver that runs it. */
export interface Powers {
  /** Whole milliseconds of the wall clock. */
  now(): number;
  random(): number;
  after(ms: number, then: () => void): () => void;
}

const mostTimers = 1000;
const longestMs = 0x7fff_ffff;

/** Timers whose handles are numbers, because Node's timer objects lead into the process. */
function timers({ after }: Powers, uncaught: (error: unknown) => void): Record<string, (...args: never[]) => unknown> {
  const live = new Map<number, () => void>();
  let last = 0;
  const add = (then: unknown, ms: unknown, args: unknown[], again: boolean): number => {
    if (typeof then !== 'function') throw new TypeError('a timer calls a function: setTimeout(() => …, ms)');
    if (live.size >= mostTimers) throw new RangeError(`${mostTimers} timers wait already: clear some, or await`);
    const wait = Math.min(Math.max(Number(ms) || 0, again ? 1 : 0), longestMs);
    last += 1;
    const id = last;
    const start = (): void => {
      live.set(
        id,
        after(wait, () => {
          if (again) start();
          else live.delete(id);
          try {
            Reflect.apply(then, undefined, args);
          } catch (error) {
            uncaught(error);
          }
        }),
      );
    };
    start();
    return id;
  };
  const clear = (id: number): void => {
    live.get(id)?.();
    live.delete(id);
  };
  return {
    setTimeout: (then: unknown, ms?: unknown, ...args: unknown[]) => add(then, ms, args, false),
    setInterval: (then: unknown, ms?: unknown, ...args: unknown[]) => add(then, ms, args, true),
    clearTimeout: clear,
    clearInterval: clear,
  };
}

/**
 * Node's classes that only compute. Everything beyond the standard (`createObjectURL`, inspectors) is
 * deleted.
 */
const computing = ['URL', 'URLSearchParams'] as const;
const standard = new Set<PropertyKey>([
  ...['length', 'name', 'prototype', 'constructor', 'canParse', 'parse', 'href', 'origin', 'protocol', 'username'],
  ...['password', 'host', 'hostname', 'port', 'pathname', 'search', 'searchParams', 'hash', 'toString', 'toJSON'],
  ...['append', 'delete', 'get', 'getAll', 'has', 'set', 'sort', 'entries', 'forEach', 'keys', 'values', 'size'],
  ...[Symbol.iterator, Symbol.toStringTag],
]);

function computingOnly(): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const name of computing) {
    const made = (globalThis as Record<string, unknown>)[name] as { readonly prototype: object };
    for (const object of [made, made.prototype])
      for (const key of Reflect.ownKeys(object)) if (!standard.has(key)) Reflect.deleteProperty(object, key);
    found[name] = harden(made);
  }
  return found;
}

const shared = computingOnly();

/** Makes a compartment without caps. Call the returned function once: it puts the caps in and returns the compartment. */
export function compartment(
  tools: { readonly E: object; readonly console: object },
  powers: Powers,
  uncaught: (error: unknown) => void,
): (caps: Readonly<Record<string, object>>) => Compartment {
  const { now, random } = powers;
  const given = {
    E: tools.E,
    console: tools.console,
    now: () => now(),
    random: () => random(),
    ...timers(powers, uncaught),
    structuredClone: (value: unknown) => structuredClone(value),
    queueMicrotask: (then: () => void) => void Promise.resolve().then(then).catch(uncaught),
    ...shared,
  };
  const made = new Compartment({ __options__: true, globals: harden(given) });
  // SES makes some things at the first evaluation. Otherwise the program would wait for them.
  made.evaluate('undefined');
  return (caps) => {
    made.globalThis['caps'] = harden({ ...caps });
    // A petname that is not an identifier, or is the name of another global, is reached through `caps`.
    for (const [name, value] of Object.entries(caps))
      if (!(name in made.globalThis)) Object.defineProperty(made.globalThis, name, { value, enumerable: true });
    return made;
  };
}
