/** Processes of one cluster, and everything that they printed. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { type Call, whyNot } from '../../../test/history/grant-history.ts';

/** The number of uses of each grant: more than a test can use. */
const USES = 1_000_000;
const CHILD = join(import.meta.dirname, '..', 'crash', 'child.ts');

/** Collects the lines that all processes of a run print, and checks them. */
export class Said {
  readonly #calls = new Map<string, { readonly tenant: string; readonly call: Call }>();
  readonly #effects: { readonly tenant: string; readonly left: number; readonly at: number }[] = [];
  /** The numbers of answers and of openings, by tenant and process. */
  readonly #counts = new Map<string, number>();

  take(of: Life, line: string): void {
    const [kind, ...words] = line.split(' ');
    const at = Number(words.at(-1));
    const [first = '', second = ''] = words;
    if (kind === 'open') this.#count(`open ${first} ${of.id}`);
    if (kind === 'effect') this.#effects.push({ tenant: first, left: Number(second), at });
    const id = `${of.id}/${first}`;
    if (kind === 'call') {
      const call = { kind: words[2] as Call['kind'], from: at, to: Number.POSITIVE_INFINITY, answer: undefined };
      this.#calls.set(id, { tenant: second, call });
    }
    const made = kind === 'back' ? this.#calls.get(id) : undefined;
    if (made === undefined) return;
    this.#calls.set(id, { ...made, call: { ...made.call, to: at, answer: Number(second) } });
    this.#count(`answer ${made.tenant} ${of.id}`);
  }

  /** How often a tenant was opened, or has answered; by one process, or by all. */
  count(what: 'open' | 'answer', tenant: string, of?: Life): number {
    const start = `${what} ${tenant} ${of?.id ?? ''}`;
    return [...this.#counts].reduce((sum, [key, n]) => sum + (key.startsWith(start) ? n : 0), 0);
  }

  /** Fails if no order of the calls of a tenant explains its answers, or if a use was spent twice. */
  check(): { readonly answers: number; readonly effects: number } {
    const spent = this.#effects.map(({ tenant, left }) => `${tenant}/${left}`);
    expect(new Set(spent).size).toBe(spent.length);
    const histories = new Map<string, Call[]>();
    for (const { tenant, call } of this.#calls.values())
      histories.set(tenant, [...(histories.get(tenant) ?? []), call]);
    for (const { tenant, left, at } of this.#effects) {
      const calls = histories.get(tenant) as Call[];
      // An effect shows that its use was charged, also where the answer was lost.
      if (!calls.some(({ kind, answer }) => kind === 'use' && answer === left))
        calls.push({ kind: 'use', from: 0, to: at, answer: left });
    }
    for (const [tenant, history] of histories) expect(whyNot(USES, history), tenant).toBe(undefined);
    const answers = [...this.#calls.values()].filter(({ call }) => call.answer !== undefined).length;
    return { answers, effects: spent.length };
  }

  #count(key: string): void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }
}

let lives = 0;

/** A process of the cluster. It is killed when the test has finished. */
export class Life {
  readonly id: string = `p${(lives += 1)}.`;
  readonly name: string;
  readonly child: ChildProcess;
  readonly over: Promise<void>;
  /** Resolves when it has joined. */
  readonly joined: Promise<void>;

  constructor(said: Said, { url, name, leaseMs }: { url: string; name: string; leaseMs: number }) {
    this.name = name;
    const folder = mkdtempSync(join(tmpdir(), 'hob-cluster-'));
    const given = [url, name, folder, leaseMs, USES].map(String);
    this.child = spawn(process.execPath, [CHILD, ...given], { stdio: ['pipe', 'pipe', 'inherit'] });
    const joined = Promise.withResolvers<void>();
    this.joined = joined.promise;
    let rest = '';
    this.child.stdout?.on('data', (bytes) => {
      const lines = `${rest}${bytes}`.split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) said.take(this, line);
      if (lines.some((line) => line.startsWith('joined '))) joined.resolve();
    });
    this.over = new Promise((then) => this.child.once('close', () => then()));
    void this.over.then(() => joined.reject(new Error(`${name} has ended before it joined`)));
    joined.promise.catch(() => {}); // a test may not wait for it
    onTestFinished(async () => {
      await this.kill();
      rmSync(folder, { recursive: true, force: true });
    });
  }

  get isOver(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  async kill(): Promise<void> {
    this.child.kill('SIGKILL');
    await this.over;
  }

  /** Leaves the cluster, and ends. */
  async leave(): Promise<void> {
    this.child.stdin?.end();
    await this.over;
  }
}
