/** Finds the granter "owner" of `hob workspace`, or makes it at the first start. */
import type { CapError, Far } from '@hob/vat';
import type { Granter } from '../granters/granter.ts';
import type { Host } from '../types.ts';

interface OwnerGranter {
  readonly granter: Far<Granter>;
  /** Known only when it is new. */
  readonly secret: string | undefined;
}

/**
 * A granter is made only if the store says that there is none. A store that cannot be read says nothing.
 */
export async function enterOwner(
  host: Pick<Host, 'granter' | 'addGranter' | 'renewGranter'>,
  { newSecret }: { readonly newSecret: boolean },
): Promise<OwnerGranter> {
  let granter: Far<Granter>;
  try {
    granter = await host.granter('owner');
  } catch (error) {
    if ((error as CapError).code !== 'no-such-object') throw error;
    return host.addGranter('owner');
  }
  return { granter, secret: newSecret ? (await host.renewGranter('owner')).secret : undefined };
}
