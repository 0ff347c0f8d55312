/**
 * How references to actors look: which methods they show. Found out once a kind, and written down in stores, so that a
 * sleeping actor has its reference without being woken.
 */
import type { Kind } from '../core/kind.ts';
import type { Target } from '../core/message.ts';
import { functionReference, procedureReference, referenceClass } from '../core/reference.ts';
import type { Shape } from '../durable/object-store.ts';
import { methodsOf } from '../turn/portrait.ts';

/** To an actor that has just been made. */
export function referenceTo(actor: Target, kind: Kind, behaviour: unknown): object {
  // The class is found out once a kind: asking each behaviour for its methods would cost more than the actor.
  if (kind.reference !== undefined) return kind.reference(actor as never);
  return referenceShaped(actor, kind, shapeOf(kind, behaviour));
}

/** How references to actors of this kind look, for a store: known again without waking one. */
export function shapeOf(kind: Kind, behaviour: unknown): Shape {
  if (kind.procedure) return 'procedure';
  if (typeof behaviour === 'function') return 'function';
  return methodsOf(behaviour as object, kind.label);
}

/** Whether `shapeOf` would answer `shape`: asked at each change of each durable actor, so without making a list of methods. */
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
 * To an actor that sleeps. Its definition may have got methods since it was written down: names that are not among the
 * stored ones reach it too, and break with `no-such-method` where it has none.
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
