/**
 * Builds what tests need, once, into build/: the sandbox program if it is out of date, its test build, the
 * tool.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { BUILT } from '../src/drivers/program.ts';

const SANDBOX = join(import.meta.dirname, '..', 'sandbox');
const TOOL_SOURCE = join(import.meta.dirname, 'tool.c');

export interface Builds {
  readonly sandbox: string;
  readonly tool: string;
  /** The sandbox program without these steps. */
  without(...steps: string[]): string;
  /** The filter as `code jt jf k` lines. */
  filter(machine: 'x86-64' | 'arm64'): string;
}

export function builds(): Builds {
  const sources = fingerprint();
  if (noted(BUILT) !== sources) run(process.execPath, join(SANDBOX, 'build.mjs'));
  const folder = join(BUILT, '..', `test-${sources.slice(0, 16)}`);
  const mutable = join(folder, 'hob-sandbox');
  if (noted(mutable) !== sources)
    run(process.execPath, join(SANDBOX, 'build.mjs'), mutable, '-DHOB_WITHOUT', '-O1', '-Werror');
  const tool = join(
    folder,
    `tool-${createHash('sha256').update(readFileSync(TOOL_SOURCE)).digest('hex').slice(0, 16)}`,
  );
  if (!existsSync(tool)) {
    run('cc', '-O1', '-Wall', '-static', '-o', `${tool}.${process.pid}`, TOOL_SOURCE);
    renameSync(`${tool}.${process.pid}`, tool);
  }
  return {
    sandbox: BUILT,
    tool,
    without: (...steps) => {
      const file = `${mutable}.without.${steps.join(',')}`;
      if (!existsSync(`${file}.json`)) {
        try {
          linkSync(mutable, file);
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
        }
        writeFileSync(`${file}.json.${process.pid}`, readFileSync(`${mutable}.json`));
        renameSync(`${file}.json.${process.pid}`, `${file}.json`);
      }
      return file;
    },
    filter: (machine) => run(mutable, '--filter', machine),
  };
}

function noted(file: string): string | undefined {
  if (!existsSync(file) || !existsSync(`${file}.json`)) return undefined;
  return (JSON.parse(readFileSync(`${file}.json`, 'utf8')) as { sources: string }).sources;
}

/** As sandbox/build.mjs notes it. */
export function fingerprint(): string {
  const hash = createHash('sha256');
  mkdirSync(join(BUILT, '..'), { recursive: true });
  for (const name of readdirSync(SANDBOX).sort())
    if (/\.[ch]$/.test(name)) hash.update(`${name}\n`).update(readFileSync(join(SANDBOX, name)));
  return hash.digest('hex');
}

function run(command: string, ...args: string[]): string {
  const done = spawnSync(command, args, { encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${done.error?.message ?? done.stderr}`);
  return done.stdout;
}
