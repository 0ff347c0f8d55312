/** `hob init`: a first manifest, from three answers. */
import type { May, Start, StartCommand } from '@hob/manifest';
import type { Ask } from '../../drivers/ask.ts';
import { Mistake } from '../../line/mistake.ts';
import { isGiven, listOf, textOf, type Verb } from '../../line/verb.ts';

/** `hob init` */
export const init: Verb = {
  name: 'init',
  operands: '[file]',
  about: 'writes a commented manifest: asks which folder, what the agent may do there, and which commands it may run',
  options: [
    { flags: '--root <dir>', about: 'the folder that the agent works in (default: this one)' },
    { flags: '--may <what>', about: 'read; ask: also change files, after a yes; write: change files (default: ask)' },
    { flags: '--command <line>', about: 'a command that it may run, such as "npm test"; may be repeated', many: true },
    { flags: '--yes', about: 'asks nothing, and uses the defaults for the other options' },
  ],
  examples: [
    'hob init',
    'hob init --yes',
    'hob init app.yaml --root ~/src/app --may write --command git --command "npm test"',
  ],
  json: '{ manifest: string, schema: string, root: string, may: "read" | "ask" | "write", commands: string[] }',
  codes: { 1: 'nothing was written: the file is there, lies in the folder, or the questions were not answered' },
  hardened: true,
  async run(given, { line, say, json }) {
    const { atTerminal } = await import('@hob/host/client');
    const { startCommands } = await import('@hob/manifest');
    const { asking } = await import('../../drivers/ask.ts');
    const { absolute, stateOf, usualManifest } = await import('../../drivers/places.ts');
    const { checkFree, rootAt, writeStart } = await import('../../drivers/start-file.ts');
    const file = absolute(given.operands[0] ?? usualManifest());
    checkFree(file);
    const own = [file, stateOf({ operands: [], options: {} })];
    const read = (lines: readonly string[]): readonly StartCommand[] => {
      const commands = startCommands(lines.map((one) => one.trim()).filter((one) => one !== ''));
      if (!('why' in commands)) return commands;
      throw new Mistake(`${commands.line} cannot be allowed here: ${commands.why}`);
    };
    const [root, may, lines] = [textOf(given, 'root'), textOf(given, 'may'), listOf(given, 'command')];
    const collect = async (ask?: Ask): Promise<Start> => ({
      root: await answer({ said: root, usual: '.', question: ROOT, ask, say }, (text) => rootAt(text, own)),
      may: await answer({ said: may, usual: 'ask', question: MAY, ask, say }, mayOf),
      commands:
        lines.length > 0
          ? read(lines)
          : await answer({ usual: '', question: COMMANDS, ask, say }, (text) => read(text.split(','))),
    });
    const isAsking = !isGiven(given, 'yes') && (root === undefined || may === undefined || lines.length === 0);
    if (isAsking && !atTerminal())
      throw new Mistake('there is no terminal to ask at: say --yes, or all of --root, --may and --command', 2);
    const start = isAsking ? await asking(collect) : await collect();
    const { schema, isOld } = writeStart(file, start);
    if (isOld)
      say(`hob: ${schema} is of another version, and stays as it is: hob check --schema prints the one of this`);
    line(`wrote ${file}`);
    line(`see what it gives:  hob explain ${file}`);
    line(`serve it:           hob serve --manifest ${file}`);
    json({
      manifest: file,
      schema,
      root: start.root,
      may: start.may,
      commands: start.commands.map(({ name }) => name),
    });
    return 0;
  },
};

const ROOT = 'Which folder does the agent work in?';
const MAY = 'What may it do there? read: only read; ask: also change files, after you said yes; write: change files';
const COMMANDS = 'Which commands may it run? Write them with commas, such as: git, npm test (nothing for none)';

interface Question {
  /** The value of an option. */
  readonly said?: string | undefined;
  readonly usual: string;
  readonly question: string;
  /** Undefined: nobody is asked. */
  readonly ask: Ask | undefined;
  readonly say: (text: string) => void;
}

/** The answer as it was read. A person who is asked may answer again. Errors: `Mistake`. */
async function answer<V>({ said, usual, question, ask, say }: Question, read: (text: string) => V): Promise<V> {
  if (said !== undefined || ask === undefined) return read(said ?? usual);
  for (;;) {
    const text = (await ask(`${question}${usual === '' ? '' : ` [${usual}]`}\n> `)).trim();
    try {
      return read(text === '' ? usual : text);
    } catch (error) {
      if (!(error instanceof Mistake)) throw error;
      say(error.message);
    }
  }
}

function mayOf(text: string): May {
  if (text === 'read' || text === 'ask' || text === 'write') return text;
  throw new Mistake('write read, ask or write', 2);
}
