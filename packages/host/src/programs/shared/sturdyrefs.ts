/**
 * The granter's commands for sturdyrefs.
 *
 * Promise: a secret goes to a new file for its user only, or to a terminal, and nowhere else. Where it could not be
 * handed over, none is made.
 */
import type { Terms } from '@hob/revocable';
import { CapError, E, type Far } from '@hob/vat';
import { openSecretFile } from '../../drivers/secrets.ts';
import type { Granter } from '../../granters/granter.ts';
import type { Out } from '../commands.ts';
import { grantLine } from '../listings.ts';

/** Makes a secret and hands it over: nothing is made where it could not be. */
export type SecretTo = (make: () => Promise<string>) => Promise<void>;

/** To the file that was named, or to a terminal: a pipe may lead anywhere. Errors: `invalid`. */
export function secretOutlet(file: string | undefined, isTerminal: boolean, out: Out): SecretTo {
  if (file === undefined && !isTerminal)
    throw new CapError('invalid', 'a secret is shown on a terminal only: name a new file for it with --secret-to FILE');
  return async (make) => {
    if (file === undefined) return out(await make());
    const outlet = openSecretFile(file);
    let secret: string;
    try {
      secret = await make();
    } catch (error) {
      outlet.abandon();
      throw error;
    }
    outlet.write(secret);
  };
}

/** A cap that a session holds, as a sturdyref on these terms. */
export interface Minting {
  readonly session: string;
  readonly petname: string;
  readonly terms: Terms;
}

/** Makes a sturdyref. Returns the id of its grant. */
export async function mintSturdyref(
  granter: Far<Granter>,
  { session, petname, terms }: Minting,
  secretTo: SecretTo,
  out: Out,
): Promise<string> {
  let id = '';
  await secretTo(async () => {
    const { grant, sturdyref } = await E(granter).mint(session, petname, terms);
    id = grant.id;
    out(grantLine(grant));
    return sturdyref;
  });
  return id;
}

/** Makes a new secret for one. */
export const rotateSturdyref = (granter: Far<Granter>, id: string, secretTo: SecretTo): Promise<void> =>
  secretTo(async () => (await E(granter).rotate(id)).sturdyref);
