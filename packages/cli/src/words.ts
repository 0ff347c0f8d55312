/**
 * The entry for `word-lines.ts`. In a tarball it is a bundle with the names, options and help of all verbs, and without
 * the modules that they load to run (`scripts/pack/bundle.ts`). Only `main.ts` may load it: another module would get a
 * second copy of its modules.
 */
import { runAlone } from './drivers/line.ts';
import { withNewName } from './line/older-names.ts';
import { TABLE, verbsFor } from './table.ts';
import { WORD_VERBS } from './word-lines.ts';

/** Returns the exit code. Undefined if the line runs another verb; then nothing was done. */
export async function run(args: readonly string[]): Promise<number | undefined> {
  // For an older name of a verb the new name is printed first. The modules of all verbs do that.
  if (withNewName(args).told !== undefined) return undefined;
  const isVersion = args.length === 1 && args[0] === '--version';
  const verbs = isVersion ? [await (TABLE['version'] as (typeof TABLE)[string])()] : await verbsFor(args);
  return await runAlone(args, verbs, WORD_VERBS);
}
