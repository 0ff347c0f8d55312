/**
 * Bytes that a driver hands over instead of having them copied, such as parts of a file.
 *
 * Promise: the driver keeps no access to the bytes. Their memory is moved out of the buffer, and every view
 * of that buffer becomes empty, so nobody can change the bytes on their way. Memory that cannot be moved is
 * copied: a part of a buffer, and shared or resizable memory.
 */
import { types } from './drivers/platform.ts';

const given = new WeakSet<object>();

/** Marks the result of a driver's method to be taken over. Do not use the bytes afterwards. Returns them. */
export function handOver(bytes: Uint8Array): Uint8Array {
  given.add(bytes);
  return bytes;
}

type Getter<T> = (this: object) => T;
const getter = <T>(object: object, name: string): Getter<T> =>
  Object.getOwnPropertyDescriptor(object, name)?.get as Getter<T>;
const typedArray = Object.getPrototypeOf(Uint8Array.prototype) as object;
const bufferOf = getter<object>(typedArray, 'buffer');
const lengthOf = getter<number>(typedArray, 'byteLength');
const wholeOf = getter<number>(ArrayBuffer.prototype, 'byteLength');
const resizable = getter<boolean>(ArrayBuffer.prototype, 'resizable');
const { transfer } = ArrayBuffer.prototype;

/** Releases the memory of bytes that were taken over. Their only view becomes empty. */
export function free(bytes: Uint8Array): void {
  Reflect.apply(transfer, bytes.buffer, [0]);
}

/**
 * Moves the memory of `value` into a new view. Returns undefined if it was not handed over or cannot be
 * moved.
 */
export function takenOver(value: unknown): Uint8Array | undefined {
  if (typeof value !== 'object' || value === null || !given.delete(value)) return undefined;
  if (types.isProxy(value) || !types.isUint8Array(value)) return undefined;
  // Read from internal slots, so that no code of the driver decides the length.
  const buffer = Reflect.apply(bufferOf, value, []);
  if (!types.isArrayBuffer(buffer) || Reflect.apply(resizable, buffer, [])) return undefined;
  const length = Reflect.apply(lengthOf, value, []);
  // A view of only a part cannot be moved: others may still use the rest of the buffer.
  if (length === 0 || length !== Reflect.apply(wholeOf, buffer, [])) return undefined;
  try {
    return new Uint8Array(Reflect.apply(transfer, buffer, []) as ArrayBuffer);
  } catch {
    // WebAssembly memory cannot be transferred.
    return undefined;
  }
}
