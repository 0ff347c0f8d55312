/**
 * The shape of references to actors: the methods that they show. It is determined once for each kind and
 * stored, so a sleeping actor gets its reference without being woken.
 */
import type { ActorKind } from '../core/kind.ts';
import type { Target } from '../core/message.ts';
import { functionReference, procedureReference, referenceClass } from '../core/reference.ts';
import type { StoredActor } from '../durable/object-store.ts';
import type { Shape } from '../durable/stored-kinds.ts';
import { methodsOf, type PortraitContents } from '../turn/portrait.ts';

/**
 * The reference to an actor that has just been made. A forwarder is called like the object that it forwards
 * to, so a procedure with a function among its arguments gets the reference of a function.
 */
export function referenceTo(
  actor: Target,
  { kind, args }: PortraitContents,
  behaviour: unknown,
  callable: boolean,
): object {
  if (kind.procedure && (callable || args.some((arg) => typeof arg === 'function'))) return functionReference(actor);
  // The class is made once for each kind: reading the methods of each behaviour would cost more than the
  // actor.
  if (kind.reference !== undefined) return kind.reference(actor as never);
  return referenceShaped(actor, kind, shapeOf(kind, behaviour));
}

/** The shape of references to this kind, for the store. With it, no actor needs to be woken to make one. */
export function shapeOf(kind: ActorKind, behaviour: unknown): Shape {
  if (kind.procedure) return 'procedure';
  if (typeof behaviour === 'function') return 'function';
  return methodsOf(behaviour as object, kind.label);
}

/**
 * Whether `shapeOf` would return `shape`. It runs at each change of a durable actor, so it makes no list of
 * methods.
 */
export function hasShape(shape: Shape | undefined, kind: ActorKind, behaviour: unknown): boolean {
  if (shape === undefined) return false;
  if (kind.procedure || typeof behaviour === 'function') return shape === (kind.procedure ? 'procedure' : 'function');
  if (typeof shape === 'string') return false;
  const methods = behaviour as Readonly<Record<string, unknown>>;
  // Names and symbols are read separately, because `Reflect.ownKeys`, which returns both, takes several times as long.
  const names = Object.getOwnPropertyNames(methods);
  return (
    names.length === shape.length &&
    shape.every((name, i) => names[i] === name && typeof methods[name] === 'function') &&
    Object.getOwnPropertySymbols(methods).length === 0
  );
}

/** The reference to a sleeping actor. Its definition may have new methods since the shape was stored. */
export function storedReference(actor: Target, { kind, shape, callable }: StoredActor): object {
  if (callable) return functionReference(actor);
  if (typeof shape === 'string') return referenceShaped(actor, kind, shape);
  if (kind.stored === undefined) {
    const Made = referenceClass(shape, kind.label, true);
    kind.stored = (target: never) => new Made(target);
  }
  return kind.stored(actor as never);
}

/** Whether the actor's behaviour has this method; true for one that sleeps, whose behaviour is not known. */
export function shows(kind: ActorKind, behaviour: unknown, method: string): boolean {
  if (behaviour === undefined || kind.procedure) return true;
  return typeof behaviour === 'object' && Object.hasOwn(behaviour as object, method);
}

function referenceShaped(actor: Target, kind: ActorKind, shape: Shape): object {
  if (shape === 'procedure') return procedureReference(actor);
  if (shape === 'function') return functionReference(actor);
  if (kind.reference === undefined) {
    const Made = referenceClass(shape, kind.label, true);
    kind.reference = (target: never) => new Made(target);
  }
  return kind.reference(actor as never);
}
