/**
 * The passkeys of one granter.
 *
 * Promise: the first one is added by whoever is the granter, and from then on each change needs one that is there. A
 * session cannot reach this. Each change is a line of the ledger.
 */
import { CapError, type Definition, define, E, ledgerLine, wallTime } from '@hob/vat';
import { takeOptions } from '@hob/vat/forwarder';
import type { Initiator } from '../state/c-list.ts';
import { type HostState, powersOf, tablesOf } from '../state/host-state.ts';
import type { HostTables } from '../state/records.ts';
import type { PasskeyChange } from '../webauthn/drivers/checks.ts';
import { isLater, type NewPasskey, type PasskeyProof, type PasskeyRecord } from '../webauthn/proof.ts';

/** A passkey, for its granter. */
export interface Passkey {
  readonly id: string;
  readonly name: string;
  /** When it was added, in ms since 1970. */
  readonly at: number;
}

/** The passkeys of a granter. A page of the host uses it. */
export interface Passkeys {
  list(): readonly Passkey[];
  /**
   * A challenge for one change, good once within five minutes: `new` for the passkey that is made, `add` and
   * `remove` for the proof by one that is there.
   */
  challenge(change: PasskeyChange): Promise<{ readonly challenge: string }>;
  /**
   * Adds a passkey. After the first one it needs a proof by one that is there. Errors: `invalid`, `denied`,
   * `limit`.
   */
  add(made: NewPasskey, proof?: PasskeyProof): Promise<Passkey>;
  /** Removes a passkey. The proof may be its own. Errors: `no-such-object`, `denied`. */
  remove(id: string, proof: PasskeyProof): Promise<void>;
}

const MOST = 20;
const LONGEST_NAME = 60;

const proofParts = { id: true, clientData: true, authenticatorData: true, signature: true } as const;
const newParts = { id: true, publicKey: true, clientData: true, authenticatorData: true, name: true } as const;

/** The passkeys of a granter, as they are stored. */
const passkeysOf = (tables: HostTables, granter: string): readonly PasskeyRecord[] =>
  tables.passkeys.get(granter) ?? [];

/** The proof of a caller, whose parts are texts. Errors: `invalid`. */
export function readProof(given: unknown): PasskeyProof {
  const proof = takeOptions<PasskeyProof>(given as PasskeyProof, 'a proof by a passkey', proofParts);
  return texts(proof, Object.keys(proofParts)) as PasskeyProof;
}

function texts<T extends object>(given: T, parts: readonly string[]): T {
  for (const part of parts)
    if (typeof (given as Readonly<Record<string, unknown>>)[part] !== 'string')
      throw new CapError('invalid', `a passkey has the texts ${parts.join(', ')}`);
  return given;
}

/** In a turn: notes the number of a signature. Errors: `denied` (the number was there before). */
function noteSignature(tables: HostTables, granter: string, id: string, counter: number): void {
  const keys = passkeysOf(tables, granter);
  const key = keys.find((one) => one.id === id);
  if (key === undefined || !isLater(counter, key.counter))
    throw new CapError('denied', 'this signature of the passkey came before another one: sign again, and if that fails, remove the passkey, which may have been copied'); // biome-ignore format: one line
  tables.passkeys.set(granter, keys.map((one) => (one === key ? { ...key, counter } : one)));
} // biome-ignore format: pairs

/** In a turn: checks a proof, and calls `then` in a later turn that has noted it. Errors: `denied`. */
export function afterProof<T>(
  hostState: HostState,
  granter: string,
  proof: PasskeyProof,
  about: { readonly change: PasskeyChange } | { readonly challenge: string },
  then: (tables: HostTables) => T,
): Promise<Awaited<T>> {
  const tables = tablesOf(hostState);
  const checked = E(powersOf(tables)).provedByPasskey(granter, proof, passkeysOf(tables, granter), about);
  return E.when(checked as unknown as Promise<number>, (counter) => {
    const now = tablesOf(hostState);
    noteSignature(now, granter, proof.id, counter);
    return then(now);
  }) as never;
}

const shown = ({ id, name, at }: PasskeyRecord): Passkey => ({ id, name, at });

export const PasskeysActor: Definition<Passkeys, [granter: string, initiator: Initiator, hostState: HostState]> = define(
  'host.passkeys',
  (_bcom, granter, initiator, hostState) => {
    const add = (tables: HostTables, { id, publicKey, name }: NewPasskey, counter: number): Passkey => {
      const keys = passkeysOf(tables, granter);
      if (keys.some((one) => one.id === id)) throw new CapError('invalid', 'this passkey is there already');
      if (keys.length >= MOST) throw new CapError('limit', `a granter has at most ${MOST} passkeys: remove one`);
      const made: PasskeyRecord = { id, publicKey, name, counter, at: wallTime() };
      tables.passkeys.set(granter, [...keys, made]);
      ledgerLine('passkey', { what: 'add', granter, passkey: id, ...initiator });
      return shown(made);
    };
    return {
      list: () => passkeysOf(tablesOf(hostState), granter).map(shown),
      challenge(change) {
        if (!['new', 'add', 'remove'].includes(change)) throw new CapError('invalid', 'a challenge is for new, add or remove'); // biome-ignore format: one line
        const made = E(powersOf(tablesOf(hostState))).passkeyChallenge(granter, change) as unknown as Promise<string>;
        return E.when(made, (challenge) => ({ challenge })) as never;
      },
      add(given, proof) {
        const made = texts(takeOptions<NewPasskey>(given, 'a new passkey', newParts), Object.keys(newParts)) as NewPasskey; // biome-ignore format: one line
        if (made.name.length > LONGEST_NAME) throw new CapError('invalid', `the name of a passkey has at most ${LONGEST_NAME} characters`); // biome-ignore format: one line
        const checked = E(powersOf(tablesOf(hostState))).madePasskey(granter, made) as unknown as Promise<number>;
        return E.when(checked, (counter) => {
          // The proof is asked for in this turn: another passkey may have been added meanwhile.
          const tables = tablesOf(hostState);
          if (passkeysOf(tables, granter).length === 0) return add(tables, made, counter);
          if (proof === undefined) throw new CapError('denied', 'this granter has a passkey: another one is added with a proof by that'); // biome-ignore format: one line
          return afterProof(hostState, granter, readProof(proof), { change: 'add' }, (now) => add(now, made, counter));
        }) as never;
      },
      remove: (id, proof) =>
        afterProof(hostState, granter, readProof(proof), { change: 'remove' }, (tables) => {
          const keys = passkeysOf(tables, granter);
          if (!keys.some((one) => one.id === id)) throw new CapError('no-such-object', 'there is no passkey of that id');
          tables.passkeys.set(granter, keys.filter((one) => one.id !== id));
          ledgerLine('passkey', { what: 'remove', granter, passkey: id, ...initiator });
        }) as never,
    };
  },
); // biome-ignore format: pairs
