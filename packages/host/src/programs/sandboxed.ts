/**
 * Whether this machine can confine programs, asked before a shell is offered.
 *
 * Promise: where a whole sandbox cannot be built there is no shell, and it is said which step fails and what helps.
 */
import { type Probed, probe } from '@hob/caps-shell';
import { CapError } from '@hob/vat';

export async function requireSandbox(look: () => Promise<Probed> = probe): Promise<void> {
  const { ok, layers } = await look();
  if (ok) return;
  const broken = layers.find((layer) => !layer.ok);
  throw new CapError(
    'unavailable',
    `--shell needs a sandbox, and none can be built here (${broken?.name}: ${broken?.errno}): ${broken?.remedy}`,
  );
}
