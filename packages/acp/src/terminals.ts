/**
 * `terminal/*` of an editor, served by the shell that the session holds: a terminal is a job in the sandbox.
 *
 * Promise: a terminal is known in the session that began it alone. It ends when it is released, when the turn
 * is cancelled and with its agent.
 */
import { E, type Far } from '@hob/vat/peer';
import { told, withMethod } from './files.ts';
import type { Held, Job, Reach, Shell, Source } from './held.ts';
import { countIn, type Fields, notFound, textIn, wrongParams } from './peer.ts';

const MOST = 16;
const MOST_OUTPUT = 1024 * 1024;

interface Exit {
  readonly exitCode: number | null;
  readonly signal: string | null;
}

/** The terminals of one session. */
export class Terminals {
  readonly #reach: Reach;
  readonly #root: string;
  readonly #open = new Map<string, Terminal>();
  #begun = 0;

  constructor(reach: Reach, root: string) {
    this.#reach = reach;
    this.#root = root;
  }

  /** `terminal/create` */
  async create(params: Fields): Promise<object> {
    if (this.#open.size >= MOST) throw wrongParams(`${MOST} terminals are open: release one`);
    const text = commandText(params, this.#root);
    const bytes = Math.min(countIn(params, 'outputByteLimit') ?? MOST_OUTPUT, MOST_OUTPUT);
    const session = await told(this.#reach());
    const [shell] = withMethod((await told(E(session).holdings())) as readonly Held[], 'spawn');
    if (shell === undefined) throw notFound('this session holds no shell: the verb request_cap asks for one');
    const cap = E(session).cap(shell) as unknown as Far<Shell>;
    const job = (await told(E(cap).spawn(text))) as unknown as Far<Job>;
    this.#begun += 1;
    const id = `hob-terminal-${this.#begun}`;
    this.#open.set(id, new Terminal(job, bytes));
    return { terminalId: id };
  }

  /** `terminal/output` */
  output = async (params: Fields): Promise<object> => this.#named(params).shown();

  /** `terminal/wait_for_exit` */
  wait = async (params: Fields): Promise<object> => await told(this.#named(params).exit);

  /** `terminal/kill` */
  async kill(params: Fields): Promise<object> {
    await this.#named(params).kill();
    return {};
  }

  /** `terminal/release` */
  async release(params: Fields): Promise<object> {
    const terminal = this.#named(params);
    this.#open.delete(textIn(params, 'terminalId'));
    await terminal.kill();
    return {};
  }

  /** Ends the jobs. Their terminals can still be read. */
  async killAll(): Promise<void> {
    await Promise.all([...this.#open.values()].map((terminal) => terminal.kill()));
  }

  #named(params: Fields): Terminal {
    const found = this.#open.get(textIn(params, 'terminalId'));
    if (found === undefined) throw notFound('this session has no terminal of that id');
    return found;
  }
}

/** The job and the end of its output. */
class Terminal {
  readonly #job: Far<Job>;
  readonly #most: number;
  readonly exit: Promise<Exit>;
  #kept: Buffer = Buffer.alloc(0);
  #cut = false;
  #ended: Exit | undefined;

  constructor(job: Far<Job>, most: number) {
    this.#job = job;
    this.#most = most;
    const read = Promise.all([this.#read(E(job).stdout()), this.#read(E(job).stderr())]);
    this.exit = read.then(async () => {
      const { status, ended } = await E(job).wait();
      this.#ended = ended === 'exit' ? { exitCode: status, signal: null } : { exitCode: null, signal: ended };
      return this.#ended;
    });
    this.exit.catch(() => {});
  }

  shown(): object {
    // A character that the cut goes through is left out.
    const start = this.#cut ? this.#kept.findIndex((byte) => (byte & 0xc0) !== 0x80) : 0;
    const output = this.#kept.subarray(Math.max(0, start)).toString();
    return { output, truncated: this.#cut, ...(this.#ended === undefined ? {} : { exitStatus: this.#ended }) };
  }

  async kill(): Promise<void> {
    await E(this.#job)
      .signal('KILL')
      // It has ended already.
      .catch(() => {});
  }

  async #read(source: Promise<Far<Source>>): Promise<void> {
    for (;;) {
      const chunk = await E(source).next(65_536);
      if (chunk === undefined) return;
      const all = Buffer.concat([this.#kept, chunk]);
      this.#cut ||= all.length > this.#most;
      this.#kept = all.subarray(Math.max(0, all.length - this.#most));
    }
  }
}

/**
 * The words of a shell for a program, its arguments, its environment and its directory. Nothing of it is
 * judged: the sandbox is the limit.
 */
export function commandText(params: Fields, root: string): string {
  const command = textIn(params, 'command');
  const args = listIn(params, 'args').map((arg) => quoted(asText(arg)));
  const env = listIn(params, 'env').map((each) => {
    const { name, value } = (each ?? {}) as Fields;
    if (typeof name !== 'string' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw wrongParams('env has names of variables');
    return `export ${name}=${quoted(asText(value))}; `;
  });
  const cwd = params['cwd'] === undefined || params['cwd'] === null ? root : textIn(params, 'cwd');
  const below = cwd.startsWith(`${root}/`) ? cwd.slice(root.length + 1) : cwd;
  const enter = cwd === root ? '' : `cd ${quoted(below)} && `;
  // Agents give a whole line as the command, if they give no arguments.
  return `${enter}${env.join('')}${args.length === 0 ? command : [quoted(command), ...args].join(' ')}`;
}

function listIn(params: Fields, name: string): readonly unknown[] {
  const list = params[name] ?? [];
  if (!Array.isArray(list)) throw wrongParams(`${name} is a list`);
  return list;
}

function asText(value: unknown): string {
  if (typeof value !== 'string' || value.includes('\0')) throw wrongParams('arguments and variables are texts');
  return value;
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
