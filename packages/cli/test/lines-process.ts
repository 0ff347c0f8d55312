/** The process of `lines.ts`: runs each command line that its parent sends, and sends back the exit code and output. */
import { runLine, verbsFor } from '../src/table.ts';

/** Collects the text that is written to a stream. The returned function ends this and returns the text. */
function taken(stream: NodeJS.WriteStream): () => string {
  const write = stream.write;
  let text = '';
  stream.write = (chunk: string | Uint8Array, ...more: readonly unknown[]) => {
    text += String(chunk);
    const then = more.at(-1);
    if (typeof then === 'function') then();
    return true;
  };
  return () => {
    stream.write = write;
    return text;
  };
}

process.on('message', async (args: readonly string[]) => {
  const [out, err] = [taken(process.stdout), taken(process.stderr)];
  const code = await runLine(args, await verbsFor(args));
  process.send?.({ code, out: out(), err: err() });
});
