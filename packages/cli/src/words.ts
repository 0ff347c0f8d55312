/**
 * The entry for `word-lines.ts`. In a tarball it is a bundle with what all verbs say of themselves, and nothing that
 * they load to run (`scripts/pack/bundle.ts`). Only `main.ts` may load it: another module would get a second copy of
 * what is in it.
 */
import { runAlone } from './drivers/line.ts';
import { withNewName } from './line/older-names.ts';
import { TABLE, verbsFor } from './table.ts';
import { WORD_VERBS } from './word-lines.ts';

/** Returns the exit code. Undefined: nothing was done, since the line runs another verb. */
export async function run(args: readonly string[]): Promise<number | undefined> {
  // Whoever writes an older name of a verb is told the new one first.
  if (withNewName(args).told !== undefined) return undefined;
  const isVersion = args.length === 1 && args[0] === '--version';
  const verbs = isVersion ? [await (TABLE['version'] as (typeof TABLE)[string])()] : await verbsFor(args);
  return await runAlone(args, verbs, WORD_VERBS);
}
