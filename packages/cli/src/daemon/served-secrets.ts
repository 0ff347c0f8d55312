/**
 * The secrets of the state that a host serves.
 *
 * Promise: the host's own log has no value of a secret that can be opened. After a change the new values hold at once.
 */
import { type Blanker, blankerOf } from '@hob/caps-net/secret';
import type { Host } from '@hob/host';

import { type KeyRing, openSecrets, type SecretStore } from './custody.ts';

/** Secrets of a host. */
interface ServedSecrets {
  readonly store: SecretStore;
  /** Reads them. */
  open(): Promise<void>;
  blanker(): Blanker;
  /** The value of a secret; undefined if there is none that can be opened. */
  value(name: string): string | undefined;
}

/** `say` gets the names of secrets that cannot be opened. */
export function servedSecrets(host: Pick<Host, 'kept'>, ring: KeyRing, say: (line: string) => void): ServedSecrets {
  let now = blankerOf([]);
  let known: ReadonlyMap<string, string> = new Map();
  const store: SecretStore = {
    read: () => host.kept(),
    change: async (change) => {
      const kept = await host.kept({ ...change, by: 'owner', surface: 'socket' });
      await open();
      return kept;
    },
  };
  const open = async (): Promise<void> => {
    try {
      const { values, closed } = await openSecrets(store, ring);
      now = blankerOf(values.values());
      known = values;
      if (closed.length > 0) say(`hob: these secrets cannot be opened: ${closed.join(', ')}. Their key is not there: hob secret list`); // biome-ignore format: one line
    } catch (error) {
      say(`hob: the secrets cannot be opened: ${(error as Error).message}`);
    }
  };
  return { store, open, blanker: () => now, value: (name) => known.get(name) };
}
