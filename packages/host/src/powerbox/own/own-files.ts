/**
 * Files that a session made itself: it changes and removes them without a question.
 *
 * Promise: a file is a session's own if the session made it through this grant, by a call that could only make a new one,
 * and if it is still as the session left it. The version says so: it is made of the inode, size and times of the file, so
 * a file that somebody else changed, moved, linked or put in its place has another one. The change names the version, and
 * the directory refuses it with `STALE` if that has changed meanwhile; then it waits as the terms say. The note is made
 * before the caller hears of the file. A kill in between leaves a file that counts as somebody else's.
 *
 * A call counts only if it comes straight from the session of the grant: a child session, a sturdyref and a directory that
 * came out of this one own nothing here.
 */
import { gated, type Judge, type Onlooker } from '@hob/revocable';
import { type Definition, define, E, spawn, type Table } from '@hob/vat';
import type { HostState } from '../../state/host-state.ts';
import { type Directory, type Stat, statNow } from '../file-now.ts';
import { callingGrantsOf } from '../gate.ts';

/** The place of the options among the arguments of each method that can name a version. */
const OPTIONS: Readonly<Record<string, number>> = { write: 2, edit: 2, remove: 1 };
/** More files of a session are not its own. */
const MOST = 10_000;

type Decision = boolean | { readonly with: readonly unknown[] };
type Options = { readonly create?: unknown; readonly version?: unknown; readonly recursive?: unknown };

/** A call that names one file. Undefined: what it changes cannot be told. */
function named(
  method: string,
  args: readonly unknown[],
): { readonly path: string; readonly options: Options } | undefined {
  const at = Object.hasOwn(OPTIONS, method) ? (OPTIONS[method] as number) : undefined;
  const [path] = args;
  const options = at === undefined ? undefined : (args[at] ?? {});
  const isPlain = typeof path === 'string' && typeof options === 'object' && options !== null;
  return at === undefined || args.length > at + 1 || !isPlain ? undefined : { path, options: options as Options };
}

/** The same call with these options beside its own. */
function pinned(method: string, args: readonly unknown[], more: Options): Decision {
  const at = OPTIONS[method] as number;
  const own = (args[at] ?? {}) as Options;
  return { with: [...args.slice(0, at), ...(args.length < at ? [undefined] : []), { ...own, ...more }] };
}

interface Of {
  readonly grant: string;
  readonly files: Table<string>;
  /** Asks about calls that wait. */
  readonly judge: Judge;
  /** The methods that wait. Undefined: all. */
  readonly methods: readonly string[] | undefined;
}

export const OwnGateActor: Definition<
  Judge,
  [hostState: HostState, grant: string, files: Table<string>, judge: Judge, methods: readonly string[] | undefined]
> = define('host.own', (_bcom, hostState, grant, files, judge, methods) => {
  const isOwn = (path: string, stat: Stat | undefined): boolean =>
    stat?.kind === 'file' && files.get(path) === stat.version;
  return {
    ask(call, target, charged, stale) {
      const { method, args, via } = call;
      const waits = methods === undefined || methods.includes(method);
      const otherwise = (): Decision => (waits ? (E(judge).ask(call, target, charged, stale) as never) : true);
      const of = via.length === 0 ? named(method, args) : undefined;
      if (of === undefined) return otherwise();
      const { path, options } = of;
      return E.when(callingGrantsOf(hostState), (grants): Decision => {
        if (grants[0] !== grant || options.recursive === true) return otherwise();
        return E.when(
          statNow(target as Directory, path),
          (stat): Decision => {
            if (isOwn(path, stat)) return pinned(method, args, { version: files.get(path) });
            const makes = method === 'write' && stat === undefined && options.create !== 'never' && !waits;
            return makes ? pinned(method, args, { create: 'new' }) : otherwise();
          },
          // The call itself tells what is wrong with the path.
          otherwise,
        ) as never;
      }) as never;
    },
  };
});

export const OwnNotesActor: Definition<Onlooker, [hostState: HostState, grant: string, files: Table<string>]> = define(
  'host.own-notes',
  (_bcom, hostState, grant, files) => ({
    look({ method, args }, { ok, value }) {
      const of = ok ? named(method, args) : undefined;
      if (of === undefined) return undefined;
      const { path, options } = of;
      return E.when(callingGrantsOf(hostState), (grants): void => {
        const { version } = (value ?? {}) as { readonly version?: unknown };
        const made = method === 'write' && options.create === 'new';
        const changed = files.has(path) && options.version === files.get(path);
        const isKnown = files.has(path) || files.size < MOST;
        if (grants[0] === grant && typeof version === 'string' && isKnown && (made || changed))
          files.set(path, version);
        else files.delete(path);
      }) as never;
    },
  }),
);

/** In a turn: `inner` behind a gate that lets a session change its own files. */
export function ownFiles(hostState: HostState, inner: object, { grant, files, judge, methods }: Of): object {
  const asked = spawn(OwnGateActor(hostState, grant, files, judge, methods));
  const onlooker = spawn(OwnNotesActor(hostState, grant, files)) as unknown as Onlooker;
  const all = methods === undefined ? {} : { methods: [...new Set([...methods, ...Object.keys(OPTIONS)])] };
  return gated(inner, asked, { ...all, onlooker }) as unknown as object;
}
