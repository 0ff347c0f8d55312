/**
 * The command lines that ask for words of `hob` itself: help, versions, completion. People, shells and agents call them
 * often, so in a tarball they are a bundle (`words.ts`).
 */

/** The verbs that print what is written in the program, and nothing else. */
export const WORD_VERBS = ['completion', 'version'] as const;

/** Returns which words a command line may ask for. It does not if an operand of another verb is `--help`. */
export function wordOf(args: readonly string[]): (typeof WORD_VERBS)[number] | 'help' | undefined {
  const [word = '-'] = args;
  if (word === '--version') return 'version';
  if (word.startsWith('-') || args.includes('--help')) return 'help';
  return WORD_VERBS.find((verb) => verb === word);
}
