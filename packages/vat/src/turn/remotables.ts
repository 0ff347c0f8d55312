/** Remotables of Endo's packages: objects of another system, as references of ours. */
import { types } from '../core/drivers/platform.ts';
import { Foreign, type Seam } from '../core/foreign.ts';
import { isOurTag, procedureReference, targetOf } from '../core/reference.ts';

const passStyle = Symbol.for('passStyle');

// References to remotables of Endo, which are objects of another system. One reference each, so that identity
// holds.
const foreign = new WeakMap<object, object>();

/**
 * The reference for a remotable; undefined for any other value. `seam` converts what crosses between the
 * systems.
 */
export function remotable(value: object, seam: Seam): object | undefined {
  if (!marked(value)) return undefined;
  let reference = foreign.get(value);
  if (reference === undefined) {
    reference = procedureReference(new Foreign(value, seam));
    foreign.set(value, reference);
  }
  return reference;
}

/** Whether the value is a reference to a remotable. */
export const isForeign = (value: object): boolean => {
  const target = targetOf(value);
  return target instanceof Foreign && foreign.get(target.object) === value;
};

/** The pass style must be a data property on the prototype chain. A getter or a Proxy there is never run. */
function marked(value: object): boolean {
  let at: object | null = value;
  for (let steps = 0; at !== null && steps < 4 && !types.isProxy(at); steps += 1) {
    const own = Object.getOwnPropertyDescriptor(at, passStyle);
    if (own !== undefined) return own.value === 'remotable' && !isOurTag(at);
    at = Object.getPrototypeOf(at) as object | null;
  }
  return false;
}
