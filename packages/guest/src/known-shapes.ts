/**
 * The shapes that a model is shown by name: a directory and a shell, as `caps-fs` and `caps-shell` make them.
 *
 * They are text, because a model reads them. A test compiles the text against those packages, so it promises
 * no more than they do. A cap has a known shape if it has all of its methods. Its other methods are not
 * shown. Another cap with the same methods is shown with the same shape, which affects nothing but the text.
 */

const BYTES = `/** Bytes, part by part: \`for (let part; (part = await E(source).next()); ) …\` */
interface ByteSource {
  next(max?: number): Promise<Uint8Array | undefined>;
  return(): Promise<void>;
}`;

const DIRECTORY = `/** A directory. Paths are relative to it, names separated by \`/\`; times are ms, sizes bytes. */
interface Directory {
  read(path: string, range?: { readonly offset?: number; readonly length?: number }): Promise<Uint8Array>;
  /** Lines count from 1; their ends are kept. */
  readText(path: string, window?: { readonly line?: number; readonly lines?: number }): Promise<string>;
  /** In one step: no reader sees a part. Parents are not made. */
  write(path: string, data: Uint8Array | string, options?: { readonly create?: 'any' | 'new' | 'never'; readonly version?: string; readonly durable?: boolean }): Promise<{ readonly version: string }>;
  append(path: string, data: Uint8Array | string): Promise<void>;
  /** Each \`oldText\` must stand exactly once in the text as the edits before it left it. */
  edit(path: string, edits: readonly { readonly oldText: string; readonly newText: string }[], options?: { readonly dryRun?: boolean; readonly version?: string }): Promise<{ readonly diff: string; readonly version: string }>;
  list(path?: string): Promise<readonly string[]>;
  entries(path?: string, page?: { readonly after?: string; readonly limit?: number }): Promise<readonly (Stat & { readonly name: string })[]>;
  stat(path: string): Promise<Stat>;
  mkdir(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  remove(path: string, options?: { readonly recursive?: boolean }): Promise<void>;
  /** Onto an existing name: EXISTS. */
  rename(from: string, to: string): Promise<void>;
  copy(from: string, to: string): Promise<void>;
  /** Paths; \`*\`, \`?\`, \`[a-z]\`, \`{a,b}\`, \`**\`. */
  glob(pattern: string): Promise<readonly string[]>;
  /** Lines that have the text, or a match of the pattern (RE2). */
  search(text: string | { readonly pattern: string }, options?: { readonly path?: string; readonly glob?: string; readonly limit?: number }): Promise<readonly { readonly path: string; readonly line: number; readonly column: number; readonly text: string }[]>;
  openRead(path: string): Promise<ByteSource>;
  subdir(path: string): Promise<Directory>;
  readOnly(): Promise<Directory>;
}
interface Stat {
  readonly kind: 'file' | 'dir' | 'link' | 'other';
  readonly size: number;
  readonly mtime: number;
  readonly version: string;
}`;

const SHELL = `/** A shell in a sandbox: \`run\` takes a text for bash. What a program did is a status, never an error. */
interface Shell {
  run(text: string, options?: { readonly timeoutMs?: number; readonly stdin?: string }): Promise<Ended>;
  spawn(text: string, options?: { readonly name?: string; readonly timeoutMs?: number }): Promise<Job>;
  job(name: string): Promise<Job>;
  /** Where its directories are mounted, and its limits. */
  describe(): Promise<{ readonly shell: string; readonly mounts: Readonly<Record<string, 'ro' | 'rw'>>; readonly cwd: string; readonly env: readonly string[]; readonly network: 'none' }>;
  close(): Promise<void>;
}
interface Ended {
  /** Exit status, or 128 + signal. */
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: boolean;
  readonly ended: 'exit' | 'signal' | 'timeout' | 'limit' | 'revoked';
}
interface Job {
  stdout(): Promise<ByteSource>;
  stderr(): Promise<ByteSource>;
  write(chunk: Uint8Array | string): Promise<void>;
  end(): Promise<void>;
  signal(name: 'INT' | 'TERM' | 'KILL' | 'HUP'): Promise<void>;
  wait(): Promise<Ended>;
}`;

export interface KnownShape {
  readonly name: string;
  /** A cap with all of these methods has this shape. */
  readonly methods: readonly string[];
  /** The declarations to show. */
  readonly text: readonly string[];
}

/** The names of the methods of the first interface in a text. */
const methodsIn = (text: string): readonly string[] =>
  [...text.slice(0, text.indexOf('\n}')).matchAll(/^ {2}(\w+)\(/gm)].map(([, name]) => name as string);

const shape = (name: string, ...text: readonly string[]): KnownShape => ({
  name,
  text,
  methods: methodsIn(text[0] ?? ''),
});

export const KNOWN: readonly KnownShape[] = [shape('Directory', DIRECTORY, BYTES), shape('Shell', SHELL, BYTES)];
