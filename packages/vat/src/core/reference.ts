/**
 * References: what a program holds of an actor, a driver or a foreign object.
 *
 * Promise: a reference tells its holder nothing but the label of its kind and the names of its methods; nothing reachable
 * from it leads to its target, and no holder can change what another one sees: it is frozen, and so is everything on its
 * prototype chain. In a turn of its own vat its methods are plain calls;
 * outside a turn they send a message; in another vat's turn they throw `not-callable`.
 */
import type { Target } from './message.ts';

/** Passed by identity, never copied. */
export abstract class ByReference {
  readonly #byReference = true;
  static is(x: object): boolean {
    return #byReference in x;
  }
}

/** How a method called on the reference itself reaches its target. Set once by the module that knows turns. */
export type Dispatch = (target: Target, method: string, args: unknown[]) => unknown;
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

/** What Endo's marshal looks for on an object that goes by reference. */
function tag(label: string, base: object): object {
  const made = Object.create(base, {
    [Symbol.for('passStyle')]: { value: 'remotable' },
    [Symbol.toStringTag]: { value: `Alleged: ${label}` },
  }) as object;
  tags.add(made);
  return Object.freeze(made);
}
/** What only inherits from it is a forgery. */
export const isOurTag = (x: object): boolean => tags.has(x);

/** Cuts the way from an instance to its class, whose statics open it, and freezes what instances share. */
export function sealed(prototype: object, base: object = Object.prototype): void {
  Reflect.deleteProperty(prototype, 'constructor');
  Object.setPrototypeOf(prototype, base);
  Object.freeze(prototype);
}
sealed(ByReference.prototype);
sealed(Reference.prototype);

/** A base for classes that put their private fields on an object made elsewhere: a function, a promise. */
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

/** The target behind a reference of ours; undefined for everything else. */
export function targetOf(x: unknown): Target | undefined {
  if (typeof x === 'object') return x === null ? undefined : Reference.of(x);
  return typeof x === 'function' ? FunctionReference.of(x) : undefined;
}

export const isReference = (x: unknown): boolean => targetOf(x) !== undefined;

/** Never method names: `then` would make a reference look like a promise, the others belong to the language. */
const reserved: ReadonlySet<string> = new Set(['then', 'constructor', '__proto__']);
export const isMethodName = (name: string): boolean => !reserved.has(name);

type ReferenceClass = new (target: Target) => object;

// One stub a name: a reference has no functions of its own, so a million cells share two.
const stubs = new Map<string, (...args: unknown[]) => unknown>();
function stub(method: string): (...args: unknown[]) => unknown {
  let found = stubs.get(method);
  if (found === undefined) {
    // A method, not an arrow: `this` is the reference it was called on.
    found = {
      call(this: object, ...args: unknown[]): unknown {
        const target = targetOf(this);
        if (target === undefined) throw new TypeError(`"${method}" was called without its reference`);
        return dispatch(target, method, args);
      },
    }.call;
    Object.freeze(found);
    stubs.set(method, found);
  }
  return found;
}

/** The class of all references to actors that have these methods; with `others`, whatever further name is asked for is one. */
export function referenceClass(methods: readonly string[], label: string, others = false): ReferenceClass {
  const Made = class extends Reference {
    constructor(target: Target) {
      super(target);
      Object.freeze(this);
    }
  };
  for (const method of methods)
    Object.defineProperty(Made.prototype, method, { value: stub(method), enumerable: false });
  sealed(Made.prototype, tag(label, others ? anyMethod : Object.prototype));
  return Made;
}

// What inspectors and test runners ask of any object: a procedure must not take these for messages.
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

const anyMethod: object = Object.freeze(
  new Proxy(Object.freeze(Object.create(tag('procedure', Object.prototype)) as object), {
    get: (base, name, self) =>
      typeof name === 'string' && !probes.has(name) && !(name in base)
        ? uncachedStub(name)
        : Reflect.get(base, name, self),
  }),
);

// Names come from outside here, so keeping one stub for each would be a leak.
function uncachedStub(method: string): (...args: unknown[]) => unknown {
  return (
    stubs.get(method) ??
    function call(this: object, ...args: unknown[]): unknown {
      const target = targetOf(this);
      if (target === undefined) throw new TypeError(`"${method}" was called without its reference`);
      return dispatch(target, method, args);
    }
  );
}

class ProcedureReference extends Reference {
  constructor(target: Target) {
    super(target);
    Object.freeze(this);
  }
}

/** A reference whose methods are not known beforehand. */
export function procedureReference(target: Target): object {
  return new ProcedureReference(target);
}

sealed(ProcedureReference.prototype, anyMethod);

const functionTag = tag('function', Object.getPrototypeOf(() => {}) as object);

/** A reference that is called without a method name. */
export function functionReference(target: Target): object {
  const self = (...args: unknown[]): unknown => dispatch(target, '', args);
  Object.setPrototypeOf(self, functionTag);
  return Object.freeze(new FunctionReference(self, target));
}
