/** The streams of an editor and of an agent, as the wrapper of ACP takes them. */
import type { ChildProcess } from 'node:child_process';
import { Readable, Writable } from 'node:stream';
import type { Pipe } from '@hob/acp';
import type { SentJob } from '@hob/caps-shell';
import { E, type Far, iterate } from '@hob/vat';

/** The editor that started this process. */
export function ofThisProcess(): Pipe {
  const { stdin, stdout } = process;
  return { input: Readable.toWeb(stdin) as Pipe['input'], output: Writable.toWeb(stdout) as Pipe['output'] };
}

/** A program with pipes. */
export function ofChild({ stdin, stdout }: ChildProcess): Pipe {
  if (stdin === null || stdout === null) throw new Error('the program was started without pipes');
  stdin.on('error', () => {});
  stdout.on('error', () => {});
  return { input: Readable.toWeb(stdout) as Pipe['input'], output: Writable.toWeb(stdin) as Pipe['output'] };
}

/** A program in a box. `errors` gets what it writes beside the protocol. */
export function ofJob(job: Far<SentJob>, errors: (bytes: Uint8Array) => void): Pipe {
  const chunks = (source: Promise<unknown>): AsyncIterable<Uint8Array> => ({
    async *[Symbol.asyncIterator]() {
      yield* iterate((await source) as Far<never>) as AsyncIterable<Uint8Array>;
    },
  });
  void (async () => {
    for await (const chunk of chunks(E(job).stderr())) errors(chunk);
  })().catch(() => {});
  return {
    input: Readable.toWeb(Readable.from(chunks(E(job).stdout()))) as Pipe['input'],
    output: new WritableStream<Uint8Array>({
      write: async (chunk) => void (await E(job).write(chunk)),
      close: async () => void (await E(job).end()),
    }),
  };
}
