/**
 * The sealed secrets of a state: through the host that serves it, or in the state itself while nobody has it open.
 *
 * Promise: no value leaves the process of the verb. The host that serves a state gets ciphertext.
 */

import { existsSync } from 'node:fs';
import { type KeptTexts, openHost, sentinelHome } from '@hob/host';
import { granterSocket, holderOf } from '@hob/host/client';
import { isState, openStateDir } from '@hob/host/programs';
import { E } from '@hob/vat';
import { stateOf } from '../../drivers/places.ts';
import { storeOf } from '../../drivers/store-file.ts';
import { Mistake } from '../../line/mistake.ts';
import type { Given } from '../../line/verb.ts';
import type { SecretStore } from '../custody.ts';
import { definitions } from '../served/definitions.ts';
import { withDaemon } from './client.ts';

/** `make`: a state that is missing is made. Errors: `Mistake`, those of a host, those of `act`. */
export async function withSecretStore<R>(
  given: Given,
  act: (store: SecretStore) => Promise<R>,
  { make = false }: { readonly make?: boolean } = {},
): Promise<R> {
  const state = stateOf(given);
  const named = storeOf(given);
  if (!make && named === undefined && (!existsSync(state) || !isState(state)))
    throw new Mistake('there is no state of a host, and so no secret: hob secret set makes one, and --state names another'); // biome-ignore format: one line
  const holder = existsSync(state) ? holderOf(state) : 'nobody';
  if (holder !== 'nobody' && existsSync(granterSocket(state).path))
    return await withDaemon(given, ({ daemon }) =>
      act({
        read: async () => (await E(daemon).secrets()) as KeptTexts,
        change: async (change) => (await E(daemon).changeSecrets(change)) as KeptTexts,
      }),
    );
  if (holder !== 'nobody')
    throw new Mistake(`process ${holder.pid ?? '?'} has this state and is no hob serve: end it first`);
  openStateDir(state);
  const sentinel = sentinelHome();
  const opened = sentinel === undefined ? {} : { sentinel };
  const place = named === undefined ? opened : { store: await named.open(opened) };
  await using host = await openHost({ stateDir: state, definitions, ...place });
  return await act({
    read: () => host.kept(),
    change: (change) => host.kept({ ...change, by: 'owner', surface: 'program' }),
  });
}
