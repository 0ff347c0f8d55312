/** Helpers that the readers of the four products share. */
import type { Server } from '../file/types.ts';
import { isUnread, wordsOfLine } from './programs.ts';
import type { At, FilePattern, Found, How, NamedServer, Rule, Setting, Subject } from './rule.ts';
import { entriesOf, get, show, textOf, textsOf, type Value } from './value.ts';

/** Collects what a reader finds in one file. */
export class Findings {
  readonly file: string;
  readonly rules: Rule[] = [];
  readonly settings: Setting[] = [];
  readonly servers: NamedServer[] = [];
  mode: Found['mode'];
  neverAsks: Found['neverAsks'];
  judge = false;

  constructor(file: string) {
    this.file = file;
  }

  at(line: number): At {
    return { file: this.file, line };
  }

  rule(line: number, text: string, how: How, subject: Subject, more: { why?: string; rank?: number } = {}): void {
    this.rules.push({ ...this.at(line), text, how, subject, ...more });
  }

  /** A line that cannot be translated. */
  name(line: number, text: string, why: string, to?: string): void {
    this.settings.push({ ...this.at(line), text, why, ...(to === undefined ? {} : { to }) });
  }

  /** A line that is translated whole, and where it stands in the manifest. */
  holds(line: number, text: string, to: string): void {
    this.settings.push({ ...this.at(line), text, to });
  }

  get found(): Found {
    const { rules, settings, servers, mode, neverAsks, judge } = this;
    return { rules, settings, servers, judge, ...(mode && { mode }), ...(neverAsks && { neverAsks }) };
  }
}

/** The reason why a rule is lost. A deny gives nothing, so only one that denies more than it says is named. */
export const unlessDeny = (how: How, why: string | undefined): { readonly why?: string } =>
  how === 'deny' || why === undefined ? {} : { why };

/** A command line of a rule. `more`: other words may follow. `all` is every line that the rule may mean. */
export function lineSubject(line: string, more: boolean, all: string): { subject: Subject; why?: string } {
  const words = wordsOfLine(line);
  if (isUnread(words)) return { subject: { kind: 'lines', glob: all }, why: words.why };
  return { subject: { kind: 'command', words: words.map((word) => [word]), more } };
}

/** A path with wildcards, from the directory in which the agent works, the home directory or the top. */
export function pathPattern(text: string, from: FilePattern['from']): FilePattern {
  const names = text.split('/').filter((name) => name !== '' && name !== '.');
  return { from, names };
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;
const WORD = /^[^\p{C}\p{Zl}\p{Zp}]+$/u;

/** Reads `{name: {command, args, env} | {url}}`, the form in which all four products declare servers of MCP. */
export function readServers(findings: Findings, declared: Value | undefined, known: ReadonlySet<string>): void {
  for (const { key: name, line, value } of entriesOf(declared)) {
    const text = `server ${name}`;
    const server = serverOf(value);
    if (!NAME.test(name)) findings.name(line, text, 'a server has a name of letters, digits, _ and -');
    else if (get(value, 'enabled') !== undefined && show(get(value, 'enabled') as Value) === 'false')
      findings.rule(line, text, 'deny', { kind: 'mcp', server: name, tool: '*' });
    else if (server === undefined) findings.name(line, text, 'its command or url cannot be written in a manifest');
    else findings.servers.push({ ...findings.at(line), name, server });
    for (const field of entriesOf(value)) {
      if (known.has(field.key)) continue;
      const about = `${text}: ${field.key}`;
      const secret = field.key === 'env' || field.key === 'headers' || /token|auth/i.test(field.key);
      const why = secret
        ? 'values of secrets are not copied: store them with hob secret set, and name them in secrets or secret'
        : 'a server in a manifest has no such field';
      findings.name(field.line, about, why);
    }
  }
}

function serverOf(value: Value): Server | undefined {
  const command = textOf(get(value, 'command'));
  const args = get(value, 'args') === undefined ? [] : textsOf(get(value, 'args'));
  const url = textOf(get(value, 'url')) ?? textOf(get(value, 'httpUrl'));
  if (command !== undefined && url === undefined && args !== undefined) {
    const words = [command, ...args];
    return words.every((word) => WORD.test(word) && word.length <= 4096 && !word.includes('${'))
      ? { command: words }
      : undefined;
  }
  const ok =
    url !== undefined &&
    command === undefined &&
    /^https?:\/\/[^\s/?#@\\]+(?:\/[^\s\\]*)?$/.test(url) &&
    WORD.test(url);
  return ok && !url.includes('$') ? { url } : undefined;
}

/** Names every key of a record that is neither read elsewhere nor known to say nothing about calls. */
export function nameUnknown(
  findings: Findings,
  value: Value,
  read: ReadonlySet<string>,
  harmless: ReadonlySet<string>,
): void {
  for (const { key, line, value: given } of entriesOf(value))
    if (!read.has(key) && !harmless.has(key))
      findings.name(
        line,
        `${key}: ${short(show(given))}`,
        'this key is not known here: look whether it changes what may run',
      );
}

/** A value in a message is not longer than a line. */
export const short = (text: string): string => (text.length > 80 ? `${text.slice(0, 80)}…` : text);

export const setOf = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/));
