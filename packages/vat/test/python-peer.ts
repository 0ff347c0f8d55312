/**
 * A process of `packages/bridge-python`, as a peer: many connections over its stdin and stdout
 * (`tests/scenario_peer.py` there says how). It needs Python and nothing that is installed.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Duplex } from '../src/captp/session/duplex.ts';
import type { CapTPStats } from '../src/captp/session/session.ts';

const bridge = new URL('../../bridge-python/', import.meta.url).pathname;

export class PythonPeer {
  readonly #child: ChildProcess;
  readonly #ready = Promise.withResolvers<void>();
  readonly #gone: Promise<void>;
  readonly #wires = new Map<number, Duplex>();
  readonly #asked = new Map<number, (value: unknown) => void>();
  #last = 0;

  constructor() {
    this.#child = spawn('python3', [`${bridge}tests/scenario_peer.py`], {
      stdio: ['pipe', 'pipe', 'inherit'],
      env: { PATH: process.env['PATH'], PYTHONPATH: `${bridge}src`, PYTHONDONTWRITEBYTECODE: '1' },
    });
    this.#ready.promise.catch(() => {});
    this.#asked.set(0, () => this.#ready.resolve());
    // `close` comes after it. Nobody hears it otherwise, and then it ends the process of all tests.
    this.#child.on('error', () => {});
    this.#gone = new Promise((resolve) =>
      this.#child.once('close', () => {
        this.#ready.reject(new Error('the Python process ended'));
        for (const wire of this.#wires.values()) wire.close(1006, 'the Python process ended');
        for (const answer of this.#asked.values()) answer(undefined);
        resolve();
      }),
    );
    this.#child.stdin?.on('error', () => {});
    createInterface({ input: this.#child.stdout as NodeJS.ReadableStream }).on('line', (line) => this.#heard(line));
  }

  ready(): Promise<void> {
    return this.#ready.promise;
  }

  #heard(line: string): void {
    const { c, text, bytes, close, id, value } = JSON.parse(line) as {
      readonly c?: number;
      readonly text?: string;
      readonly bytes?: string;
      readonly close?: readonly [number, string];
      readonly id?: number;
      readonly value?: unknown;
    };
    if (id !== undefined) {
      this.#asked.get(id)?.(value);
      this.#asked.delete(id);
      return;
    }
    const wire = this.#wires.get(c as number);
    if (text !== undefined) wire?.send(text);
    else if (bytes !== undefined) wire?.send(Buffer.from(bytes, 'base64'));
    else if (close !== undefined) wire?.close(...close);
  }

  #tell(line: object): void {
    this.#child.stdin?.write(`${JSON.stringify(line)}\n`);
  }

  /**
   * The Python side speaks at the other end of this wire; `how` says as what, unless it knows. Answers its
   * number.
   */
  join(wire: Duplex, how?: object): number {
    this.#last += 1;
    const c = this.#last;
    this.#wires.set(c, wire);
    if (how !== undefined) this.#tell({ c, ...how });
    // A message that comes before it was told to speak has to wait.
    wire.onFrame((frame) =>
      this.#tell(typeof frame === 'string' ? { c, text: frame } : { c, bytes: Buffer.from(frame).toString('base64') }),
    );
    wire.onClose(({ code, reason }) => {
      if (this.#wires.delete(c)) this.#tell({ c, close: [code, reason] });
    });
    return c;
  }

  ask(what: object): Promise<unknown> {
    this.#last += 1;
    const id = this.#last;
    return new Promise((resolve) => {
      this.#asked.set(id, resolve);
      this.#tell({ ...what, id });
    });
  }

  stats(of: readonly number[]): Promise<readonly CapTPStats[]> {
    return this.ask({ ask: 'stats', of }) as Promise<readonly CapTPStats[]>;
  }

  async end(): Promise<void> {
    this.#child.stdin?.end();
    await this.#gone;
  }
}
