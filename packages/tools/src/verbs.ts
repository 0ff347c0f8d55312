/**
 * Verbs: what a model can do with a cap.
 *
 * A verb is one tool. Its arguments are checked before it sends anything, so a cap gets only arguments of the
 * declared types.
 */
import { CapError, E } from '@hob/vat';
import { type OptionNames, takeOptions } from '@hob/vat/forwarder';
import type { Schema } from './arguments.ts';

/** Arguments of a verb by name, checked. */
export type Args = Readonly<Record<string, unknown>>;

/** One thing to do with a cap. Made by `verb`. */
export interface Verb {
  /** Letters, digits and `_`, at most 48. */
  readonly name: string;
  readonly description: string;
  /** The schema of each argument. None is called `cap`: that argument says which cap. */
  readonly parameters: Readonly<Record<string, Schema>>;
  /** The arguments that may be left out. */
  readonly optional: readonly string[];
  /** Sends the message to the cap. */
  send(cap: object, args: Args): Promise<unknown>;
  /** The method and the arguments of that message. Undefined for a verb that has a `send` of its own. */
  readonly message?: Message;
}

/** The one message that a verb sends. */
type Message = (args: Args) => readonly [method: string, args: readonly unknown[]];

/** The verbs of a cap. */
export type Kind = readonly Verb[];

/** A verb to be made. */
export interface VerbOptions {
  readonly name: string;
  readonly description: string;
  readonly parameters?: Readonly<Record<string, Schema>>;
  readonly optional?: readonly string[];
  /** The method of the cap, by default the name of the verb. It gets the arguments in the order of `parameters`. */
  readonly method?: string;
  /** Sends something else instead. */
  readonly send?: (cap: object, args: Args) => Promise<unknown>;
}

const verbOptions: OptionNames<VerbOptions> = {
  name: true,
  description: true,
  parameters: true,
  optional: true,
  method: true,
  send: true,
};

type Sends = Readonly<Record<string, (...args: readonly unknown[]) => Promise<unknown>>>;

/** Sends one message. */
const tell = (cap: object, method: string, args: readonly unknown[]): Promise<unknown> =>
  ((E(cap) as unknown as Sends)[method] as Sends[string])(...args);

/** Makes a verb for a method of your own caps. Errors: `invalid`. */
export function verb(options: VerbOptions): Verb {
  const taken = takeOptions(options, 'verb', verbOptions);
  const { name, parameters = {}, method = name, send } = taken;
  const order = Object.keys(parameters);
  const made = checkedVerb(taken);
  return Object.freeze(
    send === undefined ? withMessage(made, (args) => [method, inOrder(order, args)]) : { ...made, send },
  );
}

function checkedVerb({ name, description, parameters = {}, optional = [] }: VerbOptions): Omit<Verb, 'send'> {
  if (!/^\w{1,48}$/.test(name)) throw new CapError('invalid', `"${name}" is no name of a tool: letters, digits and _`);
  if (Object.hasOwn(parameters, 'cap')) throw new CapError('invalid', '"cap" is the argument that says which cap');
  return { name, description, parameters, optional };
}

const withMessage = (made: Omit<Verb, 'send'>, message: Message): Verb => ({
  ...made,
  message,
  send: (cap, args) => tell(cap, ...message(args)),
});

/** A verb of ours: it sends one message. */
const telling = (options: VerbOptions, message: Message): Verb =>
  Object.freeze(withMessage(checkedVerb(options), message));

/** The arguments by position, without those at the end that were left out. */
function inOrder(order: readonly string[], args: Args): readonly unknown[] {
  // Own ones only: `constructor` may be the name of an argument that was left out.
  const given = order.map((name) => (Object.hasOwn(args, name) ? args[name] : undefined));
  while (given.length > 0 && given.at(-1) === undefined) given.pop();
  return given;
}

/** The named options as one record, and nothing if none is given. */
function options(args: Args, ...names: readonly string[]): readonly object[] {
  const given = names.filter((name) => args[name] !== undefined);
  return given.length === 0 ? [] : [Object.fromEntries(given.map((name) => [name, args[name]]))];
}

/** Whether the cap's own directory is meant: models write that as an empty path, too. */
const isOwn = (args: Args): boolean => args['path'] === undefined || args['path'] === '';

const text: Schema = { type: 'string' };
const path: Schema = { type: 'string', description: "relative to the cap's own directory" };

/** A whole number from 1. */
export const count: Schema = { type: 'integer', minimum: 1 };

/** Reads a text file of a directory. */
export const READ: Verb = telling(
  {
    name: 'read',
    description: 'Reads a text file.',
    parameters: { path, line: count, lines: count },
    optional: ['line', 'lines'],
  },
  (args) => ['readText', [args['path'], ...options(args, 'line', 'lines')]],
);

/** Lists a directory. Not `list`, which is one typo away from `edit` for a loop that repairs names. */
export const ENTRIES: Verb = telling(
  {
    name: 'entries',
    description: 'Lists the names in a directory.',
    parameters: { path },
    optional: ['path'],
  },
  (args) => ['list', isOwn(args) ? [] : [args['path']]],
);

/** Searches the files of a directory. */
export const SEARCH: Verb = telling(
  {
    name: 'search',
    description: 'Finds a text in files.',
    parameters: { text, path, glob: text },
    optional: ['path', 'glob'],
  },
  (args) => ['search', [args['text'], ...(isOwn(args) ? options(args, 'glob') : options(args, 'path', 'glob'))]],
);

/** Writes a text file of a directory. */
export const WRITE: Verb = verb({
  name: 'write',
  description: 'Writes a whole text file.',
  parameters: { path, text },
});

/** Edits a text file of a directory. */
export const EDIT: Verb = telling(
  {
    name: 'edit',
    description: 'Replaces a text, which must be there once, in a file.',
    parameters: { path, old: text, new: text },
  },
  (args) => ['edit', [args['path'], [{ oldText: args['old'], newText: args['new'] }]]],
);

/** Makes a directory of a directory. */
export const MKDIR: Verb = telling(
  {
    name: 'mkdir',
    description: 'Makes a directory, and those above it.',
    parameters: { path },
  },
  (args) => ['mkdir', [args['path'], { recursive: true }]],
);

/** Runs a command of a `ShellCap`. */
export const RUN: Verb = verb({
  name: 'run',
  description: 'Runs a command of the shell in a sandbox that holds what the cap mounts.',
  parameters: { command: text },
});

/** Runs the program of a `CommandCap`. */
export const LAUNCH: Verb = verb({
  name: 'launch',
  description: "Runs the cap's program with these arguments.",
  parameters: { args: { type: 'array', items: text } },
  method: 'run',
});

/** The verbs of a directory that is only read. */
export const READ_ONLY: Kind = Object.freeze([READ, ENTRIES, SEARCH]);
/** The verbs of a directory. */
export const DIRECTORY: Kind = Object.freeze([...READ_ONLY, WRITE, EDIT, MKDIR]);
/** The verb of a `ShellCap`. */
export const SHELL: Kind = Object.freeze([RUN]);
/** The verb of a `CommandCap`. */
export const COMMAND: Kind = Object.freeze([LAUNCH]);
