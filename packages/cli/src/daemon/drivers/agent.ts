/**
 * Runs an agent's program with the entry to its session.
 *
 * Promise: the secret is in a file that only its user may read, in a folder that goes when the program ends; it is in
 * no environment and no command line. The configuration of an MCP server lies beside it. A folder that a killed
 * `hob start` left goes when the next one begins. The program gets the signals that end this one.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openSecretFile } from '@hob/host/programs';
import { processMark, removeLeft } from '@hob/vat/store';
import { Mistake } from '../../line/mistake.ts';
import type { OpenedEntry } from '../daemon.ts';

/** The entry to a session. */
export type Entry = Pick<OpenedEntry, 'url' | 'secret' | 'children'>;

/** Runs the program to its end. Returns its exit code, 128 + N for a signal. Errors: `Mistake` (it cannot be run). */
export const runAgent = ([program = '', ...args]: readonly string[], entry: OpenedEntry): Promise<number> =>
  withEntry(entry, ({ variables }) => runProgram(program, args, { env: { ...process.env, ...variables } }));

/** `body` gets the variables with which a program enters the session, and a folder that goes with it. */
export async function withEntry<T>(
  entry: Entry,
  body: (at: { readonly variables: Readonly<Record<string, string>>; readonly folder: string }) => Promise<T>,
): Promise<T> {
  const folder = newFolder();
  const handOver = (name: string, secret: string): string => {
    const file = join(folder, name);
    openSecretFile(file).write(secret);
    return file;
  };
  try {
    const children = Object.fromEntries(
      Object.entries(entry.children).map(([name, { secret }]) => [name, handOver(`child-${name}`, secret)]),
    );
    const secretFile = handOver('session', entry.secret);
    const config = join(folder, 'mcp.json');
    writeFileSync(config, `${JSON.stringify(mcpConfig(entry.url, secretFile), undefined, 2)}\n`, { mode: 0o600 });
    const variables = {
      HOB_URL: entry.url,
      HOB_SECRET_FILE: secretFile,
      HOB_MCP_CONFIG: config,
      ...(Object.keys(children).length === 0 ? {} : { HOB_CHILDREN: JSON.stringify(children) }),
    };
    return await body({ variables, folder });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The command of Hob’s server of MCP. It names the file of the secret, and not the secret. */
export const mcpServer = (
  url: string,
  secretFile: string,
): { readonly command: string; readonly args: readonly string[] } => ({
  command: process.execPath,
  args: [
    ...process.execArgv,
    // Each agent pays for one such process. It takes a third less memory, and is as fast.
    '--max-semi-space-size=1',
    fileURLToPath(new URL('../../main.ts', import.meta.url)),
    ...['mcp', '--url', url, '--secret-file', secretFile],
  ],
});

/** As `--mcp-config` of agent hosts takes it. */
const mcpConfig = (url: string, secretFile: string): object => ({ mcpServers: { hob: mcpServer(url, secretFile) } });

/** Aborted by the first signal that would end this process. A second one ends it. */
export function untilSignal(): AbortSignal {
  const signalled = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => signalled.abort());
  return signalled.signal;
}

/** The beginning of the name of the folder with the secrets. */
const ENTRY = 'hob-entry-';

/** In the folder of the user's login where there is one. A relative path is to be ignored, says the specification. */
function newFolder(): string {
  const named = process.env['XDG_RUNTIME_DIR'] ?? '';
  const places = isAbsolute(named) ? [named, tmpdir()] : [tmpdir()];
  for (const place of places) removeLeft(place, { before: ENTRY, after: '-[A-Za-z0-9]{6}' });
  const begun = `${ENTRY}${processMark()}-`;
  try {
    return mkdtempSync(join(places[0] as string, begun));
  } catch {
    return mkdtempSync(join(tmpdir(), begun));
  }
}

/** How a program is run. */
export interface RunOptions {
  readonly env: Readonly<NodeJS.ProcessEnv>;
  readonly cwd?: string;
  /**
   * The program gets a process group of its own, whose last processes end with it. Only without a terminal: a group in
   * the background could not read from it.
   */
  readonly ownGroup?: boolean;
  /** Ends the program when it is aborted. */
  readonly end?: AbortSignal;
}

/** A program that was asked to end gets this long. */
const ENDING_MS = 5_000;

/** Runs a program with our terminal and the signals that end us. Returns its exit code, 128 + N for a signal. Errors: `Mistake`. */
export function runProgram(
  program: string,
  args: readonly string[],
  { env, cwd, ownGroup = false, end }: RunOptions,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const detached = ownGroup && !process.stdin.isTTY;
    const child = spawn(program, args, { stdio: 'inherit', env, detached, ...(cwd === undefined ? {} : { cwd }) });
    const passOn = (signal: NodeJS.Signals): void => void child.kill(signal);
    const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
    for (const signal of signals) process.on(signal, passOn);
    let timer: NodeJS.Timeout | undefined;
    const cut = (): void => {
      child.kill('SIGTERM');
      timer = setTimeout(() => child.kill('SIGKILL'), ENDING_MS);
    };
    end?.addEventListener('abort', cut, { once: true });
    const over = (): void => {
      clearTimeout(timer);
      end?.removeEventListener('abort', cut);
      for (const signal of signals) process.off(signal, passOn);
    };
    child.once('error', ({ code }: NodeJS.ErrnoException) => {
      over();
      reject(new Mistake(`the agent ${JSON.stringify(program)} cannot be run (${code}): name a program that is there`));
    });
    child.once('exit', (code, signal) => {
      over();
      if (detached) killGroup(child.pid);
      resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal]));
    });
  });
}

function killGroup(leader: number | undefined): void {
  try {
    if (leader !== undefined) process.kill(-leader, 'SIGKILL');
  } catch {
    // Nobody is left in it.
  }
}
