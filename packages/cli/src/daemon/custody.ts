/**
 * Keeps secrets: their values are in the store, encrypted by a key outside of it.
 *
 * Promise: the store and its backups have ciphertext only, and names. A secret that is set is on the disk when this
 * returns. All secrets of a state are under one key; a change that was made under another one is refused and tried
 * again, so no secret is left under a key that is gone.
 */
import type { KeptChange, KeptTexts } from '@hob/host';
import { Mistake } from '../line/mistake.ts';
import { type SecretsKey, seal, unseal } from '../secrets/drivers/seal.ts';

/** The part of a state that keeps sealed texts. */
export interface SecretStore {
  read(): Promise<KeptTexts>;
  change(change: StoreChange): Promise<KeptTexts>;
}
export type StoreChange = Omit<KeptChange, 'by' | 'surface'>;

/** The keys of a state: the one in use, and during a rotation the next one. */
export interface KeyRing {
  /** The key of that id, if it is here. Errors: `Mistake`. */
  find(id: string): SecretsKey | undefined;
  /** The key in use. It is made if there is none. Errors: `Mistake`. */
  first(): SecretsKey;
  /** The key that is to be used next. It is made if there is none. Errors: `Mistake`. */
  next(): SecretsKey;
  /** From now on this key is the one in use, and no other is needed. */
  settle(key: SecretsKey): void;
}

/** A secret as a list shows it. */
interface SecretRow {
  readonly name: string;
  /** The id of its key. It does not tell the key. */
  readonly key: string;
  /** Its key is here. */
  readonly opens: boolean;
}

const TRIES = 5;

/** The key of these secrets. Errors: `Mistake`. */
function keyOf(ring: KeyRing, under: string): SecretsKey {
  const key = ring.find(under);
  if (key === undefined)
    throw new Mistake(`the key ${under} of the secrets is not there: restore its file, or name its place with --secrets-key. Without it the secrets cannot be opened: remove them with hob secret remove, and set them again`); // biome-ignore format: one line
  return key;
}

/** Errors: `Mistake`, and those of the host. */
export async function setSecret(store: SecretStore, ring: KeyRing, name: string, value: string): Promise<void> {
  await again(async () => {
    const { under: was } = await store.read();
    const key = was === undefined ? ring.first() : keyOf(ring, was);
    await store.change({ what: 'set', set: { [name]: seal(key, name, value) }, was, under: key.id });
  });
}

/** Needs no key. Errors: `Mistake`, and those of the host. */
export async function removeSecret(store: SecretStore, name: string): Promise<void> {
  await again(async () => {
    const { under: was, texts } = await store.read();
    if (!Object.hasOwn(texts, name)) throw new Mistake(`there is no secret ${name}: hob secret list shows them`);
    const isLast = Object.keys(texts).length === 1;
    await store.change({ what: 'remove', remove: [name], was, under: isLast ? undefined : was });
  });
}

/** Never a value, nor its length. */
export async function listSecrets(store: SecretStore, ring: KeyRing): Promise<readonly SecretRow[]> {
  const { under, texts } = await store.read();
  const key = under === undefined ? undefined : ring.find(under);
  const rows = Object.entries(texts).map(([name, text]) => ({
    name,
    key: under ?? '',
    opens: canOpen(key, name, text),
  }));
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function canOpen(key: SecretsKey | undefined, name: string, text: string): boolean {
  try {
    if (key !== undefined) unseal(key, name, text);
    return key !== undefined;
  } catch {
    return false;
  }
}

/** Puts all secrets under a new key. Returns its id, and how many there are. Errors: `Mistake`, and those of the host. */
export async function rotateSecrets(
  store: SecretStore,
  ring: KeyRing,
): Promise<{ readonly key: string; readonly count: number }> {
  return await again(async () => {
    const { under: was, texts } = await store.read();
    if (was === undefined) throw new Mistake('there is no secret yet, and so no key to change: hob secret set NAME');
    const old = keyOf(ring, was);
    const found = ring.next();
    // A rotation before this one was killed after the secrets were put under it.
    if (found.id === was) ring.settle(found);
    const key = found.id === was ? ring.next() : found;
    const set = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, seal(key, name, unseal(old, name, text))])); // biome-ignore format: one line
    await store.change({ what: 'rotate', set, was, under: key.id });
    ring.settle(key);
    return { key: key.id, count: Object.keys(set).length };
  });
}

/** The values by name. Those that cannot be opened are named apart. */
export async function openSecrets(
  store: SecretStore,
  ring: KeyRing,
): Promise<{ readonly values: ReadonlyMap<string, string>; readonly closed: readonly string[] }> {
  const { under, texts } = await store.read();
  const values = new Map<string, string>();
  const closed: string[] = [];
  if (under === undefined) return { values, closed };
  const key = ring.find(under);
  for (const [name, text] of Object.entries(texts))
    if (key !== undefined && canOpen(key, name, text)) values.set(name, unseal(key, name, text));
    else closed.push(name);
  return { values, closed };
}

/** Somebody else may change the key in between. */
async function again<R>(act: () => Promise<R>): Promise<R> {
  for (let n = 1; ; n += 1)
    try {
      return await act();
    } catch (error) {
      if ((error as { readonly code?: string }).code !== 'STALE' || n === TRIES) throw error;
    }
}
