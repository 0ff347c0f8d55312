/** The options that say where a state is, for verbs that open it without a host. */
import { resolve } from 'node:path';
import { type Given, textOf } from '../line/verb.ts';
import { stateOf } from './places.ts';
import type { NamedStore } from './store-file.ts';

/** Returns the folder of the state, the place of its sentinel, and how its store is opened. Errors: `Mistake`. */
export async function restOf(given: Given): Promise<{
  readonly state: string;
  readonly sentinel?: string;
  readonly open?: NamedStore['open'] | undefined;
}> {
  const sentinel = textOf(given, 'sentinel');
  // `store-file.ts` loads a parser of YAML, which takes 20 ms. A state in a folder does not need it.
  const { storeOf } = textOf(given, 'store') === undefined ? { storeOf: undefined } : await import('./store-file.ts');
  const rest = { state: stateOf(given), open: storeOf?.(given)?.open };
  return sentinel === undefined ? rest : { ...rest, sentinel: resolve(sentinel) };
}
