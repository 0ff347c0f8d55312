/**
 * What a command may be called with.
 *
 * Promise: an argument list that the granter did not describe does not run. Where a path is wanted, each value lies in a mount as it is
 * written, and no program takes it for an option, a file of options or an assignment. This keeps a program to the use it was granted
 * for. What it can reach is the sandbox's matter, whatever it is told.
 */
import { posix } from 'node:path';
import { CapError } from '@hob/vat';
import { type Place, within } from './mounts.ts';
import { takeArgument } from './taking.ts';

/** One argument after the other: this text; one of these; all others, which comes last. */
export type ArgSpec = string | { readonly oneOf: readonly string[] } | { readonly rest: 'any' | 'path' };

/**
 * Paths that are only that. Programs give a meaning to the first character (`-o`, gcc's `@file`, vim's `+cmd`, git's `:(top)`, perl's
 * `|cmd`) or to a sign in the first name (awk's `a=b`, scp's `host:file`, `http://host/`). None does so behind `/` or `./`.
 */
const PLAIN = /^(?:\/|[A-Za-z0-9_.\u{80}-\u{10FFFF}][^/=:]*(?:\/|$))/u;

const MOST_BYTES = 128 * 1024;
const MOST_REST = 4096;

/** From the granter. Without a word of his: no arguments. */
export function takeArgs(given: unknown): readonly ArgSpec[] {
  if (given === undefined) return Object.freeze([]);
  if (!Array.isArray(given)) throw new CapError('invalid', 'args is a list of texts, {oneOf} and {rest}');
  return Object.freeze(
    given.map((one: unknown, n) => {
      if (typeof one === 'string') return takeArgument(one, `argument ${n + 1}`);
      const { oneOf, rest } = (one ?? {}) as { readonly oneOf?: unknown; readonly rest?: unknown };
      if (Array.isArray(oneOf) && oneOf.length > 0 && rest === undefined)
        return Object.freeze({ oneOf: Object.freeze(oneOf.map((text) => takeArgument(text, `argument ${n + 1}`))) });
      if ((rest === 'any' || rest === 'path') && oneOf === undefined && n === given.length - 1)
        return Object.freeze({ rest });
      throw new CapError(
        'invalid',
        `argument ${n + 1} is a text, {oneOf: texts}, or at the end {rest: 'any' | 'path'}`,
      );
    }),
  );
}

/** From the caller. Errors: `E_ARGV`. */
export function checkedArgs(
  given: unknown,
  specs: readonly ArgSpec[],
  places: readonly Place[],
  cwd: string,
): readonly string[] {
  if (!Array.isArray(given)) throw new CapError('E_ARGV', 'arguments are a list of texts');
  if (given.length > MOST_REST) throw new CapError('E_ARGV', `at most ${MOST_REST} arguments`);
  const args = given.map((value: unknown, n) => {
    if (typeof value !== 'string' || value.includes('\0')) throw wrong(n, 'a text without NUL');
    return value;
  });
  if (args.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0) > MOST_BYTES)
    throw new CapError('E_ARGV', 'the arguments are longer than 128 KiB: give some as stdin, or in a file');
  const last = specs.at(-1);
  const rest = typeof last === 'object' && 'rest' in last ? last.rest : undefined;
  const fixed = rest === undefined ? specs : specs.slice(0, -1);
  for (const [n, spec] of fixed.entries()) {
    const value = args[n];
    if (typeof spec === 'string' && value !== spec) throw wrong(n, JSON.stringify(spec));
    if (typeof spec === 'object' && 'oneOf' in spec && (value === undefined || !spec.oneOf.includes(value)))
      throw wrong(n, `one of ${spec.oneOf.map((text) => JSON.stringify(text)).join(', ')}`);
  }
  for (const [n, value] of args.entries()) {
    if (n < fixed.length) continue;
    if (rest === undefined) throw wrong(n, 'nothing: this command takes no more');
    if (rest === 'path') checkPath(n, value, places, cwd);
  }
  return args;
}

function checkPath(n: number, value: string, places: readonly Place[], cwd: string): void {
  if (value !== '' && !PLAIN.test(value))
    throw wrong(n, 'a path that no program takes for something else: write ./ before it');
  const path = posix.resolve(cwd, value);
  if (value === '' || !places.some(({ at }) => within(path, at))) throw wrong(n, 'a path in a mount');
}

const wrong = (n: number, wanted: string): CapError => new CapError('E_ARGV', `argument ${n + 1} has to be ${wanted}`);
