/**
 * The verbs that load no host, by themselves: an editor, a commit hook or an agent calls them often.
 *
 * All other verbs load a host anyway, so for them the whole table is loaded (`verbs.ts`).
 */
import type { Verb } from './line/verb.ts';

/** Each is the same object as in `verbs.ts`. */
export const QUICK: Readonly<Record<string, () => Promise<Verb>>> = {
  check: async () => (await import('./verbs/manifest/check.ts')).check,
  explain: async () => (await import('./verbs/manifest/explain.ts')).explain,
  import: async () => (await import('./verbs/import.ts')).importVerb,
  mcp: async () => (await import('./verbs/host/mcp.ts')).mcp,
  version: async () => (await import('./verbs/version.ts')).version,
};

/** The verbs among which a command line chooses. */
export async function verbsFor([name = '']: readonly string[]): Promise<readonly Verb[]> {
  const quick = Object.hasOwn(QUICK, name) ? QUICK[name] : undefined;
  return quick === undefined ? (await import('./verbs.ts')).verbs : [await quick()];
}
