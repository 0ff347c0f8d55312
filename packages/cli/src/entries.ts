/**
 * The entries of `hob`: each has some of the verbs. In a tarball each is a bundle beside `main.js`, with all that it
 * needs (`scripts/pack/bundle.ts`). In a checkout there are no bundles, and an entry is a module.
 */
import { loadCompiled } from './drivers/compiled.ts';

/** The entries, by name. */
interface Entries {
  readonly words: typeof import('./words.ts');
  readonly data: typeof import('./data.ts');
  readonly client: typeof import('./client.ts');
}

const ENTRIES: { readonly [Name in keyof Entries]: () => Promise<Entries[Name]> } = {
  words: async () => await import('./words.ts'),
  data: async () => await import('./data.ts'),
  client: async () => await import('./client.ts'),
};

/**
 * This verb uses its entry only as a bundle. If it reaches a host, the process must be locked down before `@hob/vat` is
 * loaded. A bundle has its own copy of that package. In a checkout the entry would load the package itself, too early.
 */
const NEEDS_BUNDLE = 'ledger verify';

/**
 * Loads an entry. Runs of the same `kind` call the same functions, so each kind has its own compiled form. `home` is
 * the folder of this package. Returns undefined if the line has to run from the modules of all verbs.
 */
export async function load<Name extends keyof Entries>(
  name: Name,
  { kind, home }: { readonly kind: string; readonly home: string },
): Promise<Entries[Name] | undefined> {
  const kept = `${home}/node_modules/.compile-cache/${name}-${kind.replace(' ', '-')}`;
  const bundle = loadCompiled(`${home}/dist/${name}.cjs`, kept) as Entries[Name] | undefined;
  return bundle ?? (kind === NEEDS_BUNDLE ? undefined : await ENTRIES[name]());
}
