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

/** The first words of the verbs of two words. */
export const GROUPS: readonly string[] = ['assess', 'cluster', 'granter', 'ledger', 'secret', 'sturdyref'];

/**
 * Puts `--help` in place of the other ways to ask for help: `hob help VERB`, `hob -h` and `hob VERB -h`. After
 * `hob start PROGRAM` an option belongs to that program, and the program would run. So `hob help` leaves out what
 * follows the verb, and a `-h` after more words than a verb has stays as it is.
 */
export function withHelp(args: readonly string[]): readonly string[] {
  const words = args[0] === 'help' ? args.slice(1) : args;
  const most = GROUPS.includes(words[0] ?? '') ? 2 : 1;
  if (words !== args) return [...words.slice(0, most), '--help'];
  return args.at(-1) === '-h' && args.length <= most + 1 ? [...args.slice(0, -1), '--help'] : args;
}
