/**
 * Bundles a face for a browser and runs it where there is nothing of Node.
 *
 * The bundler is the one that the test runner brings.
 */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { createContext, runInContext } from 'node:vm';

interface Chunk {
  readonly code: string;
  readonly imports: readonly string[];
  readonly dynamicImports: readonly string[];
}

interface Bundler {
  rolldown(options: object): Promise<{
    generate(options: object): Promise<{ readonly output: readonly Chunk[] }>;
    close(): Promise<void>;
  }>;
}

async function bundler(): Promise<Bundler> {
  const next = (from: string, to: string): string => createRequire(from).resolve(to);
  const vite = next(next(import.meta.filename, 'vitest/package.json'), 'vite/package.json');
  return (await import(pathToFileURL(next(vite, 'rolldown')).href)) as Bundler;
}

/**
 * The code of `file` and of all that it imports, as one script that sets `name`. Throws if anything is left
 * to import.
 */
export async function bundle(file: string, name: string): Promise<string> {
  const { rolldown } = await bundler();
  const left: string[] = [];
  const build = await rolldown({
    input: file,
    platform: 'browser',
    onLog: (_level: string, log: { readonly message: string }) => left.push(log.message),
  });
  try {
    const { output } = await build.generate({ format: 'iife', name });
    for (const { imports, dynamicImports } of output) left.push(...imports, ...dynamicImports);
    if (left.length > 0 || output.length !== 1) throw new Error(`this does not run in a browser: ${left.join('\n')}`);
    return output[0]?.code ?? '';
  } finally {
    await build.close();
  }
}

/** The globals of a page that are not the language's. Nothing of Node is among them. */
export function page(): { run(code: string): unknown } {
  const context = createContext({
    WebSocket,
    crypto,
    setTimeout,
    clearTimeout,
    queueMicrotask,
    atob,
    btoa,
    TextDecoder,
    AbortController,
    AbortSignal,
  });
  // An encoder makes arrays of the page's own kind. Node's would make arrays of another realm.
  context.utf8 = (text: string): readonly number[] => [...new TextEncoder().encode(text)];
  runInContext(
    `{
      const { utf8 } = globalThis;
      globalThis.TextEncoder = class {
        encode(text) { return Uint8Array.from(utf8(text)); }
        encodeInto(text, into) {
          let [read, written] = [0, 0];
          for (const letter of text) {
            const bytes = utf8(letter);
            if (written + bytes.length > into.length) break;
            into.set(bytes, written);
            written += bytes.length;
            read += letter.length;
          }
          return { read, written };
        }
      };
    }`,
    context,
  );
  return { run: (code) => runInContext(code, context) as unknown };
}
