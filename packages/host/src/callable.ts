/**
 * Refuses to offer an object that can never be called. Otherwise a granter grants it, and the agent learns it
 * from its first call, which costs a use.
 */
import { neverCallable } from '@hob/revocable';
import { CapError, type Far, isReference } from '@hob/vat';

/** Objects of the language: their methods are no methods of a program. */
const builtIn: readonly (abstract new (...args: never) => object)[] = [
  Array,
  Date,
  RegExp,
  Map,
  Set,
  WeakMap,
  WeakSet,
  Error,
  ArrayBuffer,
  DataView,
];

/** Outside turns. Errors: `invalid`. */
export async function checkCallable(cap: unknown): Promise<void> {
  // Before anything else: a promise may also be a reference, and an object that was not awaited has no methods.
  if (cap instanceof Promise) throw invalid('a promise is no object: await it, and offer what it becomes');
  if (isReference(cap)) return await checkReference(cap as Far<object>);
  if (typeof cap === 'function')
    throw invalid("a function has no methods: offer an object, such as {invoke: async (…) => …}"); // biome-ignore format: one line
  if (typeof cap !== 'object' || cap === null)
    throw invalid('data has no methods: offer an object with async methods, or a reference');
  if (ArrayBuffer.isView(cap) || builtIn.some((kind) => cap instanceof kind))
    throw invalid('this is an object of the language: offer an object with methods of your own that uses it');
}

async function checkReference(cap: Far<object>): Promise<void> {
  let ended: CapError | undefined;
  try {
    ended = await neverCallable(cap);
  } catch (error) {
    throw invalid(`the promise for this object broke (${codeOf(error)}): make the object anew`);
  }
  if (ended !== undefined)
    throw invalid(`every call of this object would be refused (${ended.code}): make it anew, and offer that`);
}

const codeOf = (error: unknown): string => (error instanceof CapError ? error.code : 'error');

const invalid = (why: string): CapError => new CapError('invalid', `this object can never be called: ${why}`);
