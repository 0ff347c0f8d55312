/** Lists of method names. A method that is not in the list does not exist for the caller. */
import { CapError } from '@hob/vat';

/** Returns a frozen copy. Errors: `invalid`. */
export function readMethods(list: readonly string[]): readonly string[] {
  const methods = Array.isArray(list) ? ([...list] as unknown[]) : [];
  if (methods.length === 0 || !methods.every((method) => typeof method === 'string' && method !== ''))
    throw new CapError('invalid', 'methods is a list of method names');
  return Object.freeze(methods as string[]);
}

/** Throws `no-such-method` if `method` is not in the list. */
export function checkMethod(methods: readonly string[], method: string): void {
  if (methods.includes(method)) return;
  const some = methods.slice(0, 8).map((each) => each.slice(0, 64));
  const has = methods.length > 8 ? `${some.join(', ')} and ${methods.length - 8} more` : some.join(', ');
  throw new CapError('no-such-method', `this grant does not include "${method.slice(0, 64)}": it has ${has}`);
}
