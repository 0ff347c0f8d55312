/**
 * Brings stored arguments of an older version of a definition to the version of today.
 *
 * Promise: `upgrade[n]` leads from version `n` straight to today's; `migrations[n]` leads from version `n - 1` to
 * `n`, and they run one after another. An actor of a version from which no way leads is refused when the store
 * opens. After `migrations` of Goblins' `define-actor`.
 */
import { CapError } from '../core/errors.ts';
import type { ActorKind } from '../core/kind.ts';

/** The stored arguments as today's version has them, checked: a store is outside input. */
export function upgraded(kind: ActorKind, version: number, stored: unknown): readonly unknown[] {
  const steps = kind.stepsFrom(version);
  if (steps === undefined)
    throw new CapError(
      'invalid',
      `${kind.label} has no upgrade[${version}], and the store holds one of that version: add it`,
    );
  let args = stored;
  for (const step of steps) args = isArguments(kind, args) ? step(...args) : args;
  if (isArguments(kind, args) && kind.options.shape?.(args) !== false) return args;
  throw new CapError(
    'invalid',
    `the store holds arguments of ${kind.label} that its shape does not allow: restore it from a backup`,
  );
}

function isArguments(kind: ActorKind, args: unknown): args is readonly unknown[] {
  if (Array.isArray(args)) return true;
  throw new CapError('invalid', `an upgrade or a migration of ${kind.label} returned no list of arguments: return one`);
}
