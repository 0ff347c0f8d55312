/**
 * The command lines that only print texts of `hob` itself: help, version, completion. People, shells and agents call
 * them often, so in a tarball they are a bundle (`words.ts`).
 */

/** The verbs that only print texts of the program. */
export const WORD_VERBS = ['completion', 'version'] as const;

/** Returns which text a command line seems to ask for. `words.ts` finds out if `--help` belongs to an agent. */
export function wordOf(args: readonly string[]): (typeof WORD_VERBS)[number] | 'help' | undefined {
  const [word = '-'] = args;
  if (word === '--version') return 'version';
  if (word.startsWith('-') || args.includes('--help')) return 'help';
  return WORD_VERBS.find((verb) => verb === word);
}
