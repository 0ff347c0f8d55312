/**
 * The tutorial, played as its reader does: every block of it, in its order, in three terminals (pty), by an ordinary
 * user with an empty home, with the packed packages.
 *
 * `ts NAME` is saved, `sh terminal N` is typed, and `text` is what comes then, with `…` for what differs. The port and
 * the folder of the reader are the test's own, and the packages are installed already.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { requires } from './needs.ts';
import { type Installed, installed } from './packed/installed.ts';
import { nodeFolder, USER } from './packed/user.ts';
import { read } from './sources.ts';

let made: Installed | undefined;
beforeAll(async () => {
  made = await installed();
}, 400_000);
afterAll(() => made?.remove());

interface Block {
  readonly language: string;
  readonly info: string;
  readonly text: string;
}

const page = read('docs/tutorial.md').text;
const blocks: readonly Block[] = [...page.matchAll(/^```(\w*) ?(.*)\n([\s\S]*?)^```$/gm)].map(
  ([, language = '', info = '', text = '']) => ({ language, info, text }),
);

/** The content of a block of `text`, with anything for `…`. A table is as wide as what is in it. */
const expected = (text: string): RegExp =>
  new RegExp(
    `^${text
      .trimEnd()
      .split('…')
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&').replace(/ {2,}/g, ' +'))
      .join('[\\s\\S]*?')}$`,
  );

/** What it installs, by name. */
const packages: readonly string[] = page.match(/^npm install (@hob\/.*)$/m)?.[1]?.split(' ') ?? [];

/** What moves the cursor, and is no text. */
const CONTROL = new RegExp(`${String.fromCharCode(27)}\\[[0-9;?]*[A-Za-z]|\\r`, 'g');

/** A command that was typed in a terminal, as it runs. */
class Typed {
  readonly child: ChildProcess;
  readonly ended: Promise<void>;
  said = '';
  constructor(text: string, cwd: string, env: Readonly<Record<string, string>>) {
    const user = process.getuid?.() === 0 ? { uid: USER, gid: USER } : {};
    const options = { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] as const, detached: true, ...user };
    this.child = spawn('script', ['-qec', text, '/dev/null'], { ...options, stdio: ['pipe', 'pipe', 'pipe'] });
    for (const stream of [this.child.stdout, this.child.stderr])
      stream?.setEncoding('utf8').on('data', (part: string) => {
        this.said += part.replace(CONTROL, '');
      });
    this.child.stdin?.on('error', () => {});
    this.ended = new Promise((resolve) => this.child.once('close', () => resolve()));
  }
  /** Types an answer when it is asked for. */
  async answer(question: RegExp, text: string): Promise<void> {
    await this.says(question);
    this.child.stdin?.write(`${text}\n`);
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
  #agentSecret = '';

  constructor(folder: string, port: number) {
    this.folder = folder;
    this.#port = port;
  }

  async play({ language, info, text }: Block): Promise<void> {
    const own = text.replaceAll('7710', String(this.#port));
    if (language === 'ts') writeFileSync(join(this.folder, info), own);
    else if (language === 'text') await this.#look(info === '' ? this.#last : info, own);
    else if (info !== 'every terminal' && !/^npm install/m.test(text)) await this.#type(info, own);
  }

  async #type(terminal: string, text: string): Promise<void> {
    // Ctrl-C, where something still runs there.
    await this.#terminals.get(terminal)?.end('SIGINT');
    const bin = join(this.folder, '..', 'node_modules', '.bin');
    const PATH = `${bin}:${nodeFolder(join(this.folder, '..'))}:/usr/bin:/bin`;
    const shell = new Typed(text, this.folder, { PATH, HOME: join(this.folder, 'home'), TERM: 'xterm' });
    this.#terminals.set(terminal, shell);
    this.#last = terminal;
    if (/hob-agent /.test(text)) await shell.answer(/secret.*: /, this.#agentSecret);
    if (/^hob grant (?!.*--yes)/.test(text)) await shell.answer(/\(yes or no\)/, 'yes');
    if (/^node host\.ts/.test(text)) await shell.says(/ready at .*\n/);
    else if (/ (?:sorts|writes)\.ts/.test(text)) await shell.says(/waiting\n/);
    else await shell.ended;
  }

  async #look(terminal: string, text: string): Promise<void> {
    const shell = this.#terminals.get(terminal) as Typed;
    if (!/ready at /.test(text)) await shell.ended;
    // What was asked is on the screen, too, and a secret that was typed is not.
    const said = shell.said.replace(/^The session’s secret.*: \n/, '').trimEnd();
    expect(said).not.toContain(this.#agentSecret || '\0');
    expect(said).toMatch(expected(text));
    this.#agentSecret = /agent's secret: (\S+)/.exec(said)?.[1] ?? this.#agentSecret;
  }

  async leave(): Promise<void> {
    for (const shell of this.#terminals.values()) await shell.end('SIGKILL');
  }
}

requires(
  'linux',
  'zig',
  'userns',
  'pty',
)(
  'every block of the tutorial does what the tutorial says, in its order, with the packed packages alone',
  async (context) => {
    if (made === undefined) return context.skip('needs the package registry, for what Hob depends on');
    const folder = join(made.folder, 'my-host');
    for (const place of [folder, join(folder, 'home')]) {
      mkdirSync(place);
      if (process.getuid?.() === 0) chownSync(place, USER, USER);
    }
    const reader = new Reader(folder, await freePort());
    onTestFinished(() => reader.leave());
    for (const block of blocks) await reader.play(block);
  },
  400_000,
);

test('the tutorial installs each package that its programs and commands come from', () => {
  const programs = blocks.filter(({ language }) => language === 'ts').map(({ text }) => text);
  const used = programs.flatMap((text) => [...text.matchAll(/from '(@hob\/[a-z-]+)/g)].map((found) => found[1]));
  // `hob` is of the last one.
  expect([...new Set([...used, '@hob/cli'])].sort()).toEqual([...packages].sort());
});

test('every block of the tutorial is one that the test plays', () => {
  expect(blocks.length).toBeGreaterThan(25);
  for (const { language, info } of blocks) expect(`${language} ${info}`).toMatch(/^(?:ts [a-z]+\.ts|sh (?:terminal [123]|every terminal)|text (?:terminal 2)?)$/); // biome-ignore format: one line
});
