/**
 * Reads a `.rules` file: calls with named arguments, which are texts and lists of texts.
 *
 * The language around it can do more (variables, functions, loops). A file that uses it is not read: only running it
 * would tell which rules it makes.
 */
import { type Entry, record, Unreadable, type Value } from './value.ts';

/** One call, such as `prefix_rule(pattern = ["git", "log"])`. */
export interface StarlarkCall {
  readonly name: string;
  readonly line: number;
  readonly args: Value;
}

interface Token {
  readonly kind: 'name' | 'text' | 'sign' | 'end';
  readonly text: string;
  readonly line: number;
}

/** Reads all calls of a file. */
export function readStarlark(text: string): readonly StarlarkCall[] {
  return new Reader(tokens(text)).calls();
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', '\\': '\\', "'": "'", '"': '"' };

function* tokens(text: string): Generator<Token> {
  let line = 1;
  for (let at = 0; at < text.length; ) {
    const rest = text.slice(at, at + 4096);
    const skipped = /^(?:[ \t\r]+|\\\r?\n|#[^\n]*|\n)/.exec(rest)?.[0];
    if (skipped !== undefined) {
      at += skipped.length;
      if (skipped.endsWith('\n')) line += 1;
      continue;
    }
    const name = /^[A-Za-z_]\w*/.exec(rest)?.[0];
    const isRaw = name === 'r' && /^r["']/.test(rest);
    if (name !== undefined && !isRaw) {
      yield { kind: 'name', text: name, line };
      at += name.length;
    } else if (/^[=,()[\]]/.test(rest) && !rest.startsWith('==')) {
      yield { kind: 'sign', text: rest[0] as string, line };
      at += 1;
    } else if (isRaw || /^["']/.test(rest)) {
      const { value, length } = readText(text, at + (isRaw ? 1 : 0), isRaw, line);
      yield { kind: 'text', text: value, line };
      const taken = text.slice(at, at + length + (isRaw ? 1 : 0));
      line += taken.split('\n').length - 1;
      at += taken.length;
    } else throw notARule(line);
  }
  yield { kind: 'end', text: '', line };
}

function readText(text: string, from: number, isRaw: boolean, line: number): { value: string; length: number } {
  const one = text[from] as string;
  const quote = text.startsWith(one.repeat(3), from) ? one.repeat(3) : one;
  let value = '';
  for (let at = from + quote.length; at < text.length; at += 1) {
    if (text.startsWith(quote, at)) return { value, length: at + quote.length - from };
    const sign = text[at] as string;
    if (sign === '\n' && quote.length === 1) break;
    if (sign !== '\\') value += sign;
    else {
      at += 1;
      const escaped = text[at] ?? '';
      if (isRaw) value += `\\${escaped}`;
      else if (escaped in ESCAPES) value += ESCAPES[escaped];
      else throw new Unreadable({ line }, 'this text has an escape that is not read', 'write the sign itself');
    }
  }
  throw new Unreadable({ line }, 'a text is left open', `end it with ${quote}`);
}

const notARule = (line: number): Unreadable =>
  new Unreadable(
    { line },
    'this is more than a list of rules',
    'write each rule out: name(key = "text", key = ["a", "b"])',
  );

class Reader {
  readonly #tokens: Iterator<Token>;
  #token: Token;

  constructor(all: Generator<Token>) {
    this.#tokens = all;
    this.#token = { kind: 'end', text: '', line: 1 };
    this.#next();
  }

  #next(): Token {
    const token = this.#token;
    const { value } = this.#tokens.next();
    if (value !== undefined) this.#token = value;
    return token;
  }

  #take(kind: Token['kind'], text?: string): Token {
    if (this.#token.kind !== kind || (text !== undefined && this.#token.text !== text))
      throw notARule(this.#token.line);
    return this.#next();
  }

  #is(sign: string): boolean {
    return this.#token.kind === 'sign' && this.#token.text === sign;
  }

  calls(): readonly StarlarkCall[] {
    const all: StarlarkCall[] = [];
    while (this.#token.kind !== 'end') {
      const { text: name, line } = this.#take('name');
      this.#take('sign', '(');
      const entries: Entry[] = [];
      while (!this.#is(')')) {
        const key = this.#take('name');
        this.#take('sign', '=');
        entries.push({ key: key.text, line: key.line, value: this.#value() });
        if (!this.#is(')')) this.#take('sign', ',');
      }
      this.#take('sign', ')');
      all.push({ name, line, args: record(line, entries) });
    }
    return all;
  }

  #value(): Value {
    const { kind, text, line } = this.#token;
    if (kind === 'text') {
      this.#next();
      return { kind: 'scalar', line, value: text };
    }
    if (kind === 'name' && (text === 'True' || text === 'False' || text === 'None')) {
      this.#next();
      return { kind: 'scalar', line, value: text === 'None' ? null : text === 'True' };
    }
    this.#take('sign', '[');
    const items: Value[] = [];
    while (!this.#is(']')) {
      items.push(this.#value());
      if (!this.#is(']')) this.#take('sign', ',');
    }
    this.#take('sign', ']');
    return { kind: 'list', line, items };
  }
}
