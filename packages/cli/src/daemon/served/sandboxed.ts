/**
 * Refuses a manifest whose programs could not run. Commands and shells need a sandbox. Without this check the person
 * would learn only at the first call that there is none.
 */
import { requireSandbox } from '@hob/host/programs';
import type { Plan } from '@hob/manifest';

/** Errors: `unavailable`, with the cap, the step of the sandbox that fails and the remedy. */
export async function checkSandbox(
  { caps }: Pick<Plan, 'caps'>,
  look?: Parameters<typeof requireSandbox>[1],
): Promise<void> {
  const program = Object.values(caps).find(({ kind }) => kind === 'command' || kind === 'shell');
  if (program !== undefined) await requireSandbox(`the cap ${program.name}`, look);
}
