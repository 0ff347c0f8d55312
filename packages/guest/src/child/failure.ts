/**
 * Describes an error of a program to the model: the line of its source, what went wrong, and what to do.
 *
 * Promise: the text contains only the program's own text and positions. Stacks stay in this process.
 */
import { types } from 'node:util';
import { CapError } from '@hob/vat/peer';
import { siteOf } from './sites.ts';

/** The file name of programs in stacks. */
export const programName = 'program.js';

const longest = 4096;

type Where = (line: number, column: number) => { readonly line: number; readonly column: number };

/** Replacements for the globals of Node and of browsers. */
const instead: Readonly<Record<string, string>> = {
  process: 'there is no process here; what the program may know is in its caps',
  require: 'modules cannot be loaded; use the caps that were given',
  module: 'a program has no exports; return its value',
  exports: 'a program has no exports; return its value',
  fetch: 'there is no network; ask for a cap that reaches what you need',
  XMLHttpRequest: 'there is no network; ask for a cap that reaches what you need',
  WebSocket: 'there is no network; ask for a cap that reaches what you need',
  Buffer: 'use Uint8Array, TextEncoder and TextDecoder',
  Bun: 'this is plain JavaScript; use the caps that were given',
  Deno: 'this is plain JavaScript; use the caps that were given',
  fs: 'files are reached by a cap for a directory, as in await E(workspace).readText(path)',
  window: 'there is no page; use the caps that were given',
  document: 'there is no page; use the caps that were given',
  performance: 'use now()',
  crypto: 'use random()',
  setImmediate: 'use setTimeout(f, 0)',
  Intl: 'there are no locales; format it by hand',
  WeakRef: 'hold the object itself',
  SharedArrayBuffer: 'use ArrayBuffer',
  Atomics: 'there are no threads',
  WebAssembly: 'write it in JavaScript',
  Worker: 'there are no threads; use Promise.all for calls that may overlap',
};

const remedies: readonly (readonly [RegExp, string])[] = [
  [/^secure mode .*Date/, 'use now() for the time in milliseconds, and new Date(now())'],
  [/^secure mode .*random/, 'use random()'],
  [
    /object is not extensible|Cannot assign to read only property|Cannot delete property/,
    'what every program shares is frozen: copy it first, as in {...x} or [...x]',
  ],
  [/^Maximum call stack size exceeded/, 'write the recursion as a loop'],
  [/^Array buffer allocation failed|^Invalid (?:typed )?array (?:buffer )?length/, 'use less memory: work in parts'],
  [/^Invalid string length/, 'build it in parts'],
  [/SES_(?:EVAL|IMPORT|HTML_COMMENT)/, 'text cannot become code here'],
  [/^Function\.prototype\.constructor is not a valid constructor/, 'text cannot become code here'],
];

export function describe(
  error: unknown,
  source: string,
  where: Where,
): { readonly failed: string; readonly code: string } {
  try {
    const at = placeOf(error, where);
    const message = wordsOf(error);
    const remedy = remedyFor(error, at === undefined ? undefined : before(source, at));
    const head = at === undefined ? '' : `line ${at.line}, column ${at.column}: `;
    return { failed: `${head}${message}${remedy === undefined ? '' : ` (${remedy})`}`, code: codeOf(error) };
  } catch {
    return { failed: 'the program threw something that cannot be read: throw an Error', code: 'E_PROGRAM' };
  }
}

const codeOf = (error: unknown): string => (error instanceof CapError ? error.code : 'E_PROGRAM');

function wordsOf(error: unknown): string {
  if (error instanceof CapError) return `${error.code}: ${cut(error.message)}`;
  if (types.isNativeError(error)) return `${cut(error.name, 100)}: ${cut(error.message)}`;
  return `thrown: ${cut(typeof error === 'string' ? error : JSON.stringify(error))} (throw an Error: it says where)`;
}

const cut = (text: unknown, at = longest): string => String(text).slice(0, at);

/** The innermost position in the program from which the error, or the call that rejected with it, comes. */
function placeOf(error: unknown, where: Where): { readonly line: number; readonly column: number } | undefined {
  if (typeof error !== 'object' || error === null) return undefined;
  for (const stack of [
    error instanceof CapError ? undefined : (error as Error).stack,
    siteOf(error),
    (error as Error).stack,
  ]) {
    const [, line, column] = new RegExp(`\\b${programName}:(\\d+):(\\d+)`).exec(String(stack)) ?? [];
    if (line !== undefined) return where(Number(line), Number(column));
  }
  return undefined;
}

/** The name before a position, such as `process` when `.env` of it could not be read. */
function before(
  source: string,
  { line, column }: { readonly line: number; readonly column: number },
): string | undefined {
  const text = source.split('\n')[line - 1] ?? '';
  return /([A-Za-z_$][\w$]*)\s*(?:\?\.|\.|\[)\s*$/.exec(text.slice(0, column - 1))?.[1];
}

function remedyFor(error: unknown, object: string | undefined): string | undefined {
  if (error instanceof CapError || !types.isNativeError(error)) return undefined;
  const { message } = error;
  const [, named] =
    /^(?:globalThis\.)?([A-Za-z_$][\w$]*) is not (?:a function|a constructor|defined)/.exec(message) ?? [];
  if (named !== undefined && Object.hasOwn(instead, named)) return instead[named];
  if (
    /^Cannot (?:read|set) properties of undefined/.test(message) &&
    object !== undefined &&
    Object.hasOwn(instead, object)
  )
    return `${object} is not defined: ${instead[object]}`;
  return remedies.find(([pattern]) => pattern.test(message))?.[1];
}
