/**
 * Rules of `.gitignore` files, as git reads them. The last rule that matches decides. `!` takes a rule back.
 * A `/` at the end means directories only. A `/` elsewhere means "relative to this directory". A malformed
 * pattern is skipped. Search threads load this, so it imports only modules that import nothing.
 */
import { type Glob, GlobError, parseGlob } from './glob.ts';
import type { Work } from './work.ts';

interface Rule {
  readonly glob: Glob;
  readonly keeps: boolean;
  readonly directoriesOnly: boolean;
}

/** The rules of one file. Paths are given as the names beneath the directory of that file. */
export class IgnoreRules {
  readonly #rules: readonly Rule[];

  constructor(text: string, work?: Work) {
    work?.charge(text.length);
    const rules: Rule[] = [];
    for (const line of text.split('\n').slice(0, maxRules)) {
      const rule = ruleOf(line.endsWith('\r') ? line.slice(0, -1) : line, work);
      if (rule) rules.push(rule);
    }
    this.#rules = rules;
  }

  /** Returns `undefined` if no rule matches. */
  ignores(names: readonly string[], isDirectory: boolean): boolean | undefined {
    for (let i = this.#rules.length - 1; i >= 0; i--) {
      const rule = this.#rules[i];
      if (!rule || (rule.directoriesOnly && !isDirectory)) continue;
      let state = rule.glob.start;
      for (const name of names) state = rule.glob.step(state, name);
      if (rule.glob.accepts(state)) return !rule.keeps;
    }
    return undefined;
  }
}

/** The rules of one directory. Levels are listed from the outermost directory to the innermost. */
export interface IgnoreLevel {
  readonly rules: IgnoreRules;
  /** How many names of a path lie above the directory of these rules. */
  readonly depth: number;
}

export function isIgnored(levels: readonly IgnoreLevel[], names: readonly string[], isDirectory: boolean): boolean {
  for (let i = levels.length - 1; i >= 0; i--) {
    const level = levels[i];
    const said = level?.rules.ignores(names.slice(level.depth), isDirectory);
    if (said !== undefined) return said;
  }
  return false;
}

const maxRules = 2_000;
const maxRuleLength = 1_000;

function ruleOf(line: string, work: Work | undefined): Rule | undefined {
  let text = line.replace(/(?<!\\)\s+$/, '');
  if (text === '' || text.startsWith('#') || text.length > maxRuleLength) return undefined;
  const keeps = text.startsWith('!');
  if (keeps) text = text.slice(1);
  const directoriesOnly = text.endsWith('/');
  if (directoriesOnly) text = text.slice(0, -1);
  // A pattern without a `/` matches at any depth.
  const pattern = text.includes('/') ? text.replace(/^\//, '') : `**/${text}`;
  try {
    // Git has no braces, so they are escaped.
    return { glob: parseGlob(pattern.replace(/[{}]/g, '\\$&'), { dots: true, work }), keeps, directoriesOnly };
  } catch (error) {
    if (error instanceof GlobError) return undefined;
    throw error;
  }
}
