/** Runs the programs of the host package as processes, for tests, the demo and the chaos run, and reads what they print. */
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import { inherited } from './mutants/environment.ts';

const HOB: string = resolve(import.meta.dirname, '../packages/cli/src/main.ts');
/** The command `hob`, its verb `workspace`, or a program of the host package. An absolute path stays as it is. */
const lineOf = (name: string): readonly string[] => {
  if (name === 'hob') return [HOB];
  if (name === 'workspace') return [HOB, 'workspace'];
  return [resolve(import.meta.dirname, '../packages/host/src/programs', name)];
};
const resolveHook = new URL('../scripts/resolve.mjs', import.meta.url).href;

export class Program {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  /** The whole text that a host wrote to descriptor 3. */
  readonly handed: Promise<string>;
  #listeners = new Set<() => void>();
  /** Exit code, or the signal's name. */
  readonly ended: Promise<number | string>;

  constructor(
    name: string,
    args: readonly string[],
    options: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string } = {},
  ) {
    // Only PATH, HOME and a mutant are inherited. The sentinel of a scratch state stays in the scratch folder.
    const { PATH = '', HOME = '' } = process.env;
    const state = args.includes('--state') ? args[args.indexOf('--state') + 1] : undefined;
    const home = state === undefined ? {} : { XDG_STATE_HOME: resolve(state, '../xdg') };
    const serves = name === 'workspace' && !args.some((arg) => arg.startsWith('--secrets-to'));
    const to = serves ? ['--secrets-to', 'fd:3'] : [];
    this.child = spawn(process.execPath, ['--import', resolveHook, ...lineOf(name), ...args, ...to], {
      env: { PATH, HOME, ...home, ...inherited(), ...options.env },
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
    this.handed = wholeOf(this.child.stdio[3] as NodeJS.ReadableStream);
    this.handed.catch(() => {});
    this.child.stdin?.on('error', () => {});
    this.child.stdin?.end(options.stdin ?? '');
    for (const stream of [this.child.stdout, this.child.stderr]) this.#read(stream as NodeJS.ReadableStream);
    this.ended = new Promise((resolve) =>
      this.child.once('close', (code, signal) => {
        resolve(code ?? signal ?? 'unknown');
        this.#tell();
      }),
    );
  }

  /** Waits for a line for which `found` returns true. Returns undefined if the program ends, or `ms` pass, without one. */
  async line(found: (line: string) => boolean, ms = 60_000): Promise<string | undefined> {
    const until = Date.now() + ms;
    for (;;) {
      const line = this.lines.find(found);
      if (line !== undefined) return line;
      if (this.child.exitCode !== null || this.child.signalCode !== null || Date.now() > until)
        return this.lines.find(found);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(wake, 250);
        const listeners = this.#listeners;
        function wake(): void {
          clearTimeout(timer);
          listeners.delete(wake);
          resolve();
        }
        listeners.add(wake);
      });
    }
  }

  kill(signal: NodeJS.Signals): void {
    this.child.kill(signal);
  }

  /** Sends SIGTERM, and SIGKILL 30 s later. Resolves to the exit code. */
  async stop(): Promise<number | string> {
    this.kill('SIGTERM');
    const timer = setTimeout(() => this.kill('SIGKILL'), 30_000);
    const code = await this.ended;
    clearTimeout(timer);
    return code;
  }

  #read(stream: NodeJS.ReadableStream): void {
    let rest = '';
    stream.setEncoding('utf8');
    stream.on('data', (text: string) => {
      const parts = (rest + text).split('\n');
      rest = parts.pop() ?? '';
      this.lines.push(...parts);
      this.#tell();
    });
    stream.on('end', () => {
      if (rest !== '') this.lines.push(rest);
      this.#tell();
    });
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}

/** Where a host listens, and the secrets of its session and its granter. */
export interface Ready {
  readonly url: string;
  readonly session: { readonly id: string; readonly secret: string };
  readonly granter: { readonly name: string; readonly secret: string };
}

interface Secrets {
  readonly session: { readonly id?: string; readonly secret?: string };
  readonly granter: { readonly name: string; readonly secret?: string };
}

/** Waits until the host serves. A later start on the same state hands over no secrets: they are taken from `known`. */
export async function readiness(host: Program, known?: Ready): Promise<Ready> {
  const line = await host.line((each) => each.startsWith('hob ready '));
  if (line === undefined) throw new Error(`the host did not start: ${host.lines.join('\n')}`);
  const { url } = JSON.parse(line.slice('hob ready '.length)) as { readonly url: string };
  const { session, granter } = JSON.parse(await host.handed) as Secrets;
  return {
    url,
    session: { ...session, id: session.id ?? '', secret: session.secret ?? known?.session.secret ?? '' },
    granter: { name: granter.name, secret: granter.secret ?? known?.granter.secret ?? '' },
  };
}

async function wholeOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = '';
  stream.setEncoding('utf8');
  for await (const part of stream) text += String(part);
  return text;
}
