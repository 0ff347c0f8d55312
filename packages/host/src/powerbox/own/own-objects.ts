/**
 * Things that a session made itself through a cap that names them, such as an issue or a branch: it changes them without
 * a question.
 *
 * Promise: a thing is a session's own if a call of the session through this grant made it, and the cap itself named it in
 * the result (`Effect.makes`). A call goes on only if all things that it names (`Effect.names`) are own. The note is made
 * before the caller hears of the thing. A kill in between leaves a thing that counts as somebody else's.
 *
 * A call counts only if it comes straight from the session of the grant, as for files (`own-files.ts`).
 */
import { gated, type Judge, type Onlooker } from '@hob/revocable';
import { type Definition, define, E, spawn, type Table } from '@hob/vat';
import type { Effect } from '@hob/vat/forwarder';
import { type HostState, tablesOf } from '../../state/host-state.ts';
import { callingGrantsOf } from '../gate.ts';

/** More things of a session are not its own. */
const MOST = 10_000;
const LONGEST_NAME = 1_000;

/** The key of a thing. Undefined: this is no name. */
function keyOf(kind: string, name: unknown): string | undefined {
  const isName = typeof name === 'string' ? name !== '' && name.length <= LONGEST_NAME : Number.isSafeInteger(name);
  return isName ? JSON.stringify([kind, name]) : undefined;
}

const fieldOf = (value: unknown, field: string): unknown =>
  typeof value === 'object' && value !== null && Object.hasOwn(value, field)
    ? (value as Readonly<Record<string, unknown>>)[field]
    : undefined;

/** The keys of all that a call names, or undefined if it names nothing, or something that is no name. */
function named(effect: Effect | undefined, args: readonly unknown[]): readonly string[] | undefined {
  const keys = Object.entries(effect?.names ?? {}).map(([kind, at]) =>
    keyOf(kind, typeof at === 'number' ? args[at] : fieldOf(args[0], at)),
  );
  return keys.length > 0 && keys.every((key) => key !== undefined) ? (keys as string[]) : undefined;
}

/** The keys of what a result says that the call made. */
const made = (effect: Effect | undefined, value: unknown): readonly string[] =>
  Object.entries(effect?.makes ?? {})
    .map(([kind, field]) => keyOf(kind, field === '' ? value : fieldOf(value, field)))
    .filter((key) => key !== undefined);

/** In a turn: the declared effect of a method of an offer, as it is now. */
function effectIn(hostState: HostState, offered: string, method: string): Effect | undefined {
  const effects = tablesOf(hostState).offerInfo.get(offered)?.effects;
  return effects !== undefined && Object.hasOwn(effects, method) ? effects[method] : undefined;
}

interface Of {
  readonly grant: string;
  readonly offered: string;
  readonly things: Table<string>;
  /** Asks about calls that wait. */
  readonly judge: Judge;
  /** The methods that wait. Undefined: all. */
  readonly methods: readonly string[] | undefined;
}

export const OwnObjectsGateActor: Definition<
  Judge,
  [hostState: HostState, grant: string, offered: string, things: Table<string>, judge: Judge, methods: readonly string[] | undefined] // biome-ignore format: one line
> = define('host.own-objects', (_bcom, hostState, grant, offered, things, judge, methods) => ({
  ask(call, target, charged, stale) {
    const { method, args, via } = call;
    if (methods !== undefined && !methods.includes(method)) return true;
    const names = via.length === 0 ? named(effectIn(hostState, offered, method), args) : undefined;
    const otherwise = (): boolean => E(judge).ask(call, target, charged, stale) as never;
    if (names === undefined || !names.every((key) => things.has(key))) return otherwise();
    return E.when(callingGrantsOf(hostState), (grants): boolean => grants[0] === grant || otherwise()) as never;
  },
}));

export const OwnObjectsNotesActor: Definition<
  Onlooker,
  [hostState: HostState, grant: string, offered: string, things: Table<string>]
> = define('host.own-objects-notes', (_bcom, hostState, grant, offered, things) => ({
  look({ method }, { ok, value }) {
    const keys = ok ? made(effectIn(hostState, offered, method), value) : [];
    if (keys.length === 0) return undefined;
    return E.when(callingGrantsOf(hostState), (grants): void => {
      if (grants[0] === grant && things.size + keys.length <= MOST) for (const key of keys) things.set(key, 'made');
    }) as never;
  },
}));

/** In a turn: `inner` behind a gate that lets a session change its own things. */
export function ownObjects(
  hostState: HostState,
  inner: object,
  { grant, offered, things, judge, methods }: Of,
): object {
  const asked = spawn(OwnObjectsGateActor(hostState, grant, offered, things, judge, methods));
  const onlooker = spawn(OwnObjectsNotesActor(hostState, grant, offered, things)) as unknown as Onlooker;
  const makers = Object.entries(tablesOf(hostState).offerInfo.get(offered)?.effects ?? {}).filter(
    ([, { makes }]) => makes,
  );
  const all = methods === undefined ? {} : { methods: [...new Set([...methods, ...makers.map(([name]) => name)])] };
  return gated(inner, asked, { ...all, onlooker }) as unknown as object;
}
