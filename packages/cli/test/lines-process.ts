/** The process of `lines.ts`: runs each command line that its parent sends, and sends back what `main.ts` would do with it. */
import { runLine, verbsFor } from '../src/table.ts';

/** Takes what is written to a stream, until the returned function is called. */
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
