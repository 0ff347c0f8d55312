/**
 * Refuses a manifest whose programs could not run: without a sandbox there are no commands and no shells, and a host
 * that served them would say so at the first call only.
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
