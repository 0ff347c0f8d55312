/**
 * The entries of `hob`: parts of its verbs, each with what it loads. In a tarball each is a bundle beside `main.js`
 * (`scripts/pack/bundle.ts`). In a checkout there are no bundles, and an entry is a module.
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
 * This verb is locked down if it reaches a host, before its modules are loaded. A bundle has its own modules, and may run
 * without that before. In a checkout all have the same.
 */
const NEEDS_BUNDLE = 'ledger verify';

/**
 * Loads an entry. `kind`: runs of one kind call the same functions. `home` is the folder of this package. Undefined: the
 * modules of all verbs have to do it.
 */
export async function load<Name extends keyof Entries>(
  name: Name,
  { kind, home }: { readonly kind: string; readonly home: string },
): Promise<Entries[Name] | undefined> {
  const kept = `${home}/node_modules/.compile-cache/${name}-${kind.replace(' ', '-')}`;
  const bundle = loadCompiled(`${home}/dist/${name}.cjs`, kept) as Entries[Name] | undefined;
  return bundle ?? (kind === NEEDS_BUNDLE ? undefined : await ENTRIES[name]());
}
