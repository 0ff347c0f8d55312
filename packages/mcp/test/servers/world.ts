/** Scripted servers in the sandbox, each on a folder of its own, closed when the test is over. */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type FsCap, openFsCap } from '@hob/caps-fs';
import { onTestFinished } from 'vitest';
import { openServer, type ServerOptions, type ToolServer } from '../../src/servers/index.ts';
import type { ToolResult } from '../../src/servers/result.ts';

export type Scripted = 'old' | 'new' | 'dies';

export interface ServerScene {
  /** The folder that the server sees as /data, on this machine. */
  readonly folder: string;
  readonly server: ToolServer;
  /** Says what the server shall be from now on. */
  be(what: object): void;
  /** The lines of a mark that the server left. */
  marks(name: 'starts' | 'calls' | 'cancelled'): readonly string[];
  /** Calls a tool as it is now. */
  call(tool: string, args?: object, signal?: AbortSignal): Promise<ToolResult>;
}

/** A folder that a program in the sandbox may enter. */
export function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hob-servers-'));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function opened(path: string): Promise<FsCap> {
  const cap = await openFsCap(path);
  onTestFinished(() => cap.close());
  return cap;
}

/** What a scripted server is made of. */
export async function scriptedOptions(folder: string, era: Scripted): Promise<ServerOptions> {
  const code = await opened(import.meta.dirname);
  return {
    name: 'scripted',
    program: process.execPath,
    args: ['/srv/scripted.mjs', era],
    mounts: { '/srv': await code.readOnly(), '/data': await opened(folder) },
    cwd: '/data',
  };
}

export async function serverScene(
  era: Scripted = 'old',
  more: Partial<ServerOptions> = {},
  first: object = {},
): Promise<ServerScene> {
  const folder = scratch();
  const be = (what: object): void => writeFileSync(join(folder, 'be.json'), JSON.stringify(what));
  be(first);
  const server = await openServer({ ...(await scriptedOptions(folder, era)), ...more });
  onTestFinished(() => server.close());
  return {
    folder,
    server,
    be,
    marks: (name) =>
      existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8').trim().split('\n') : [],
    async call(tool, args = {}, signal) {
      const { seal } = await server.sealed(tool);
      const said = await server.call(tool, args, seal, signal);
      if ('changed' in said) throw new Error('it changed');
      return said.result;
    },
  };
}

/** The code that a promise rejects with, or `ok`. */
export const code = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'ok',
    (error: { readonly code?: string }) => error.code ?? String(error),
  );

export const textOf = ({ content }: ToolResult): string =>
  content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('');
