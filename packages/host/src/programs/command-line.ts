/** The command line of `npm run hob`: the commands, and the options and operands of each. */
import type { Command } from 'commander';
import { shortDigest } from '../powerbox/card.ts';
import { given, newCommand, once, showUsage } from './read-line.ts';

/** The operands and options of a command. */
export interface CommandArgs {
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly operands: readonly string[];
}

export type CommandName =
  | 'grants'
  | 'revoke'
  | 'requests'
  | 'request'
  | 'approve'
  | 'refuse'
  | 'sturdyref mint'
  | 'sturdyref list'
  | 'sturdyref rotate'
  | 'trust'
  | 'stop'
  | 'ledger verify'
  | 'ledger export'
  | 'ledger retain';

export interface ParsedLine {
  readonly name: CommandName;
  readonly args: CommandArgs;
}

const terms = (command: Command): Command =>
  command
    .option('--uses <n>', 'so many calls', once)
    .option('--for <minutes>', 'for so long', once)
    .option('--until <date>', 'until a date: 2027-01-31', once)
    .option('--methods <a,b>', 'these methods only', once);

const secretTo = (command: Command): Command =>
  command.option('--secret-to <file>', 'writes the secret to a new file that only you may read', once);

const sentinel = (command: Command): Command =>
  command.option('--sentinel <dir>', 'where the sentinel is kept, if not in the usual place', once);

/** The whole of it. `then` is called with the command that was given. */
export function hobCommand(then: (line: ParsedLine) => void = () => {}): Command {
  const hob = newCommand('npm run hob --')
    .description('The granter’s commands. They ask for the granter’s secret, where nothing else is said.')
    .usage('[--state DIR | --url URL] COMMAND')
    .option('--state <dir>', 'the state of the host (default: .hob in the checkout)', given)
    .option('--url <url>', 'the address of the host, instead of its state', once);
  const add = (under: Command, line: string, about: string): Command => {
    const command = under.command(line).description(about);
    const name = under === hob ? command.name() : `${under.name()} ${command.name()}`;
    return command.action((...all: readonly unknown[]) => {
      // Its operands, then its options and itself; a list of operands is one of them.
      const operands = all.slice(0, -2).flat() as readonly (string | undefined)[];
      then({
        name: name as CommandName,
        args: { options: command.optsWithGlobals(), operands: operands.filter((each) => each !== undefined) },
      });
    });
  };
  add(hob, 'grants', 'lists the live grants, with the uses and the time left');
  add(hob, 'revoke <id>', 'revokes a grant');
  add(hob, 'requests', 'lists the requests that wait for an answer');
  add(hob, 'request <id>', 'shows a whole request: its effect, its arguments or terms, and the diff');
  const yes = `approves the request that was shown with that digest (its first ${shortDigest} letters), on the terms that were asked or on narrower ones`;
  terms(add(hob, 'approve <id> <digest>', yes));
  add(hob, 'refuse <id> [why...]', 'refuses a request').option(
    '--lasting',
    'refuses it again as long as its session lasts',
  );
  const sturdyref = hob.command('sturdyref').description('secrets that open one cap, for whoever has them');
  secretTo(terms(add(sturdyref, 'mint <session> <petname>', 'makes a secret that opens this cap of that session for its bearer: shown once on a terminal, or written to a file'))); // biome-ignore format: one line
  add(sturdyref, 'list', 'lists the grants that have such a secret');
  secretTo(
    add(sturdyref, 'rotate <id>', 'makes a new secret; the old one stops working when the new one is first used'),
  );
  const waits = 'lists the grants that are suspended because the store was restored to an earlier state; with IDs, or "all", confirms them'; // biome-ignore format: one line
  add(hob, 'trust [id...]', waits);
  const ends = 'revokes all grants of all granters and ends the host, even one that hangs (no secret: a person who may end the process needs none)'; // biome-ignore format: one line
  add(hob, 'stop', ends).option('--wait <seconds>', 'how long it may take to end before it is killed: 10', once);
  const ledger = hob.command('ledger').description('the record of all that was granted and called');
  const checks = 'checks the ledger of the running host, or an exported FILE; if no host is running, the ledger of the state (no secret)'; // biome-ignore format: one line
  sentinel(add(ledger, 'verify [file]', checks)).option('--against <file>', 'checks each checkpoint in that file too', once); // biome-ignore format: one line
  const lines = 'writes the ledger as JSON Lines to FILE or to standard output: the lines of your sessions if a host is running, otherwise all lines (no secret)'; // biome-ignore format: one line
  add(ledger, 'export [file]', lines);
  const drops = 'drops the lines older than N days, up to a checkpoint, while no host is running. A signed line records it. To keep the lines, export them first'; // biome-ignore format: one line
  sentinel(add(ledger, 'retain', drops))
    .option('--days <n>', 'how many days stay', once)
    .option('--by <name>', 'who says so (default: operator)', once);
  showUsage(hob);
  return hob;
}

/** Throws a `CommanderError` for what is no command line, and for `--help` and `--version`; it has been written then. */
export function parseLine(args: readonly string[]): ParsedLine {
  let found: ParsedLine | undefined;
  const hob = hobCommand((line) => {
    found = line;
  });
  hob.parse([...args], { from: 'user' });
  return found ?? hob.error('name a command');
}
