/**
 * The Hermes world: the real `hermes-agent`, driven by the shim of packages/bridge-python, in a cage.
 *
 * Promise: nothing of Hermes' rules is here. Whoever is asked for approval is nobody: every question is answered with no and counted, so
 * what runs is what Hermes lets through by itself.
 */
import { execFileSync } from 'node:child_process';
import { join, relative } from 'node:path';
import { type Cage, openCage } from './cage.ts';
import type { Machine, Place } from './machine.ts';

const SHIM = join(import.meta.dirname, '..', 'packages', 'bridge-python', 'src');

/** How Hermes took one command. `down`: it was ended by what it ran, or by its time. */
export interface Taken {
  readonly verdict: 'ran' | 'asked' | 'refused' | 'down';
  /** In its words, where it did not just run. */
  readonly why?: string;
  readonly status?: number;
  readonly output: string;
}

export interface Hermes {
  readonly version: string;
  /** Through its terminal tool, steps in one task as a model would call them; ends at the first that is not run. */
  run(steps: readonly string[]): Promise<Taken>;
  /** Any tool, as the shim answers; relative paths are of the work directory. Undefined: it went down. */
  tool(name: string, args: object): Promise<ToolAnswer | undefined>;
  /** Any other op of the shim. */
  ask(line: Readonly<Record<string, unknown>>): Promise<Readonly<Record<string, unknown>>>;
  reached(): number;
  renew(): Promise<void>;
  close(): Promise<void>;
}

export interface ToolAnswer {
  readonly result: Readonly<Record<string, unknown>>;
  readonly asked: readonly unknown[];
}

/** As the shim says it. */
interface Verdict {
  readonly result?: unknown;
  readonly asked?: readonly unknown[];
  readonly error?: { readonly code: string; readonly message: string };
}
const ENDED: readonly string[] = ['died', 'timeout'];
const asRecord = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : { text: value };

export interface HermesSettings {
  /** The Python of an environment that has it. */
  readonly python: string;
  readonly version: string;
  readonly machine: Machine;
  readonly twin: Place;
  readonly port: number;
  readonly mark: string;
}

export async function openHermes({ python, version, ...rest }: HermesSettings): Promise<Hermes> {
  const { program, trees, packages } = interpreter(python);
  const cage = await openCage({
    ...rest,
    python: program,
    program: [program, '-m', 'hob.hermes_shim', ...places(rest.machine)],
    trees: { ...trees, '/opt/bisim/shim': SHIM },
    env: { PYTHONPATH: `/opt/bisim/shim:${packages}`, PYTHONDONTWRITEBYTECODE: '1' },
  });
  return hermesIn(cage, version);
}

/** The machine as it is, and a place of its own for what the shim needs besides. */
const places = ({ home, work }: Machine): readonly string[] => [
  ...['--root', '/tmp/shim'],
  ...['--home', home],
  ...['--hermes-home', join(home, '.hermes')],
  ...['--work', work],
];

function hermesIn(cage: Cage, version: string): Hermes {
  let task = 0;
  const tool = async (name: string, args: object): Promise<ToolAnswer | undefined> => {
    const answer = await cage.ask({ op: 'tool', name, args, task: `task-${task}`, answer: 'deny' });
    const verdict = answer?.['verdict'] as Verdict | undefined;
    if (verdict === undefined || ENDED.includes(verdict.error?.code ?? '')) {
      await cage.renew();
      return undefined;
    }
    if (verdict.result === undefined) throw new Error(`the shim says ${JSON.stringify(verdict)}`);
    return { result: asRecord(verdict.result), asked: verdict.asked ?? [] };
  };
  return {
    version,
    run: async (steps) => {
      task += 1;
      let last: Taken = { verdict: 'ran', output: '' };
      // Hermes has one shell for all tasks: what a row leaves in it (a directory, a variable) would be the next one's.
      await cage.ask({ op: 'end' });
      for (const command of steps) {
        const answer = await tool('terminal', { command, timeout: 15 });
        last = answer === undefined ? { verdict: 'down', output: '' } : taken(answer);
        if (last.verdict !== 'ran') break;
      }
      return last;
    },
    tool: async (name, args) => {
      // Each call in a task of its own: it remembers what it has read, and answers the second time without the content.
      task += 1;
      return await tool(name, args);
    },
    ask: async (line) => {
      const answer = await cage.ask(line);
      if (answer === undefined) throw new Error(`the shim went down at ${JSON.stringify(line)}`);
      return asRecord(answer['verdict']);
    },
    reached: () => cage.reached(),
    renew: () => cage.renew(),
    close: () => cage.close(),
  };
}

function taken({ result, asked }: ToolAnswer): Taken {
  const error = typeof result['error'] === 'string' ? result['error'] : '';
  const output = typeof result['output'] === 'string' ? result['output'] : '';
  if (asked.length > 0) return { verdict: 'asked', why: JSON.stringify(asked[0]).slice(0, 300), output: '' };
  if (result['status'] === 'blocked' || /^BLOCKED/.test(error) || result['status'] === 'approval_required')
    return { verdict: 'refused', why: error.slice(0, 300), output: '' };
  // Not a matter of approval, but of its own rules about how a command has to be called (`nohup`, a server in the foreground).
  if (result['exit_code'] === -1 && output === '') return { verdict: 'refused', why: error.slice(0, 300), output: '' };
  return { verdict: 'ran', status: Number(result['exit_code'] ?? -1), output };
}

/** An interpreter as a cage has it: its program and what belongs to it, and where its packages are. */
export interface Interpreter {
  readonly program: string;
  readonly trees: Readonly<Record<string, string>>;
  readonly packages: string;
}

export function interpreter(python: string): Interpreter {
  const code =
    'import os, sys, sysconfig; print(os.path.realpath(sys.executable)); print(os.path.realpath(sys.base_prefix)); print(sysconfig.get_path("purelib"))';
  const [program = '', base = '', purelib = ''] = execFileSync(python, ['-c', code], { encoding: 'utf8' })
    .trim()
    .split('\n');
  // Where it is, for it may know its own path; unless a sandbox has another thing there, or all of it anyway.
  const own = base === '/usr' || base.startsWith('/usr/');
  const at = /^\/(?:tmp|opt\/hob)(?:\/|$)/.test(base) ? '/opt/bisim/python' : base;
  return {
    program: own ? program : join(at, relative(base, program)),
    trees: { '/opt/bisim/packages': purelib, ...(own ? {} : { [at]: base }) },
    packages: '/opt/bisim/packages',
  };
}
