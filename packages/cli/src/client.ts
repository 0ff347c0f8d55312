/**
 * The entry for `client-verbs.ts`. In a tarball it is a bundle with everything that these verbs need
 * (`scripts/pack/bundle.ts`). Only `main.ts` may load it: another module would get a second copy of its modules.
 */
import { CLIENT, clientVerb } from './client-verbs.ts';
import { runLine } from './drivers/line.ts';

/** Returns the exit code. */
export async function run(args: readonly string[]): Promise<number> {
  return await runLine(args, [await CLIENT[clientVerb(args) ?? 'status']()]);
}
