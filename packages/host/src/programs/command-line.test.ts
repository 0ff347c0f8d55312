/**
 * The values that every command and option of the programs of this package takes, asked of the parser itself, so that a new one
 * cannot be forgotten. What a command does not take could be a limit that somebody meant to set.
 */
import { readFileSync } from 'node:fs';
import { type Command, CommanderError } from 'commander';
import { expect, test } from 'vitest';
import { version } from '../version.ts';
import { agentCommand } from './agent-line.ts';

interface Said {
  /** The exit code; undefined where the line is understood. */
  readonly code: number | undefined;
  readonly text: string;
}

const family = (command: Command): readonly Command[] => [command, ...command.commands.flatMap(family)];

function tried(make: () => Command, args: readonly string[]): Said {
  const root = make();
  let text = '';
  const take = (part: string): void => {
    text += part;
  };
  for (const command of family(root))
    command.configureOutput({ ...command.configureOutput(), writeOut: take, writeErr: take });
  try {
    root.parse([...args], { from: 'user' });
    return { code: undefined, text };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return { code: error.exitCode, text };
  }
}

interface Row {
  readonly path: readonly string[];
  readonly command: Command;
  readonly make: () => Command;
}

function rows(make: () => Command, command: Command = make(), path: readonly string[] = []): readonly Row[] {
  if (command.commands.length === 0) return [{ path, command, make }];
  return command.commands.flatMap((child) => rows(make, child, [...path, child.name()]));
}

const makers = [() => agentCommand('hob-agent')];
const all = makers.flatMap((make) => rows(make));
const label = ({ path, make }: Row): string => [make().name(), ...path].join(' ');
/** As many operands as it needs. */
const operandsOf = ({ command }: Row): readonly string[] =>
  command.registeredArguments.filter(({ required }) => required).map(() => 'x');
const valid: Readonly<Record<string, string>> = { '--port': '1', '--uses': '1', '--for': '1', '--gate': 'write' };
/** Those of the command, and those that stand before it. */
const optionsOf = ({ command, make }: Row) => [...new Set([...command.options, ...make().options])];

test.each(all.map((row) => [label(row), row] as const))('%s: options, values and operands', (_name, row) => {
  const refused = (...args: readonly string[]): void => {
    const { code, text } = tried(row.make, args);
    expect([args, code, text]).toEqual([args, 1, expect.stringMatching(/^hob: \S/)]);
    // One line names the mistake. Then comes the usage of that command and of no other.
    // For an option that stands before all commands, it is the usage of all of them.
    const usages = [[label(row), row.command] as const, [row.make().name(), row.make()] as const];
    expect(usages.map(([name, command]) => `usage: ${name} ${command.usage()}`)).toContain(text.split('\n')[1]);
    expect(text.trimEnd().split('\n')).toHaveLength(3);
  };
  const line = [...row.path, ...operandsOf(row)];
  expect(tried(row.make, line)).toEqual({ code: undefined, text: '' });
  for (const wrong of ['--limit', '--limit=1', '-l', '--nonsense', '--no-help']) refused(...line, wrong);
  const own = new Set(optionsOf(row).map(({ long }) => long));
  for (const option of all.flatMap(optionsOf)) {
    if (own.has(option.long)) continue;
    refused(...line, option.long as string, ...(option.required ? ['1'] : []));
  }
  for (const { long, required, optional } of optionsOf(row)) {
    const flag = long as string;
    if (flag === '--version') continue;
    if (!required && !optional) {
      refused(...line, `${flag}=yes`);
      continue;
    }
    const value = valid[flag] ?? '1';
    expect(tried(row.make, [...line, flag, value]).code).toBeUndefined();
    if (optional) continue;
    for (const none of [[flag], [`${flag}=`], [flag, '--help'], [flag, '-1']]) refused(...line, ...none);
    if (!/^--(?:state|root)$/.test(flag)) refused(...line, flag, value, flag, value);
  }
  if (operandsOf(row).length > 0) refused(...row.path, ...operandsOf(row).slice(1));
  if (!row.command.registeredArguments.some(({ variadic }) => variadic))
    refused(...row.path, ...[...row.command.registeredArguments, 'one more'].map(() => 'x'));
});

test.each(all.map((row) => [label(row), row] as const))('%s: --help and --version', (name, row) => {
  const help = tried(row.make, [...row.path, '--help']);
  expect(help.code).toBe(0);
  expect(help.text).toMatch(new RegExp(`^Usage: ${name.replaceAll('-', '\\-')} `));
  for (const { long, description } of row.command.options) {
    expect(help.text).toContain(long);
    expect(description).not.toBe('');
  }
  expect(tried(row.make, ['--version'])).toEqual({ code: 0, text: `hob ${version}\n` });
});

test('the version is that of the package', () => {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  expect(JSON.parse(manifest).version).toBe(version);
});
