/**
 * Symbols as data: registered ones (`Symbol.for`), well-known ones (`Symbol.iterator`), and symbols with a
 * name that only a peer uses.
 *
 * Promise: a peer adds nothing to the engine's symbol registry, which the whole process shares and which
 * never frees a name. A name from a wire means the registered symbol only if this program has passed that
 * symbol itself. Otherwise it gets an unregistered symbol. That symbol stays the same while anybody here
 * holds it, and has the same name wherever it is sent.
 */

/** Names of registered symbols that this program has passed. */
const ours = new Set<string>();
/** Symbols for names that only peers use. */
const foreign = new Map<string, WeakRef<symbol>>();
const collected = new FinalizationRegistry<string>((name) => {
  if (foreign.get(name)?.deref() === undefined) foreign.delete(name);
});

/** Maximum length of a name, in characters. */
export const longestSymbol = 256;

/**
 * The name of a symbol that can be passed; undefined for well-known symbols and for a program's own
 * `Symbol()`.
 */
export function nameOfSymbol(symbol: symbol): string | undefined {
  const name = Symbol.keyFor(symbol);
  if (name === undefined) {
    const { description } = symbol;
    return description !== undefined && foreign.get(description)?.deref() === symbol ? description : undefined;
  }
  ours.add(name);
  return name;
}

/** The symbol for a name that a peer sent. */
export function symbolNamed(name: string): symbol {
  if (ours.has(name)) return Symbol.for(name);
  const known = foreign.get(name)?.deref();
  if (known !== undefined) return known;
  const made = Symbol(name);
  foreign.set(name, new WeakRef(made));
  collected.register(made, name);
  return made;
}

/** The number of peers' symbols that somebody here still holds. For tests. */
export const foreignSymbols = (): number => foreign.size;

const wellKnown: ReadonlyMap<string, symbol> = new Map(
  Object.getOwnPropertyNames(Symbol).flatMap((name) => {
    const value: unknown = (Symbol as unknown as Readonly<Record<string, unknown>>)[name];
    return typeof value === 'symbol' ? [[name, value] as const] : [];
  }),
);
const languageNames: ReadonlyMap<symbol, string> = new Map([...wellKnown].map(([name, symbol]) => [symbol, name]));

/** `iterator` for `Symbol.iterator`; undefined for a symbol that is not well-known. */
export const languageName = (symbol: symbol): string | undefined => languageNames.get(symbol);
export const languageSymbol = (name: string): symbol | undefined => wellKnown.get(name);

/**
 * The text of a symbol as `@endo/marshal` writes it. Well-known symbols begin with `@@`; undefined if it
 * cannot be passed.
 */
export function symbolKey(symbol: symbol): string | undefined {
  const name = nameOfSymbol(symbol);
  if (name !== undefined) return name.startsWith('@@') ? `@@${name}` : name;
  const wellKnownName = languageName(symbol);
  return wellKnownName === undefined ? undefined : `@@${wellKnownName}`;
}

/** The symbol for such a text; undefined for a well-known symbol that this engine does not have. */
export function symbolOfKey(key: string): symbol | undefined {
  if (!key.startsWith('@@')) return symbolNamed(key);
  return key.startsWith('@@@@') ? symbolNamed(key.slice(2)) : languageSymbol(key.slice(2));
}

/** Whether the symbol can be passed as data. */
export const isPassable = (symbol: symbol): boolean => languageNames.has(symbol) || nameOfSymbol(symbol) !== undefined;
