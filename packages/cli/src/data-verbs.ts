/**
 * The verbs that only read files. Editors, commit hooks and agents call them often, so in a tarball they are a bundle
 * (`data.ts`). No verb reaches a host from it.
 */
import type { Verb } from './line/verb.ts';

/** The loader of each of these verbs, by the name of the verb. */
export const DATA = {
  check: async (): Promise<Verb> => (await import('./verbs/manifest/check.ts')).check,
  explain: async (): Promise<Verb> => (await import('./verbs/manifest/explain.ts')).explain,
  'ledger verify': async (): Promise<Verb> => (await import('./verbs/granter/ledger-verify.ts')).ledgerVerify,
};
type DataVerb = keyof typeof DATA;

/** Returns the verb of these that a command line names, if any. Undefined for a ledger with `--store` or `--url`. */
export function dataVerb(args: readonly string[]): DataVerb | undefined {
  const [word = '', next] = args;
  if (word === 'ledger')
    return next === 'verify' && !args.some((each) => /^--(?:store|url)(?:=|$)/.test(each))
      ? 'ledger verify'
      : undefined;
  // `hob 'ledger verify'` is one word, and not a verb.
  return Object.hasOwn(DATA, word) && !word.includes(' ') ? (word as DataVerb) : undefined;
}
