/** The near end of `host-child.ts`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

export class HostProcess {
  readonly #child: ChildProcess;
  readonly #gone: Promise<void>;
  readonly #waiting = new Map<number, (said: { value?: unknown; code?: string }) => void>();
  readonly url: Promise<string>;
  #asked = 0;
  #ended = false;

  constructor(state: string, graceMs?: number, pace?: 'patient') {
    const file = new URL('./host-child.ts', import.meta.url).pathname;
    const options = [graceMs === undefined ? undefined : String(graceMs), pace].filter((each) => each !== undefined);
    this.#child = spawn(process.execPath, [file, state, ...options], { stdio: ['pipe', 'pipe', 'inherit'] });
    const served = Promise.withResolvers<string>();
    this.url = served.promise;
    this.#gone = new Promise<void>((resolve) =>
      this.#child.once('close', () => {
        this.#ended = true;
        served.reject(new Error('the host ended'));
        for (const tell of this.#waiting.values()) tell({ code: 'killed' });
        resolve();
      }),
    );
    served.promise.catch(() => {});
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const said = JSON.parse(line) as { id?: number; url?: string; value?: unknown; code?: string };
      if (said.url !== undefined) return served.resolve(said.url);
      this.#waiting.get(said.id as number)?.(said);
      this.#waiting.delete(said.id as number);
    });
    this.#child.stdin?.on('error', () => {});
  }

  /** The value, or the code of the error. */
  async do<T>(...what: readonly unknown[]): Promise<T> {
    if (this.#ended) return 'killed' as T;
    this.#asked += 1;
    const id = this.#asked;
    const said = await new Promise<{ value?: unknown; code?: string }>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#child.stdin?.write(`${JSON.stringify({ id, what })}\n`);
    });
    return (said.code ?? said.value) as T;
  }

  /** kill -9 */
  async kill(): Promise<void> {
    this.#child.kill('SIGKILL');
    await this.#gone;
  }
}
