/**
 * The entry for `data-verbs.ts`. In a tarball it is a bundle with everything that these verbs need, because finding and
 * reading 230 modules took most of their time (`scripts/pack/bundle.ts`). Only `main.ts` may load it: another module
 * would get a second copy of its modules.
 */
import { DATA, dataVerb } from './data-verbs.ts';
import { runAlone } from './drivers/line.ts';

/** Returns the exit code. Undefined if the line needs a host; then nothing was done. */
export async function run(args: readonly string[]): Promise<number | undefined> {
  return await runAlone(args, [await DATA[dataVerb(args) ?? 'check']()], Object.keys(DATA));
}
