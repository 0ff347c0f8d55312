/**
 * The few things that Node knows and the language does not, with the closest that a browser offers.
 *
 * Promise: no import of Node stands here or in any file below `@hob/vat/peer`, so a browser loads them as
 * they are. In Node, Node decides.
 *
 * A browser cannot tell a Proxy from its target. There, a Proxy that a program passes learns that it is being
 * copied; nothing else changes, because the copy is frozen plain data as always. A peer runs only its own
 * program's code, so that program is the only one that could be observed.
 */
const node = typeof process === 'undefined' ? undefined : process.getBuiltinModule?.('node:util').types;
const NodeBuffer = typeof Buffer === 'undefined' ? undefined : Buffer;

/** Checks of what an object is that run no code of the object. */
interface ObjectKinds {
  isProxy(value: unknown): boolean;
  isPromise(value: unknown): value is Promise<unknown>;
  isNativeError(value: unknown): value is Error;
  isUint8Array(value: unknown): value is Uint8Array;
  isArrayBuffer(value: unknown): value is ArrayBuffer;
}

const getterOf = (prototype: object, name: PropertyKey): (() => unknown) =>
  Object.getOwnPropertyDescriptor(prototype, name)?.get as () => unknown;
const typedArrayName = getterOf(Object.getPrototypeOf(Uint8Array.prototype) as object, Symbol.toStringTag);
const bufferLength = getterOf(ArrayBuffer.prototype, 'byteLength');

/** For an engine without Node. Exported so that a test can compare it with Node's. */
export const portableKinds: ObjectKinds = {
  isProxy: () => false,
  isPromise: (value) => value instanceof Promise,
  isNativeError: (value): value is Error => value instanceof Error,
  // The getters read an internal slot, so an object that only claims to be one is found out.
  isUint8Array: (value): value is Uint8Array => Reflect.apply(typedArrayName, value, []) === 'Uint8Array',
  isArrayBuffer(value): value is ArrayBuffer {
    try {
      Reflect.apply(bufferLength, value, []);
      return true;
    } catch {
      return false;
    }
  },
};

export const types: ObjectKinds = node ?? portableKinds;

/** The number of bytes of a text in UTF-8. Half of a surrogate pair counts as 3. */
export const utf8Length = (text: string): number =>
  NodeBuffer === undefined ? new TextEncoder().encode(text).length : NodeBuffer.byteLength(text);

/** Base64 with padding. */
export const toBase64 = (bytes: Uint8Array): string =>
  NodeBuffer === undefined
    ? portableBase64.to(bytes)
    : NodeBuffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64');

/**
 * The bytes of a base64 text. Padding may be missing, and base64url is understood too. A last character that
 * is no whole byte is dropped. The caller checks that the text has no other characters.
 */
export const fromBase64 = (text: string): Uint8Array =>
  NodeBuffer === undefined ? portableBase64.from(text) : new Uint8Array(NodeBuffer.from(text, 'base64'));

/** For an engine without Node. Exported so that a test can compare it with Node's. */
export const portableBase64 = {
  to(bytes: Uint8Array): string {
    let text = '';
    // In parts, because each byte is an argument of the call and the stack is limited.
    for (let at = 0; at < bytes.length; at += 8192) text += String.fromCharCode(...bytes.subarray(at, at + 8192));
    return btoa(text);
  },
  from(text: string): Uint8Array {
    const plain = text.replaceAll('-', '+').replaceAll('_', '/').replace(/=+$/, '');
    const whole = plain.length % 4 === 1 ? plain.slice(0, -1) : plain;
    return Uint8Array.from(atob(whole), (char) => char.charCodeAt(0));
  },
};

/** Bytes as lower-case hex digits. */
export const toHex = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
