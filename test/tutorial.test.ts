/**
 * The tutorial, played as its reader does: every block of it, in its order, in three terminals.
 *
 * `ts NAME` is saved, `sh terminal N` is typed, and `text` is what comes then, with `…` for what differs. The port and
 * the folder of the reader are the test's own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { requires } from './needs.ts';
import { ROOT, read } from './sources.ts';

interface Block {
  readonly language: string;
  readonly info: string;
  readonly text: string;
}

const page = read('docs/tutorial.md').text;
const blocks: readonly Block[] = [...page.matchAll(/^```(\w*) ?(.*)\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', info = '', text = '']) => ({ language, info, text }),
);

/** The content of a block of `text`, with anything for `…`. */
const expected = (text: string): RegExp =>
  new RegExp(
    `^${text
      .trimEnd()
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('[\\s\\S]*?')}$`,
  );

/** A command that was typed in a terminal, as it runs. */
class Typed {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  said = '';
  constructor(text: string, cwd: string, env: Readonly<Record<string, string>>, input: string) {
    this.child = spawn('bash', ['-c', text], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'], detached: true });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding('utf8').on('data', (part: string) => {
        this.said += part;
      });
    this.child.stdin?.on('error', () => {});
    // For each command of the block that asks for a secret.
    this.child.stdin?.end(input);
    this.ended = new Promise((resolve) => this.child.once('close', () => resolve()));
  }
  get running(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }
  /** Waits until it has said that, or has ended. */
  async says(what: RegExp): Promise<void> {
    while (!what.test(this.said) && this.running) await new Promise((resolve) => setTimeout(resolve, 50));
    expect(this.said).toMatch(what);
  }
  async end(signal: NodeJS.Signals): Promise<void> {
    if (this.running) process.kill(-(this.child.pid as number), signal);
    await this.ended;
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { readonly port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** The three terminals of the reader. */
class Reader {
  readonly folder: string;
  readonly #port: number;
  readonly #terminals = new Map<string, Typed>();
  #last = '';
  #ids: readonly string[] = [];
  #secret = '';
  #agentSecret = '';

  constructor(folder: string, port: number) {
    this.folder = folder;
    this.#port = port;
  }

  async play({ language, info, text }: Block): Promise<void> {
    const own = text.replaceAll('7710', String(this.#port));
    if (language === 'ts') writeFileSync(join(this.folder, info), own);
    else if (language === 'text') await this.#look(info === '' ? this.#last : info, own);
    else if (info !== 'every terminal') await this.#type(info, own);
  }

  async #type(terminal: string, text: string): Promise<void> {
    // Ctrl-C, where something still runs there.
    await this.#terminals.get(terminal)?.end('SIGINT');
    const [id = 'ID', digest = 'DIGEST'] = this.#ids;
    const typed = text.replace(/\bID\b/g, id).replace(/\bDIGEST\b/g, digest);
    const secret = / agent -- /.test(text) ? this.#agentSecret : this.#secret;
    const { PATH = '' } = process.env;
    const env = { PATH, HOME: join(this.folder, 'home'), HOB: ROOT };
    // Each command reads its own line, as at a terminal; `head` would read further than that.
    const asked = typed.replace(/^(npm .* hob -- .*)$/gm, `$1 <<< "${secret}"`);
    const shell = new Typed(asked, this.folder, env, `${secret}\n`);
    this.#terminals.set(terminal, shell);
    this.#last = terminal;
    if (/-- host\.ts/.test(text)) await shell.says(/ready at /);
    else if (/-- (?:sorts|writes)\.ts/.test(text)) await shell.says(/waiting\n/);
    else await shell.ended;
  }

  async #look(terminal: string, text: string): Promise<void> {
    const shell = this.#terminals.get(terminal) as Typed;
    if (!/ready at /.test(text)) await shell.ended;
    const said = shell.said.trimEnd();
    expect(said).toMatch(expected(text));
    this.#secret = /your secret: (\S+)/.exec(said)?.[1] ?? this.#secret;
    this.#agentSecret = /agent's secret: (\S+)/.exec(said)?.[1] ?? this.#agentSecret;
    const found = /^([gq]\d+-\w+)(?: {2}([a-z2-7]{12}) {2})?/.exec(said);
    if (found !== null) this.#ids = found.slice(1);
  }

  async leave(): Promise<void> {
    for (const shell of this.#terminals.values()) await shell.end('SIGKILL');
  }
}

requires(
  'linux',
  'cc',
  'userns',
)('every block of the tutorial does what the tutorial says, in its order', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hob-tutorial-'));
  mkdirSync(join(folder, 'home'));
  const reader = new Reader(folder, await freePort());
  onTestFinished(async () => {
    await reader.leave();
    rmSync(folder, { recursive: true, force: true });
  });
  for (const block of blocks) await reader.play(block);
});

test('every block of the tutorial is one that the test plays', () => {
  expect(blocks.length).toBeGreaterThan(25);
  for (const { language, info } of blocks) expect(`${language} ${info}`).toMatch(/^(?:ts [a-z]+\.ts|sh (?:terminal [123]|every terminal)|text (?:terminal 2)?)$/); // biome-ignore format: one line
});
