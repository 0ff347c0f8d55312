/**
 * The driver that gives the actors of a host what they cannot have in a turn: random numbers, connections,
 * waiting requests and the ledger.
 */
import { CapError, driver, type Store, verifyLedger } from '@hob/vat';
import { base32, hashSecret, newSecret } from '@hob/vat/forwarder';
import type { GranterChanges } from './granters/changes.ts';
import type { GranterLedger } from './granters/ledger-reader.ts';
import { hashObjectId } from './sharing/urls.ts';
import type { HostPowers, RequestNotice, SuggestedChange } from './state/host-powers.ts';
import type { RequestWaiters } from './state/waiters.ts';
import type { PasskeyChecks } from './webauthn/drivers/checks.ts';

interface PowersOfProcess {
  readonly driverTag: string;
  readonly random: (bytes: number) => Uint8Array;
  readonly store: Store;
  readonly waiters: RequestWaiters;
  readonly ledger: GranterLedger;
  readonly changes: GranterChanges;
  filed(notice: RequestNotice): void;
  suggested(granter: string): Promise<SuggestedChange | undefined>;
  pageCode(granter: string): string;
  readonly passkeys: PasskeyChecks;
  disconnect(callers: readonly string[]): void;
  disconnectEnded(): Promise<void>;
}

export function hostPowers(of: PowersOfProcess): object {
  const { driverTag, random, store, waiters, ledger, changes, filed, suggested, pageCode, passkeys, disconnect, disconnectEnded } = of; // biome-ignore format: one line
  return driver<HostPowers>(
    {
      secret: () => {
        const secret = newSecret(random);
        return { secret, hash: hashSecret(secret) };
      },
      objectId: () => {
        const id = base32(random(32));
        return { id, hash: hashObjectId(id) };
      },
      disconnect: ([callers]) => disconnect(callers),
      disconnectEnded: () => disconnectEnded(),
      lines: ([granter, from]) => ledger.lines(granter, from),
      verify: ([against]) => verifyLedger(store, against === undefined ? {} : { against }),
      wait: ([request, asker, target], call) => waiters.wait(request, asker, target, call),
      filed: ([notice]) => filed(notice),
      pageCode: async ([granter]) => pageCode(granter),
      passkeyChallenge: async ([granter, change]) => passkeys.challenge(granter, change),
      madePasskey: async ([granter, made]) => passkeys.made(granter, made),
      provedByPasskey: async ([granter, proof, keys, about]) => passkeys.proved(granter, proof, keys, about),
      suggested: ([granter]) =>
        suggested(granter).catch(() => {
          throw new CapError('unavailable', 'the program of this host could not make a proposal: ask again later');
        }),
      changed: ([granters]) => changes.changed(granters),
      nextChange: ([granter, since], call) => changes.next(granter, since, call),
      decide: ([request, outcome]) => waiters.decide(request, outcome),
      waiting: ([requests]) => waiters.waiting(requests),
      targetOf: ([request]) => waiters.targetOf(request),
      callingGrants: (_args, { cause }) => cause,
    },
    {
      name: `hob-host:${driverTag}`,
      // `waiting` and `targetOf` are not reads: a read would overtake the `wait` that it asks about.
      reads: ['secret', 'objectId', 'lines', 'verify', 'callingGrants'],
    },
  );
}
