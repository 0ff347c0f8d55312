/** Where a verb puts a secret that it makes: a new file, or a terminal. */
import type { SecretTo } from '@hob/host/programs';
import { type Given, type Output, textOf, type VerbOption } from '../line/verb.ts';

/** The option of it. */
export const SECRET_TO: VerbOption = {
  flags: '--secret-to <file>',
  about: 'writes the secret to a new file that only you may read (default: shows it, on a terminal only)',
};

/** Read before anything is asked of the host: no secret is made that could not be handed over. */
export async function outletOf(given: Given, { line, isTerminal, isJson }: Output): Promise<SecretTo> {
  const { secretOutlet } = await import('@hob/host/programs');
  const { absolute } = await import('../drivers/places.ts');
  const file = textOf(given, 'secretTo');
  return secretOutlet(file === undefined ? undefined : absolute(file), isTerminal && !isJson, line);
}
