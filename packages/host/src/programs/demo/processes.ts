/** Real processes for the demo and the chaos run: started, watched line by line, and gone when asked. */
import { type ChildProcess, spawn } from 'node:child_process';
import { resolve } from 'node:path';
import type { Secrets } from '../../drivers/secrets.ts';

/** Of this package, or of another checkout where it is a whole path. */
const file = (name: string): string => resolve(import.meta.dirname, '..', name);
const resolveHook = new URL('../../../../../scripts/resolve.mjs', import.meta.url).href;

export class Program {
  readonly child: ChildProcess;
  readonly lines: string[] = [];
  /** What a host handed over on descriptor 3, when it is all there. */
  readonly handed: Promise<string>;
  #listeners = new Set<() => void>();
  /** Exit code, or the signal's name. */
  readonly ended: Promise<number | string>;

  constructor(
    name: string,
    args: readonly string[],
    options: { readonly env?: Readonly<Record<string, string>>; readonly stdin?: string } = {},
  ) {
    // Nothing of the caller's environment but what a program needs to start. The sentinel of a scratch state stays in the scratch folder.
    const { PATH = '', HOME = '' } = process.env;
    const state = args.includes('--state') ? args[args.indexOf('--state') + 1] : undefined;
    const home = state === undefined ? {} : { XDG_STATE_HOME: resolve(state, '../xdg') };
    const serves = /(?:^|\/)main\.ts$/.test(name) && !args.some((arg) => /^--(?:demo|secrets-to)/.test(arg));
    const to = serves ? ['--secrets-to', 'fd:3'] : [];
    this.child = spawn(process.execPath, ['--import', resolveHook, file(name), ...args, ...to], {
      env: { PATH, HOME, ...home, ...options.env },
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

  /** The first line that `found` likes; undefined when it ended, or after `ms`, without one. */
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

  /** Asks it to end, then makes it. */
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

/** What a host said when it was ready. `known`: an earlier start on the same state; a secret is said only when it is new. */
export interface Ready {
  readonly url: string;
  readonly session: { readonly id: string; readonly secret: string };
  readonly granter: { readonly name: string; readonly secret: string };
}

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
