/** The place of a state at rest, as a person names it. */
import { resolve } from 'node:path';
import { type Given, textOf } from '../line/verb.ts';
import { stateOf } from './places.ts';
import type { NamedStore } from './store-file.ts';

/** A state that nobody serves, and what a person said about its place. */
export async function restOf(given: Given): Promise<{
  readonly state: string;
  readonly sentinel?: string;
  readonly open?: NamedStore['open'] | undefined;
}> {
  const sentinel = textOf(given, 'sentinel');
  // The parser of that file takes 20 ms to load, and a state in a folder needs none.
  const { storeOf } = textOf(given, 'store') === undefined ? { storeOf: undefined } : await import('./store-file.ts');
  const rest = { state: stateOf(given), open: storeOf?.(given)?.open };
  return sentinel === undefined ? rest : { ...rest, sentinel: resolve(sentinel) };
}
