/** What can be seen of an object that is offered: which methods it has, which of them only look, whether it is a directory. */
import { isReference } from '@hob/vat';
import type { Offered } from '../state/records.ts';

const most = 200;

export function offeredOf(cap: object, reads: readonly string[]): Omit<Offered, 'number'> {
  const methods = isReference(cap) ? undefined : methodsOf(cap);
  return { methods, reads: [...reads], directory: isDirectory(methods) };
}

function methodsOf(cap: object): readonly string[] {
  const found = new Set<string>();
  for (let at: object | null = cap; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (name !== 'constructor' && typeof property.value === 'function') found.add(name);
  }
  return [...found].sort().slice(0, most);
}

/** By its methods: whoever offers something else with all of these names is taken at their word, which decides only what is shown. */
const isDirectory = (methods: readonly string[] | undefined): boolean =>
  ['readText', 'stat', 'write', 'edit', 'list'].every((name) => methods?.includes(name) === true);
