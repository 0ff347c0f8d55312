/**
 * Bytes that a driver gives away instead of having them copied: parts of a file, fresh for each answer.
 *
 * Promise: whoever held them holds nothing afterwards (the memory is moved out of the buffer, and every view of that is empty), so
 * nobody can change what is on its way. What cannot be moved is copied as ever: a part of a buffer, shared or resizable memory.
 */
import { types } from 'node:util';

const given = new WeakSet<object>();

/** As the answer of a driver's method these bytes are taken over: do not use them again. Answers them, for `return handOver(bytes)`. */
export function handOver(bytes: Uint8Array): Uint8Array {
  given.add(bytes);
  return bytes;
}

type Getter<T> = (this: object) => T;
const getter = <T>(of: object, name: string): Getter<T> => Object.getOwnPropertyDescriptor(of, name)?.get as Getter<T>;
const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const bufferOf = getter<object>(typedArray, 'buffer');
const lengthOf = getter<number>(typedArray, 'byteLength');
const wholeOf = getter<number>(ArrayBuffer.prototype, 'byteLength');
const resizable = getter<boolean>(ArrayBuffer.prototype, 'resizable');
const { transfer } = ArrayBuffer.prototype;

/** Gives the memory of bytes that were taken over back to the system: their view, and there is only that one, is empty. */
export function free(bytes: Uint8Array): void {
  Reflect.apply(transfer, bytes.buffer, [0]);
}

/** The memory of `value`, in a view that nobody else has; undefined where it was not given, or cannot be moved. */
export function takenOver(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'object' || value === null || !given.delete(value)) return undefined;
  if (types.isProxy(value) || !types.isUint8Array(value)) return undefined;
  // From their internal slots: nobody's code says how long they are.
  const buffer = Reflect.apply(bufferOf, value, []);
  if (!types.isArrayBuffer(buffer) || Reflect.apply(resizable, buffer, [])) return undefined;
  const length = Reflect.apply(lengthOf, value, []);
  // Of a part nothing is known: others may hold the rest, and mean to keep it.
  if (length === 0 || length !== Reflect.apply(wholeOf, buffer, [])) return undefined;
  try {
    return new Uint8Array(Reflect.apply(transfer, buffer, []) as ArrayBuffer);
  } catch {
    // Memory of WebAssembly stays where it is.
    return undefined;
  }
}
