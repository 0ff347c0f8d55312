/**
 * Checks that this machine can confine programs, before a shell or code is granted.
 *
 * Promise: without a whole sandbox there is neither. The error names the step that fails and the remedy.
 */
import type { Probed } from '@hob/caps-shell';
import { CapError } from '@hob/vat';

/** Resolves if a sandbox can be built here. Throws `unavailable` for `flag` otherwise, with the step that fails and the remedy. */
export async function requireSandbox(flag: string, look: () => Promise<Probed> = probeHere): Promise<void> {
  const { ok, layers } = await look();
  if (ok) return;
  const broken = layers.find((layer) => !layer.ok);
  throw new CapError(
    'unavailable',
    `${flag} needs a sandbox, and none can be built here (${broken?.name}: ${broken?.errno}): ${broken?.remedy}`,
  );
}

/** Loads the sandbox only where it is asked for: most verbs of `hob` start none. */
async function probeHere(): Promise<Probed> {
  const { probe } = await import('@hob/caps-shell');
  return await probe();
}
