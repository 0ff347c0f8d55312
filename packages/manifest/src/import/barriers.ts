/** Which rules stand in the way of another one: a stricter rule about some of the same calls, unless it is outranked. */
import { globsMeet } from './glob.ts';
import { nameOf } from './programs.ts';
import type { Rule, Subject } from './rule.ts';

const STRICTNESS = { allow: 0, ask: 1, deny: 2 } as const;
/** More work than this for globs of one import is not done: a glob then counts as meeting. */
const MOST_STEPS = 5_000_000;

/** Finds the rules in the way of each rule. */
export class Barriers {
  readonly #stricter: readonly Rule[];
  readonly #texts = new Map<Rule, readonly string[]>();
  #steps = 0;

  constructor(rules: readonly Rule[]) {
    this.#stricter = rules.filter(({ how }) => how !== 'allow');
  }

  /** The stricter rules that may be about a call of `rule`, denies first. */
  of(rule: Rule): readonly Rule[] {
    return this.#stricter
      .filter((one) => STRICTNESS[one.how] > STRICTNESS[rule.how] && !outranks(rule, one) && this.#meet(one, rule))
      .sort((a, b) => STRICTNESS[b.how] - STRICTNESS[a.how]);
  }

  #meet({ subject: a }: Rule, rule: Rule): boolean {
    const { subject: b } = rule;
    if (a.kind === 'any') return true;
    if (b.kind === 'command') {
      if (a.kind === 'command') return commandsMeet(a, b);
      return a.kind === 'lines' && this.#textsOf(rule, b).some((text) => this.#globs(a.glob, text));
    }
    if (a.kind === 'files' && b.kind === 'files') return a.rights.some((right) => b.rights.includes(right));
    if (a.kind === 'pages' && b.kind === 'pages') return this.#globs(a.host.toLowerCase(), b.host.toLowerCase());
    if (a.kind === 'mcp' && b.kind === 'mcp') return this.#globs(a.server, b.server) && this.#globs(a.tool, b.tool);
    return false;
  }

  #textsOf(rule: Rule, subject: Command): readonly string[] {
    const texts = this.#texts.get(rule) ?? textsOf(rule, subject);
    this.#texts.set(rule, texts);
    return texts;
  }

  #globs(a: string, b: string): boolean {
    // Texts that begin differently have nothing in common. This is the usual case, and it is cheap.
    const [startA = '', startB = ''] = [a.split('*', 1)[0], b.split('*', 1)[0]];
    if (!startA.startsWith(startB) && !startB.startsWith(startA)) return false;
    this.#steps += (a.length + 1) * (b.length + 1);
    // Without the comparison the rule counts as being in the way, so it can only take more.
    return this.#steps > MOST_STEPS || globsMeet(a, b);
  }
}

/** Numbers count within a file: the tier of a file is not in its text. */
const outranks = (rule: Rule, other: Rule): boolean =>
  rule.rank !== undefined && other.rank !== undefined && rule.file === other.file && rule.rank > other.rank;

type Command = Extract<Subject, { kind: 'command' }>;

/** A program counts by its name, wherever it lies. */
function commandsMeet(a: Command, b: Command): boolean {
  const longer = Math.max(a.words.length, b.words.length);
  for (let n = 0; n < longer; n += 1) {
    const [one, other] = [a.words[n], b.words[n]];
    if (one === undefined) return a.more;
    if (other === undefined) return b.more;
    const same = n === 0 ? other.map(nameOf) : other;
    if (!one.some((word) => same.includes(n === 0 ? nameOf(word) : word))) return false;
  }
  return true;
}

/** The lines that a command may be written as, as globs. */
function textsOf({ text }: Rule, { words, more }: Command): readonly string[] {
  const raw = /^\w+\((.*)\)$/s.exec(text)?.[1];
  const lines = products(words, 64)?.flatMap((line) => [line, [nameOf(line[0] as string), ...line.slice(1)]]);
  // A star inside a word is that sign; as a wildcard it only meets more.
  const globs = lines?.map((line) => `${line.join(' ')}${more ? '*' : ''}`) ?? ['*'];
  return raw === undefined ? globs : [...globs, raw];
}

/** Every choice of one word for each place; undefined if there are more than `most`. */
export function products(
  words: readonly (readonly string[])[],
  most: number,
): readonly (readonly string[])[] | undefined {
  let all: readonly (readonly string[])[] = [[]];
  for (const choices of words) {
    if (all.length * choices.length > most) return undefined;
    all = all.flatMap((before) => choices.map((word) => [...before, word]));
  }
  return all;
}
