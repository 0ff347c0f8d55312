/**
 * Sturdyrefs: bearer secrets for references. They are for configuration files and people, never for a model's
 * context.
 *
 * Promise: only a hash is stored, so neither the store nor a memory dump reveals a secret. Unknown and
 * revoked secrets give the same error.
 */
import { CapError } from '../core/errors.ts';
import type { Far } from '../core/types.ts';
import { sha256 } from '../drivers/hash.ts';
import { sturdyrefKey } from '../durable/keys.ts';
import type { ObjectStore } from '../durable/object-store.ts';
import type { OutputCommit } from '../durable/output-commit.ts';

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567';

/**
 * RFC 4648 base32, lower case, without padding. It survives case folding, and a double click selects all of
 * it.
 */
export function base32(bytes: Uint8Array): string {
  let text = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      text += alphabet[(held >>> bits) & 31];
    }
    held &= (1 << bits) - 1;
  }
  return bits > 0 ? text + alphabet[(held << (5 - bits)) & 31] : text;
}

/** 32 random bytes after a prefix that secret scanners recognise. */
export const newSecret = (random: (bytes: number) => Uint8Array): string => `hob1_${base32(random(32))}`;

/** The hash that is stored for a secret. */
export const hashSecret = (secret: string): string => sha256(`hob-secret-v1:${secret}`);

/** The table of references by hash. */
interface SturdyrefTable {
  get(hash: string): Far<unknown> | undefined;
  /** Durable once the promise resolves. */
  set(hash: string, reference: Far<unknown>): Promise<void>;
  delete(hash: string): Promise<void>;
}

/** A table in memory. It ends with the process. */
function memoryTable(): SturdyrefTable {
  const kept = new Map<string, Far<unknown>>();
  return {
    get: (hash) => kept.get(hash),
    set: async (hash, reference) => void kept.set(hash, reference),
    delete: async (hash) => void kept.delete(hash),
  };
}

/** The table in a durable store; undefined without one. */
export function storedTable(
  objectStore: ObjectStore | undefined,
  outputCommit: OutputCommit | undefined,
): SturdyrefTable | undefined {
  if (objectStore === undefined || outputCommit === undefined) return undefined;
  const put = async (hash: string, text: string | undefined): Promise<void> => {
    // The caller may rely on it, so wait until it is on disk.
    await outputCommit.durable(outputCommit.turn(new Map([[sturdyrefKey(hash), text]]), []));
  };
  return {
    get: (hash) => {
      const text = objectStore.get(sturdyrefKey(hash));
      return text === undefined ? undefined : (objectStore.decode(text) as Far<unknown>);
    },
    set: (hash, reference) => put(hash, objectStore.encode(reference)),
    delete: (hash) => put(hash, undefined),
  };
}

export class Sturdyrefs {
  readonly #random: (bytes: number) => Uint8Array;
  readonly #references: SturdyrefTable;

  constructor(random: (bytes: number) => Uint8Array, table: SturdyrefTable = memoryTable()) {
    this.#random = random;
    this.#references = table;
  }

  async make(reference: Far<unknown>): Promise<string> {
    const secret = newSecret(this.#random);
    await this.#references.set(hashSecret(secret), reference);
    return secret;
  }

  find(secret: string): Far<unknown> {
    const found = typeof secret === 'string' ? this.#references.get(hashSecret(secret)) : undefined;
    if (found === undefined)
      throw new CapError('no-such-object', 'this sturdyref is not valid: ask whoever gave it for a new one');
    return found;
  }

  async revoke(secret: string): Promise<void> {
    await this.#references.delete(hashSecret(secret));
  }
}
