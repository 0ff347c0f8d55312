/**
 * The command line of `npm run hob`: which commands there are, and what each takes.
 *
 * Promise: what a command does not take is an error with its usage, and never ignored: it could be a limit.
 */
import { parseArgs } from 'node:util';
import { requestUsage } from './commands.ts';

/** What follows a command. */
export interface Given {
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly operands: readonly string[];
}

interface Command {
  readonly usage: string;
  /** How many operands it takes. */
  readonly operands: readonly [least: number, most: number];
  readonly options?: Readonly<Record<string, { readonly type: 'string' | 'boolean' }>>;
}

const text = { type: 'string' } as const;
const common = { state: text, help: { type: 'boolean' } } as const;
const termOptions = { uses: text, for: text, until: text, methods: text } as const;

export type Name =
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

export const commands: Readonly<Record<Name, Command>> = {
  grants: {
    usage: '  grants                    the live grants, with uses and time left\n',
    operands: [0, 0],
  },
  revoke: {
    usage: '  revoke ID                 end one\n',
    operands: [1, 1],
  },
  requests: {
    usage: requestUsage.requests,
    operands: [0, 0],
  },
  request: {
    usage: requestUsage.request,
    operands: [1, 1],
  },
  approve: {
    usage: requestUsage.approve,
    operands: [2, 2],
    options: termOptions,
  },
  refuse: {
    usage: requestUsage.refuse,
    operands: [1, Number.POSITIVE_INFINITY],
    options: { lasting: { type: 'boolean' } },
  },
  'sturdyref mint': {
    usage: `  sturdyref mint SESSION PETNAME [--uses N] [--for MINUTES | --until DATE] [--methods A,B]
                   [--secret-to FILE]
                            a secret that opens this cap of that session, for whoever has it: shown once on a
                            terminal, or written to a new FILE that only you may read
`,
    operands: [2, 2],
    options: { ...termOptions, 'secret-to': text },
  },
  'sturdyref list': {
    usage: '  sturdyref list            the grants that have one\n',
    operands: [0, 0],
  },
  'sturdyref rotate': {
    usage: `  sturdyref rotate ID [--secret-to FILE]
                            another secret for it; the old one ends when the new one is first used
`,
    operands: [1, 1],
    options: { 'secret-to': text },
  },
  trust: {
    usage: `  trust [ID …]              the grants that wait because the store was put back to an earlier state; with IDs, or
                            "all": lets them go on
`,
    operands: [0, Number.POSITIVE_INFINITY],
  },
  stop: {
    usage: `  stop [--wait SECONDS]     end all of them, of all granters, and the host, also one that hangs: killed after 10 s
                            (no secret: who may end its process needs none)
`,
    operands: [0, 0],
    options: { wait: text },
  },
  'ledger verify': {
    usage: `  ledger verify [FILE] [--against FILE] [--sentinel DIR]
                            check the ledger of the running host, or an exported FILE; where no host is running, that of
                            its state (no secret). --against: also that each checkpoint in that file still holds
`,
    operands: [0, 1],
    options: { against: text, sentinel: text },
  },
  'ledger export': {
    usage: `  ledger export [FILE]      the ledger as JSON Lines, to FILE or to standard output: of the running host the lines
                            of your sessions, and where no host is running all of it (no secret)
`,
    operands: [0, 1],
  },
  'ledger retain': {
    usage: `  ledger retain --days N [--by NAME] [--sentinel DIR]
                            while no host is running: drops the lines that are older than N days, up to a checkpoint, and says
                            so in a signed line, with NAME (default: operator). Export them first, if they are to be kept
`,
    operands: [0, 0],
    options: { days: text, by: text, sentinel: text },
  },
};

const head = 'npm run hob -- COMMAND [--state DIR]\n';
/** Of one command, or of all. */
export const usage = (name?: Name): string =>
  head +
  (name === undefined
    ? Object.values(commands)
        .map((each) => each.usage)
        .join('')
    : commands[name].usage);

/** What is to be done, or the usage to print and what was wrong, if anything was. */
export type Line =
  | { readonly name: Name; readonly given: Given }
  | { readonly usage: string; readonly wrong?: string | undefined; readonly help: boolean };

export function readLine(args: readonly string[]): Line {
  // Options may stand before the command, so its name is looked for among all that any command takes.
  const all = Object.assign({}, common, ...Object.values(commands).map(({ options }) => options));
  const loose = parseArgs({ args: [...args], options: all, strict: false, allowPositionals: true });
  const [first = '', second = ''] = loose.positionals;
  const name = [first, `${first} ${second}`].find((each): each is Name => Object.hasOwn(commands, each));
  if (name === undefined) return { usage: usage(), help: first === '' && loose.values['help'] === true };
  const given = read(args, name);
  if (typeof given === 'string') return { usage: usage(name), wrong: given, help: false };
  return given.options['help'] === true ? { usage: usage(name), help: true } : { name, given };
}

/** What was given to a command, or what is wrong with it. */
function read(args: readonly string[], name: Name): Given | string {
  const { options: own, operands: [least, most] } = commands[name]; // biome-ignore format: one line
  let parsed: ReturnType<typeof parseArgs>;
  try {
    parsed = parseArgs({ args: [...args], options: { ...common, ...own }, allowPositionals: true, tokens: true });
  } catch (error) {
    return (error as Error).message.split('\n', 1)[0] as string;
  }
  const seen = new Set<string>();
  for (const token of parsed.tokens ?? []) {
    if (token.kind !== 'option') continue;
    if (token.value === '') return `--${token.name} is given no value`;
    if (seen.has(token.name) && token.name !== 'state') return `--${token.name} is given twice`;
    seen.add(token.name);
  }
  const operands = parsed.positionals.slice(name.split(' ').length);
  if (parsed.values['help'] !== true) {
    if (operands.length < least) return `"${name}" needs ${least} operand${least === 1 ? '' : 's'}`;
    if (operands.length > most) return `"${name}" takes no "${operands[most]}"`;
  }
  return { options: parsed.values as Given['options'], operands };
}
