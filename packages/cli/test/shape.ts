/**
 * The shapes that the README and `--help` give for `--json`, as checks of real values. For tests.
 *
 * A shape is a type as TypeScript writes it: `{ id: string, usesLeft?: number, [name]: "mint" | "ask" }[]`. Text after
 * a comma behind it is for people.
 */

/** Returns what is wrong with the value; undefined if it has the shape. A field that the shape lacks is wrong. */
export function shapeFault(shape: string, value: unknown): string | undefined {
  const reader = new ShapeReader(shape);
  const check = reader.type();
  return check(value, 'the value');
}

type Check = (value: unknown, at: string) => string | undefined;

class ShapeReader {
  #tokens: string[];

  constructor(shape: string) {
    this.#tokens = shape.match(/"[^"]*"|\w+|\[\]|[{}[\]?:,|;()]|\S/g) ?? [];
  }

  type(): Check {
    const choices = [this.#list()];
    while (this.#take('|')) choices.push(this.#list());
    return (value, at) => {
      const faults = choices.map((check) => check(value, at));
      return faults.includes(undefined) ? undefined : faults.join(', and ');
    };
  }

  #list(): Check {
    let check = this.#one();
    while (this.#take('[]')) {
      const item = check;
      check = (value, at) =>
        Array.isArray(value)
          ? value.map((each, n) => item(each, `${at}[${n}]`)).find((fault) => fault !== undefined)
          : `${at} is no list`;
    }
    return check;
  }

  #one(): Check {
    if (this.#take('{')) return this.#fields();
    if (this.#take('(')) {
      const inner = this.type();
      this.#expect(')');
      return inner;
    }
    const word = this.#next();
    if (word === 'unknown') return () => undefined;
    if (word.startsWith('"'))
      return (value, at) => (JSON.stringify(value) === word ? undefined : `${at} is not ${word}`);
    if (!['string', 'number', 'boolean', 'object', 'null'].includes(word)) throw new Error(`no shape: ${word}`);
    return (value, at) =>
      (value === null ? 'null' : typeof value) === word
        ? undefined
        : `${at} is ${JSON.stringify(value)} and no ${word}`;
  }

  #fields(): Check {
    const fields = new Map<string, { readonly check: Check; readonly optional: boolean }>();
    let others: Check | undefined;
    while (!this.#take('}')) {
      const isIndex = this.#take('[');
      const name = this.#next().replaceAll('"', '');
      if (isIndex) this.#expect(']');
      const optional = this.#take('?');
      // Without a type it may be anything.
      const check = this.#take(':') ? this.type() : () => undefined;
      if (isIndex) others = check;
      else fields.set(name, { check, optional });
      if (!this.#take(',')) this.#take(';');
    }
    return (value, at) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return `${at} is no record`;
      const record = value as Readonly<Record<string, unknown>>;
      for (const [name, { check, optional }] of fields) {
        if (!(name in record)) {
          if (optional) continue;
          return `${at}.${name} is missing`;
        }
        const fault = check(record[name], `${at}.${name}`);
        if (fault !== undefined) return fault;
      }
      for (const [name, each] of Object.entries(record)) {
        if (fields.has(name)) continue;
        const fault = others === undefined ? `${at}.${name} is not in the shape` : others(each, `${at}.${name}`);
        if (fault !== undefined) return fault;
      }
      return undefined;
    };
  }

  #take(token: string): boolean {
    if (this.#tokens[0] !== token) return false;
    this.#tokens.shift();
    return true;
  }

  #expect(token: string): void {
    if (!this.#take(token))
      throw new Error(`no shape: ${token} is missing before ${this.#tokens.slice(0, 3).join(' ')}`);
  }

  #next(): string {
    const token = this.#tokens.shift();
    if (token === undefined) throw new Error('no shape: it ends early');
    return token;
  }
}
