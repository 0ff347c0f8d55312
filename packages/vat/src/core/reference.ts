/**
 * References: what a program holds of an actor, a driver or a foreign object.
 *
 * Promise: a reference shows its holder only the label of its kind and the names of its methods. Nothing
 * reachable from it leads to its target. It is frozen, and so is its whole prototype chain, so no holder can
 * change what another one sees.
 *
 * In a turn of its own vat its methods are plain calls. Outside a turn they send a message. In a turn of
 * another vat they throw `not-callable`. A method that the actor got later, by becoming something else, can be
 * called like the others.
 */
import type { Target } from './message.ts';

/** Base class of everything that is passed by identity and never copied. */
export abstract class ByReference {
  readonly #byReference = true;
  static is(x: object): boolean {
    return #byReference in x;
  }
}

/** How a method called on a reference reaches its target. Set once by the module that knows turns. */
interface Dispatch {
  /** In a turn the target is called near, straight from the reference: each frame more fills the stack sooner. */
  inTurn(): boolean;
  outside(target: Target, method: string, args: unknown[]): unknown;
}
let dispatch: Dispatch;
export const dispatchBy = (how: Dispatch): void => {
  dispatch ??= how;
};

abstract class Reference extends ByReference {
  readonly #target: Target;

  constructor(target: Target) {
    super();
    this.#target = target;
  }

  static of(x: object): Target | undefined {
    return #target in x ? x.#target : undefined;
  }
}

const tags = new WeakSet<object>();

/** Adds the properties by which Endo's marshal recognises an object that is passed by reference. */
function tag(label: string, base: object): object {
  const made = Object.create(base, {
    [Symbol.for('passStyle')]: { value: 'remotable' },
    [Symbol.toStringTag]: { value: `Alleged: ${label}` },
  }) as object;
  tags.add(made);
  return Object.freeze(made);
}
/** Whether this object itself is such a tag. An object that only inherits from a tag is a forgery. */
export const isOurTag = (x: object): boolean => tags.has(x);

/** Removes the path from an instance to its class and static methods, and freezes the shared prototype. */
export function sealed(prototype: object, base: object = Object.prototype): void {
  Reflect.deleteProperty(prototype, 'constructor');
  Object.setPrototypeOf(prototype, base);
  Object.freeze(prototype);
}
sealed(ByReference.prototype);
sealed(Reference.prototype);

/** Base for classes that put private fields on an object made elsewhere, such as a function or a promise. */
export class Given {
  constructor(self: object) {
    // biome-ignore lint/correctness/noConstructorReturn: the one way to put a private field on an object made elsewhere
    return self;
  }
}
class FunctionReference extends Given {
  readonly #target: Target;
  constructor(self: object, target: Target) {
    super(self);
    this.#target = target;
  }
  static of(x: object): Target | undefined {
    return #target in x ? x.#target : undefined;
  }
}

/** The target behind one of our references; undefined for any other value. */
export function targetOf(x: unknown): Target | undefined {
  if (typeof x === 'object') return x === null ? undefined : Reference.of(x);
  return typeof x === 'function' ? FunctionReference.of(x) : undefined;
}

/**
 * Whether `x` is a reference: to an actor, a driver, or an object of a peer. It says nothing else about it.
 */
export const isReference = (x: unknown): boolean => targetOf(x) !== undefined;

/** Never method names. `then` would make a reference look like a promise; the language uses the others. */
const reserved: ReadonlySet<string> = new Set(['then', 'constructor', '__proto__']);
export const isMethodName = (name: string): boolean => !reserved.has(name);

type ReferenceClass = new (target: Target) => object;

// One stub for each method name. References have no functions of their own, so a million cells share two
// stubs.
const stubs = new Map<string, (...args: unknown[]) => unknown>();
function stub(method: string): (...args: unknown[]) => unknown {
  let found = stubs.get(method);
  if (found === undefined) {
    // A method and not an arrow function: `this` must be the reference it is called on.
    found = {
      call(this: object, ...args: unknown[]): unknown {
        const target = targetOf(this);
        if (target === undefined) throw new TypeError(`"${method}" was called without its reference`);
        return dispatch.inTurn() ? target.near(method, args) : dispatch.outside(target, method, args);
      },
    }.call;
    Object.freeze(found);
    stubs.set(method, found);
  }
  return found;
}

/** Makes the class of references with these methods. With `others`, so is any further one that the target has. */
export function referenceClass(methods: readonly string[], label: string, others = false): ReferenceClass {
  const Made = class extends Reference {
    constructor(target: Target) {
      super(target);
      Object.freeze(this);
    }
  };
  for (const method of methods)
    Object.defineProperty(Made.prototype, method, { value: stub(method), enumerable: false });
  // Endo accepts a tag only if it inherits from Object.prototype itself.
  const tagged = tag(label, Object.prototype);
  sealed(Made.prototype, others ? methodsOn(tagged) : tagged);
  return Made;
}

// Names that inspectors and test runners read from any object. A procedure must not send these as messages.
const probes: ReadonlySet<string> = new Set([
  'then',
  'toJSON',
  'toString',
  'valueOf',
  'inspect',
  'asymmetricMatch',
  '$$typeof',
  'nodeType',
  'tagName',
  'hasAttribute',
]);

/** A prototype on which every name that the target has is a method, except those that `base` has. */
const methodsOn = (base: object): object =>
  Object.freeze(
    new Proxy(Object.freeze(Object.create(base) as object), {
      get: (known, name, self) => {
        if (typeof name !== 'string' || probes.has(name) || name in known) return Reflect.get(known, name, self);
        return targetOf(self)?.shows(name) === false ? undefined : uncachedStub(name);
      },
    }),
  );

// These names come from outside. A cached stub for each would be a leak.
function uncachedStub(method: string): (...args: unknown[]) => unknown {
  return (
    stubs.get(method) ??
    function call(this: object, ...args: unknown[]): unknown {
      const target = targetOf(this);
      if (target === undefined) throw new TypeError(`"${method}" was called without its reference`);
      return dispatch.inTurn() ? target.near(method, args) : dispatch.outside(target, method, args);
    }
  );
}

class ProcedureReference extends Reference {
  constructor(target: Target) {
    super(target);
    Object.freeze(this);
  }
}

/** A reference to an actor whose method names are not known in advance. */
export function procedureReference(target: Target): object {
  return new ProcedureReference(target);
}

sealed(ProcedureReference.prototype, methodsOn(tag('procedure', Object.prototype)));

const functionTag = tag('function', methodsOn(Object.getPrototypeOf(() => {}) as object));

/** A reference to an actor that is called without a method name, or to a forwarder of one. */
export function functionReference(target: Target): object {
  const self = (...args: unknown[]): unknown =>
    dispatch.inTurn() ? target.near('', args) : dispatch.outside(target, '', args);
  Object.setPrototypeOf(self, functionTag);
  return Object.freeze(new FunctionReference(self, target));
}
