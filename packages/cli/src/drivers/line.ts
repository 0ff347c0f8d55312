/**
 * Runs one command line of `hob`.
 *
 * Promise: an unknown verb or option is an error that names the nearest one. A mistake of the user's is one line
 * without a stack. This file and the verbs load nothing of a host until one of them runs.
 */
import { newCommand, once, out, outJson, say, sayText, showUsage, terminalLine } from '@hob/host/line';
import { type Command, CommanderError } from 'commander';
import { helpAfter } from '../line/help.ts';
import { Mistake } from '../line/mistake.ts';
import { withNewName } from '../line/older-names.ts';
import { tableLines } from '../line/table.ts';
import type { Given, Output, Verb, VerbOption } from '../line/verb.ts';

/** Runs the verb that `args` name. Returns the exit code. */
export async function runLine(args: readonly string[], verbs: readonly Verb[]): Promise<number> {
  try {
    const { verb, given } = parse(args, verbs);
    if (verb.hardened === true) await import('@hob/host/lockdown');
    return await verb.run(given, outputOf(given.options['json'] === true));
  } catch (error) {
    return await endOf(error);
  }
}

/** The same, and understands the names that verbs had before. */
export async function runNamed(args: readonly string[], verbs: readonly Verb[]): Promise<number> {
  const line = withNewName(args);
  if (line.told !== undefined) say(`hob: ${line.told}`);
  return await runLine(line.args, verbs);
}

/**
 * Prints help, prints a mistake, or runs a verb of `names` if it needs no cap for that. Returns the exit code. Returns
 * undefined if the line names another verb or needs a cap. Then nothing was done.
 */
export async function runAlone(
  args: readonly string[],
  verbs: readonly Verb[],
  names: readonly string[],
): Promise<number | undefined> {
  try {
    const { verb, given } = parse(args, verbs);
    if (!names.includes(verb.name)) return undefined;
    return await (verb.alone ?? verb.run)(given, outputOf(given.options['json'] === true));
  } catch (error) {
    return await endOf(error);
  }
}

interface Parsed {
  readonly verb: Verb;
  readonly given: Given;
}

/**
 * The whole command line of `hob`. `then` is called with the verb that was given. Only verbs whose first word is in
 * `words` get their options: to make those of all verbs takes longer than to print the help of `hob`.
 */
function hobLine(verbs: readonly Verb[], words: readonly string[], then: (parsed: Parsed) => void): Command {
  const hob = newCommand('hob')
    .description('What an agent may hold is written in hob.yaml. This command serves it, and answers requests.')
    .usage('VERB [OPTIONS]')
    .enablePositionalOptions();
  const groups = new Map<string, Command>();
  const groupOf = (name: string): Command => {
    const group = groups.get(name) ?? hob.command(name).description(`verbs: ${subVerbs(verbs, name).join(', ')}`);
    groups.set(name, group);
    return group;
  };
  for (const verb of verbs) {
    const [first = '', second] = verb.name.split(' ');
    const under = second === undefined ? hob : groupOf(first);
    const command = under.command(`${second ?? first} ${verb.operands ?? ''}`.trim()).description(verb.about);
    const options = [...(verb.json === undefined ? [] : [JSON_OPTION]), ...(verb.options ?? [])];
    const isMeant = words.includes(first);
    // The help of `hob` says of a verb that it has options if it has one.
    for (const option of isMeant ? options : options.slice(0, 1)) addOption(command, option);
    if (!isMeant) continue;
    // The words after the first operand of `start` are the agent's own line.
    if (verb.operands?.includes('agent...')) command.passThroughOptions();
    command.addHelpText('after', helpAfter(verb));
    command.action((...all: readonly unknown[]) => {
      const operands = all.slice(0, -2).flat() as readonly (string | undefined)[];
      then({
        verb,
        given: { options: command.opts(), operands: operands.filter((each) => each !== undefined) },
      });
    });
  }
  showUsage(hob);
  return hob;
}

const JSON_OPTION: VerbOption = { flags: '--json', about: 'prints one line of JSON' };

const subVerbs = (verbs: readonly Verb[], group: string): readonly string[] =>
  verbs.flatMap(({ name }) => (name.startsWith(`${group} `) ? [name.slice(group.length + 1)] : []));

function addOption(command: Command, { flags, about, many }: VerbOption): void {
  if (!/[<[]/.test(flags)) command.option(flags, about);
  else if (many === true)
    command.option(flags, about, (value: string, earlier: readonly string[] = []) => [...earlier, value]);
  else command.option(flags, about, once);
}

function parse(args: readonly string[], verbs: readonly Verb[]): Parsed {
  let found: Parsed | undefined;
  const line = withUsual(args, verbs);
  const hob = hobLine(verbs, line, (parsed) => {
    found = parsed;
  });
  hob.parse([...line], { from: 'user' });
  return found ?? hob.error('name a verb: hob --help lists them');
}

/** The line with the verb that a group means when none is named. */
function withUsual(args: readonly string[], verbs: readonly Verb[]): readonly string[] {
  const [group, next = '-', ...rest] = args;
  const usual = verbs.find(({ name, isUsual }) => isUsual === true && name.startsWith(`${group} `));
  if (usual === undefined || !next.startsWith('-') || next === '--help') return args;
  return [...usual.name.split(' '), ...(args.length === 1 ? [] : [next]), ...rest];
}

/** Only a terminal gets aligned tables, and nothing gets colour: `NO_COLOR` holds always. */
function outputOf(isJson: boolean): Output {
  const isTerminal = process.stdout.isTTY === true;
  return {
    line: (text) => {
      if (!isJson) out(text);
    },
    say,
    json: (value) => {
      if (isJson) outJson(JSON.stringify(value));
    },
    table: (heads, rows) => {
      if (!isJson) writeTable(heads, rows, isTerminal);
    },
    isJson,
    isTerminal,
  };
}

/** The names in cells are of others. The tabs between cells are ours. */
function writeTable(heads: readonly string[], rows: readonly (readonly string[])[], isTerminal: boolean): void {
  const safe = rows.map((row) => row.map(terminalLine));
  for (const line of tableLines(heads, safe, { isTerminal })) process.stdout.write(`${line}\n`);
}

/** Says why the program ends, and returns its exit code. */
async function endOf(error: unknown): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof Mistake) {
    // Each mistake of a file is a line.
    sayText(`hob: ${error.message}`);
    return error.exitCode;
  }
  try {
    const { endOf: end } = await import('@hob/host/client');
    return end(error);
  } catch {
    // The module of the host cannot be loaded.
    sayText(`hob: ${error instanceof Error ? error.stack : String(error)}`);
    return 1;
  }
}
