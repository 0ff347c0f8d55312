/**
 * Compares arguments, results and errors as data.
 *
 * Promise: equal data has one digest, whatever the order of its keys. Other data has another one. What is not data has
 * none: it is equal to nothing.
 */
import { CapError, isReference } from '@hob/vat';
import { canonicalText, sha256 } from '@hob/vat/forwarder';

const noFields: readonly string[] = Object.freeze([]);

/** A short text for data, or undefined. Fields of records that `volatile` names are left out, at any depth. */
export function digestOf(value: unknown, volatile: readonly string[] = noFields): string | undefined {
  try {
    return sha256(canonicalText(plain(value, volatile))).slice(0, 22);
  } catch (error) {
    if (error instanceof CapError) return undefined;
    throw error;
  }
}

/** A short text for an error: its code, and what it says. */
export function errorDigest(error: unknown): string {
  const { code, message } = (error ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  return sha256(JSON.stringify([String(code), String(message)])).slice(0, 22);
}

/** Bytes as their own digest, because their text would be long. Records without the volatile fields. */
function plain(value: unknown, volatile: readonly string[]): unknown {
  if (typeof value !== 'object' || value === null || isReference(value) || value instanceof Promise) return value;
  if (value instanceof Uint8Array) return { bytes: sha256(value), '': value.length };
  if (Array.isArray(value)) return value.map((item) => plain(item, volatile));
  if (value instanceof Error) return { error: errorDigest(value), '': 0 };
  const kept = Object.entries(value).filter(([name]) => !volatile.includes(name));
  return Object.fromEntries(kept.map(([name, item]) => [name, plain(item, volatile)]));
}
