/**
 * The file with the key of the secrets.
 *
 * Promise: the key lies outside of the store, in a file that only its owner may read, or comes on a descriptor. While
 * the secrets are put under another key, both keys are on the disk: the next one in a file beside it. So a kill at any
 * moment leaves every secret with its key.
 */
import {
  readDescriptor,
  readPrivate,
  removePrivate,
  replacePrivate,
  writeNewPrivate,
} from '../../drivers/private-file.ts';
import { Mistake } from '../../line/mistake.ts';
import { keyIn, keyText, newSecretsKey, type SecretsKey } from '../../secrets/drivers/seal.ts';
import type { KeyRing } from '../custody.ts';

const WHAT = 'the key of the secrets';

/** `place` is a file, or `fd:N`. Nothing is read before it is needed. */
export function keyRingAt(place: string): KeyRing {
  if (place.startsWith('fd:')) return descriptorRing(place.slice(3));
  const nextPlace = `${place}.next`;
  const read = (path: string): SecretsKey | undefined => {
    const text = readPrivate(path, WHAT);
    return text === undefined ? undefined : (keyIn(text) ?? damaged());
  };
  const made = (path: string): SecretsKey => {
    writeNewPrivate(path, keyText(newSecretsKey()), WHAT);
    return read(path) ?? damaged();
  };
  return {
    find: (id) => [read(place), read(nextPlace)].find((key) => key?.id === id),
    first: () => read(place) ?? made(place),
    next: () => read(nextPlace) ?? made(nextPlace),
    settle(key) {
      replacePrivate(place, keyText(key), WHAT);
      if (read(nextPlace)?.id === key.id) removePrivate(nextPlace);
    },
  };
}

/** The files that no root may hold. */
export const keyFiles = (place: string): readonly string[] => (place.startsWith('fd:') ? [] : [place, `${place}.next`]);

function descriptorRing(number: string): KeyRing {
  // A pipe can be read once.
  let read: SecretsKey | undefined;
  const key = (): SecretsKey => {
    read ??= keyIn(readDescriptor(number, WHAT)) ?? damaged();
    return read;
  };
  const never = (): never => {
    throw new Mistake(
      'a key that comes on a descriptor is changed by the one who gives it: name its file to rotate it',
    );
  };
  return { find: (id) => (key().id === id ? key() : undefined), first: key, next: never, settle: never };
}

function damaged(): never {
  throw new Mistake(`${WHAT} is damaged: restore its file from a copy, or remove the secrets and set them again`);
}
