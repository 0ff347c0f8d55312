/**
 * Rules of `.gitignore` files, as git reads them. The last rule that matches decides. `!` takes a rule back.
 * A `/` at the end means directories only. A `/` elsewhere means "relative to this directory". A malformed
 * pattern is skipped. In one thing it differs from git: `?` and a set stand for a character and not for a
 * byte. Decision 206 says why no library does it.
 *
 * Promise: reading a file takes steps in proportion to its length, whoever wrote it. Search threads load
 * this, so it imports only modules that import nothing.
 */
import { type Glob, GlobError, parseGitRule } from './glob.ts';
import type { StepBudget } from './step-budget.ts';

interface Rule {
  readonly glob: Glob;
  readonly keeps: boolean;
  readonly directoriesOnly: boolean;
}

/** The rules of one file. Paths are given as the names beneath the directory of that file. */
export class IgnoreRules {
  readonly #rules: readonly Rule[];

  constructor(text: string, budget?: StepBudget) {
    budget?.charge(text.length);
    const rules: Rule[] = [];
    for (const line of text
      .replace(/^\ufeff/, '')
      .split('\n')
      .slice(0, maxRules)) {
      const rule = ruleOf(line.endsWith('\r') ? line.slice(0, -1) : line, budget);
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

function ruleOf(line: string, budget: StepBudget | undefined): Rule | undefined {
  if (line.startsWith('#')) return undefined;
  let text = withoutSpaces(line);
  const keeps = text.startsWith('!');
  if (keeps) text = text.slice(1);
  const directoriesOnly = text.endsWith('/');
  if (directoriesOnly) text = text.slice(0, -1);
  if (text === '' || text.length > maxRuleLength) return undefined;
  // A pattern without a `/` matches at any depth.
  const pattern = text.includes('/') ? text.replace(/^\//, '') : `**/${text}`;
  try {
    return { glob: parseGitRule(pattern, budget), keeps, directoriesOnly };
  } catch (error) {
    if (error instanceof GlobError) return undefined;
    throw error;
  }
}

/**
 * Spaces at the end do not count, but one after a backslash does. A regular expression that finds them tries
 * each place in a long row of spaces, and each time goes to the end of the row.
 */
function withoutSpaces(line: string): string {
  let end = line.length;
  while (line[end - 1] === ' ') end--;
  if (end === line.length) return line;
  let backslashes = 0;
  while (line[end - 1 - backslashes] === '\\') backslashes++;
  return line.slice(0, backslashes % 2 === 0 ? end : end + 1);
}
