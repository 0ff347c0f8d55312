/**
 * Runs command lines of `hob` one after the other in one process, because a start of a process takes ten times as long
 * as most lines. Only for lines that leave nothing running. The tests of `main.ts` start a process for each line.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

/** The hook with which a file outside of the repository finds our packages. */
export const resolveHook: string = new URL('../../../scripts/resolve.mjs', import.meta.url).href;

/** The output of a command. */
export interface Ran {
  readonly code: number | string;
  readonly out: string;
  readonly err: string;
}

export class Lines {
  readonly #child: ChildProcess;

  constructor(env: Readonly<Record<string, string>>, cwd: string) {
    const program = fileURLToPath(new URL('./lines-process.ts', import.meta.url));
    this.#child = fork(program, {
      env,
      cwd,
      execArgv: ['--import', resolveHook],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
  }

  async run(...args: readonly string[]): Promise<Ran> {
    const over = new AbortController();
    try {
      const ran = once(this.#child, 'message', over);
      const died = once(this.#child, 'exit', over).then(([code]) => {
        throw new Error(`the process of hob ${args.join(' ')} ended with ${code}`);
      });
      this.#child.send(args);
      return (await Promise.race([ran, died]))[0] as Ran;
    } finally {
      over.abort();
    }
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await ended;
  }
}
