/**
 * The arguments that a command may be called with.
 *
 * A list that the granter did not describe does not run. For a path, each value is in a mount as it is
 * written, and no program takes it for an option, a file of options or an assignment. This keeps a program to
 * its purpose. The sandbox confines what it can reach, whatever its arguments.
 */
import { posix } from 'node:path';
import { CapError } from '@hob/vat';
import { takeRecord } from '@hob/vat/forwarder';
import { takeArgument } from './arguments.ts';
import { isWithin, type MountPoint } from './mounts.ts';

/** The description of one argument: this text; one of these texts; or, at the end, all further ones. */
export type ArgSpec = string | { readonly oneOf: readonly string[] } | { readonly rest: 'any' | 'path' };

/**
 * Arguments that a list of `ArgSpec` cannot describe, such as the rows of a manifest. `forms` are shown to a caller
 * whose arguments are refused.
 */
export interface ArgForms {
  readonly forms: readonly string[];
  /** Whether these arguments are allowed. `isPath` says whether a text is a plain path in a mount. */
  readonly takes: (args: readonly string[], isPath: (text: string) => boolean) => boolean;
}

/**
 * Paths that no program takes for something else. Programs give a meaning to the first character (`-o`, gcc's
 * `@file`, vim's `+cmd`, git's `:(top)`, perl's `|cmd`) or to a sign in the first name (awk's `a=b`, scp's
 * `host:file`,
 * `http://host/`). None does so after `/` or `./`.
 */
const PLAIN = /^(?:\/|[A-Za-z0-9_.\u{80}-\u{10FFFF}][^/=:]*(?:\/|$))/u;

const MOST_BYTES = 128 * 1024;
const MOST_REST = 4096;

/** Checks the description of the granter. Undefined allows no arguments. */
export function takeArgs(given: unknown): readonly ArgSpec[] | ArgForms {
  if (given === undefined) return Object.freeze([]);
  const { forms, takes } = given as Partial<ArgForms>;
  if (Array.isArray(forms) && typeof takes === 'function')
    return Object.freeze({ forms: Object.freeze(forms.map((form, n) => takeArgument(form, `form ${n + 1}`))), takes });
  if (!Array.isArray(given)) throw new CapError('invalid', 'args is a list of texts, {oneOf} and {rest}');
  return Object.freeze(
    given.map((one: unknown, n) => {
      if (typeof one === 'string') return takeArgument(one, `argument ${n + 1}`);
      const { oneOf, rest } = takeRecord(one, `argument ${n + 1}`, ['oneOf', 'rest']);
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

/** Checks the arguments of a caller. Errors: `E_ARGV`. */
export function checkedArgs(
  given: unknown,
  specs: readonly ArgSpec[] | ArgForms,
  places: readonly MountPoint[],
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
  if ('takes' in specs) {
    if (specs.takes(Object.freeze([...args]), (text) => isPlainPath(text, places, cwd)) === true) return args;
    throw new CapError('E_ARGV', `the arguments have to be one of: ${specs.forms.join('; ').slice(0, 2000)}`);
  }
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

function checkPath(n: number, value: string, places: readonly MountPoint[], cwd: string): void {
  if (value !== '' && !PLAIN.test(value))
    throw wrong(n, 'a path that no program takes for an option: write ./ before it');
  if (!isPlainPath(value, places, cwd)) throw wrong(n, 'a path in a mount');
}

function isPlainPath(value: string, places: readonly MountPoint[], cwd: string): boolean {
  const path = posix.resolve(cwd, value);
  return PLAIN.test(value) && places.some(({ at }) => isWithin(path, at));
}

const wrong = (n: number, wanted: string): CapError => new CapError('E_ARGV', `argument ${n + 1} has to be ${wanted}`);
