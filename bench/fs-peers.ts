/**
 * The two servers that an agent would talk to: our cap over CapTP on loopback, and the MCP file server over
 * its stdio.
 */
import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { createInterface } from 'node:readline';
import type { FsCap } from '@hob/caps-fs';
import { type ByteSource, connect, E, type Far, iterate } from '@hob/vat';

/** The calls that both get. Text, since the MCP server knows no bytes. */
export interface Files {
  read(path: string): Promise<number>;
  write(path: string, text: string): Promise<void>;
  /** A large file, in the way that each has for it; answers how many bytes came. */
  readLarge(path: string): Promise<number>;
  close(): Promise<void>;
}

export interface Ours {
  readonly backends: readonly string[];
  open(backend: string): Promise<Files>;
  close(): void;
}

export async function serveOurs(root: string): Promise<Ours> {
  const server: ChildProcess = fork(new URL('fs-server.ts', import.meta.url), [root], {
    execArgv: process.execArgv.filter((flag) => !flag.startsWith('--cpu-prof')),
  });
  const [ports] = (await once(server, 'message')) as [Record<string, number>];
  return {
    backends: Object.keys(ports),
    close: () => server.disconnect(),
    async open(backend) {
      const peer = await connect<FsCap>(`ws://127.0.0.1:${ports[backend]}`, { secret: 'any', dialect: 'hob.1' });
      const cap = peer.bootstrap;
      return {
        read: async (path) => (await E(cap).read(path)).length,
        write: async (path, text) => void (await E(cap).write(path, text)),
        async readLarge(path) {
          let got = 0;
          const source = (await E(cap).openRead(path)) as unknown as Far<ByteSource>;
          for await (const part of iterate(source, { max: 1 << 20 })) got += part.length;
          return got;
        },
        close: async () => peer.close(),
      };
    },
  };
}

interface Reply {
  readonly id?: number;
  readonly error?: { readonly message: string };
  readonly result?: {
    readonly isError?: boolean;
    readonly content?: readonly { readonly text?: string }[];
  };
}

/** JSON-RPC, one message a line, as its specification has it. */
export async function openMcp(root: string): Promise<Files> {
  const require = createRequire(import.meta.url);
  const program = require.resolve('@modelcontextprotocol/server-filesystem/dist/index.js');
  const child = spawn(process.execPath, [program, root], { stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<number, (reply: Reply) => void>();
  let last = 0;
  createInterface({ input: child.stdout }).on('line', (line) => {
    const reply = JSON.parse(line) as Reply;
    if (reply.id === undefined) return;
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  const send = (message: object): void => void child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = async (method: string, params: object): Promise<NonNullable<Reply['result']>> => {
    last += 1;
    const id = last;
    const answered = new Promise<Reply>((resolve) => waiting.set(id, resolve));
    send({ id, method, params });
    const { result, error } = await answered;
    if (result === undefined || result.isError) throw new Error(error?.message ?? result?.content?.[0]?.text);
    return result;
  };
  await ask('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'bench', version: '0' },
  });
  send({ method: 'notifications/initialized' });
  const read = async (path: string): Promise<number> => {
    const { content } = await ask('tools/call', { name: 'read_text_file', arguments: { path: `${root}/${path}` } });
    return content?.[0]?.text?.length ?? 0;
  };
  return {
    read,
    readLarge: read,
    write: async (path, text) =>
      void (await ask('tools/call', {
        name: 'write_file',
        arguments: { path: `${root}/${path}`, content: text },
      })),
    async close() {
      const closed = once(child, 'close');
      child.stdin.end();
      child.kill();
      await closed;
    },
  };
}
