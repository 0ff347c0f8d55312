/**
 * Names for texts that nobody may guess from them, such as paths.
 *
 * Names of offers are told to agents. A plain hash of a path would let an agent try paths until one fits. So the
 * hash has a key of this state, which never leaves the store.
 */
import { hashSecret } from '@hob/vat/forwarder';
import type { HostTables } from './records.ts';

/** In a turn, once for each state. */
export function keepNameKey(tables: HostTables, key: string): void {
  if (!tables.facts.has('name-key')) tables.facts.set('name-key', key);
}

/**
 * In a turn: the name of `text` in this state, which is the same at each start. Earlier versions had no key. A
 * state that knows an offer by such a name keeps it, so that its grants go on.
 */
export function localName(tables: HostTables, kind: string, text: string): string {
  const plain = `${kind}-${letters(text)}`;
  return tables.offers.has(plain) ? plain : `${kind}-${letters(`${tables.facts.get('name-key')} ${text}`)}`;
}

const letters = (text: string): string =>
  hashSecret(text)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
    .slice(0, 12);
