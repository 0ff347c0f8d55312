/** The near end of `puppet-child.ts`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export interface Said {
  readonly value?: unknown;
  readonly code?: string;
  readonly message?: string;
}
/** A connection that the other process has. */
export interface Entered {
  call(petname: string, method: string, ...args: readonly unknown[]): Promise<Said>;
  send(method: string, ...args: readonly unknown[]): Promise<Said>;
  leave(): Promise<unknown>;
}

export class Puppet {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #waiting = new Map<number, (said: Said) => void>();
  #asked = 0;

  constructor() {
    this.#child = spawn(process.execPath, [new URL('./puppet-child.ts', import.meta.url).pathname], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    this.#gone = new Promise<void>((resolve) => this.#child.once('close', () => resolve()));
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const { id, ...said } = JSON.parse(line) as Said & { id: number };
      this.#waiting.get(id)?.(said);
      this.#waiting.delete(id);
    });
  }

  async enter(url: string, secret: string): Promise<Entered> {
    const { value: n } = await this.#ask('enter', url, secret);
    return {
      call: (...what) => this.#ask('call', n, ...what),
      send: (...what) => this.#ask('send', n, ...what),
      leave: () => this.#ask('leave', n),
    };
  }

  /** kill -9 */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
  }

  #ask(...what: readonly unknown[]): Promise<Said> {
    this.#asked += 1;
    const id = this.#asked;
    const answer = new Promise<Said>((resolve) => void this.#waiting.set(id, resolve));
    this.#child.stdin?.write(`${JSON.stringify({ id, what })}\n`);
    return answer;
  }
}
