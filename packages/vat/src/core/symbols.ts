/**
 * Symbols as data: registered ones (`Symbol.for`), those of the language (`Symbol.iterator`), and those whose name only a peer uses.
 *
 * Promise: a peer adds nothing to the engine's registry, which belongs to the whole process and never lets go of a name. A name that
 * comes over a wire means the registered symbol if this program has passed that symbol itself. Otherwise it gets a symbol that is not
 * registered: the same one for as long as anybody here holds it, with the same name wherever it is sent.
 */

/** Names of registered symbols that this program has passed. */
const ours = new Set<string>();
/** Symbols of names that only peers use. */
const foreign = new Map<string, WeakRef<symbol>>();
const collected = new FinalizationRegistry<string>((name) => {
  if (foreign.get(name)?.deref() === undefined) foreign.delete(name);
});

/** Letters of a name, at most. */
export const longestSymbol = 256;

/** The name of a symbol that can be passed; undefined for those of the language and for a program's own `Symbol()`. */
export function nameOfSymbol(symbol: symbol): string | undefined {
  const name = Symbol.keyFor(symbol);
  if (name === undefined) {
    const { description } = symbol;
    return description !== undefined && foreign.get(description)?.deref() === symbol ? description : undefined;
  }
  ours.add(name);
  return name;
}

/** The symbol that a peer means by this name. */
export function symbolNamed(name: string): symbol {
  if (ours.has(name)) return Symbol.for(name);
  const known = foreign.get(name)?.deref();
  if (known !== undefined) return known;
  const made = Symbol(name);
  foreign.set(name, new WeakRef(made));
  collected.register(made, name);
  return made;
}

/** Names of the peers' symbols that somebody here still holds. For tests. */
export const foreignSymbols = (): number => foreign.size;

const ofLanguage: ReadonlyMap<string, symbol> = new Map(
  Object.getOwnPropertyNames(Symbol).flatMap((name) => {
    const value: unknown = (Symbol as unknown as Readonly<Record<string, unknown>>)[name];
    return typeof value === 'symbol' ? [[name, value] as const] : [];
  }),
);
const languageNames: ReadonlyMap<symbol, string> = new Map([...ofLanguage].map(([name, symbol]) => [symbol, name]));

/** `iterator` of `Symbol.iterator`; undefined for all others. */
export const languageName = (symbol: symbol): string | undefined => languageNames.get(symbol);
export const languageSymbol = (name: string): symbol | undefined => ofLanguage.get(name);

/** One text for each symbol that can be passed, as `@endo/marshal` writes it: those of the language begin with `@@`. */
export function symbolKey(symbol: symbol): string | undefined {
  const name = nameOfSymbol(symbol);
  if (name !== undefined) return name.startsWith('@@') ? `@@${name}` : name;
  const ofLanguage = languageName(symbol);
  return ofLanguage === undefined ? undefined : `@@${ofLanguage}`;
}

/** The symbol of such a text; undefined for one of the language that this engine does not have. */
export function symbolOfKey(key: string): symbol | undefined {
  if (!key.startsWith('@@')) return symbolNamed(key);
  return key.startsWith('@@@@') ? symbolNamed(key.slice(2)) : languageSymbol(key.slice(2));
}

/** Whether it is data. */
export const isPassable = (symbol: symbol): boolean => languageNames.has(symbol) || nameOfSymbol(symbol) !== undefined;
