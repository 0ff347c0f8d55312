/**
 * The shape of references to actors: the methods that they show. It is determined once for each kind and
 * stored, so a sleeping actor gets its reference without being woken.
 */
import type { Kind } from '../core/kind.ts';
import type { Target } from '../core/message.ts';
import { functionReference, procedureReference, referenceClass } from '../core/reference.ts';
import type { Shape } from '../durable/object-store.ts';
import { methodsOf } from '../turn/portrait.ts';

/** The reference to an actor that has just been made. */
export function referenceTo(actor: Target, kind: Kind, behaviour: unknown): object {
  // The class is made once for each kind: reading the methods of each behaviour would cost more than the
  // actor.
  if (kind.reference !== undefined) return kind.reference(actor as never);
  return referenceShaped(actor, kind, shapeOf(kind, behaviour));
}

/** The shape of references to this kind, for the store. With it, no actor needs to be woken to make one. */
export function shapeOf(kind: Kind, behaviour: unknown): Shape {
  if (kind.procedure) return 'procedure';
  if (typeof behaviour === 'function') return 'function';
  return methodsOf(behaviour as object, kind.label);
}

/**
 * Whether `shapeOf` would return `shape`. It runs at each change of a durable actor, so it makes no list of
 * methods.
 */
export function looksLike(shape: Shape | undefined, kind: Kind, behaviour: unknown): boolean {
  if (shape === undefined) return false;
  if (kind.procedure || typeof behaviour === 'function') return shape === (kind.procedure ? 'procedure' : 'function');
  if (typeof shape === 'string') return false;
  const methods = behaviour as Readonly<Record<string, unknown>>;
  const keys = Reflect.ownKeys(methods);
  return (
    keys.length === shape.length && shape.every((name, i) => keys[i] === name && typeof methods[name] === 'function')
  );
}

/**
 * The reference to a sleeping actor. Its definition may have new methods since the shape was stored. So names
 * that are not in the shape reach the actor too, and break with `no-such-method` if it lacks them.
 */
export function storedReference(actor: Target, kind: Kind, shape: Shape): object {
  if (typeof shape === 'string') return referenceShaped(actor, kind, shape);
  if (kind.stored === undefined) {
    const Made = referenceClass(shape, kind.label, true);
    kind.stored = (target: never) => new Made(target);
  }
  return kind.stored(actor as never);
}

function referenceShaped(actor: Target, kind: Kind, shape: Shape): object {
  if (shape === 'procedure') return procedureReference(actor);
  if (shape === 'function') return functionReference(actor);
  if (kind.reference === undefined) {
    const Made = referenceClass(shape, kind.label);
    kind.reference = (target: never) => new Made(target);
  }
  return kind.reference(actor as never);
}
