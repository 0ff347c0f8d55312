/**
 * What a call would change, found out before anybody is asked: the file as it is now, read through the very cap that the call would go to.
 *
 * Promise: a diff is of one version of a file, and that version is told with it. Where nothing can be shown that is said, and why; the caller is
 * told nothing of it, for who may not read a file without a yes may not learn from a refusal what is in it.
 */
import { unifiedDiff } from '@hob/caps-fs';
import { E } from '@hob/vat';
import type { Seen } from '../state/records.ts';
import { quoted, words } from '../words/words.ts';
import { diffText } from './shown.ts';

export interface Preview {
  readonly effect: string;
  readonly diff?: string;
  readonly seen: readonly Seen[];
  readonly rows: readonly (readonly [name: string, value: string])[];
  /** What is asked again, for the file has changed: as the arguments that say so to the directory, where it can be said. */
  readonly pinned?: readonly unknown[];
  /** Odd things in the text that is taken away or put in. */
  readonly odd: readonly unknown[];
}

interface Stat {
  readonly kind: string;
  readonly size: number;
  readonly version: string;
}
interface Folder {
  stat(path: string): Stat;
  readText(path: string): string;
  edit(path: string, edits: unknown, options: object): { readonly diff: string; readonly version: string };
}

/** More is not read for a diff. */
const largest = 256 << 10;

const pathText = (path: unknown): string => (typeof path === 'string' ? quoted(path, 200) : 'no path');
const codeOf = (error: unknown): string => (error as { readonly code?: string }).code ?? 'error';

/** In a turn. The answer never breaks. */
export function previewOf(of: object, method: string, args: readonly unknown[]): Promise<Preview> {
  const folder = of as Folder;
  const [path, second, third] = args;
  const nothing = (effect: string): Preview => ({ effect, seen: [], rows: [], odd: [] });
  const named = typeof path === 'string' ? path : undefined;
  const hidden =
    (effect: string) =>
    (error: Error): Preview => ({
      ...nothing(effect),
      rows: [['what it would change', `cannot be shown: it says ${words(codeOf(error), 64).text}`]],
    });
  if (named !== undefined)
    switch (method) {
      case 'write':
      case 'append': {
        const adds = method === 'append';
        const plainly = `${adds ? 'adds to the end of' : 'writes'} the file ${pathText(path)}`;
        return fromFile(folder, named, (file) => written(named, second, third, file, adds), hidden(plainly));
      }
      case 'edit': {
        const effect = `changes text in the file ${pathText(path)}`;
        return E.when(
          E(folder).edit(named, second as never, { dryRun: true }) as unknown as Promise<{
            diff: string;
            version: string;
          }>,
          ({ diff, version }) => ({
            ...nothing(effect),
            diff: diffText(diff),
            seen: [[named, version]] as const,
            odd: [diff],
            ...pin([path, second], third, { version }),
          }),
          hidden(effect),
        ) as Promise<Preview>;
      }
      case 'remove':
      case 'rename':
      case 'copy': {
        const where = method === 'remove' ? '' : ` to ${pathText(second)}`;
        const verb = { remove: 'removes', rename: 'moves', copy: 'copies' }[method];
        const effect = `${verb} ${pathText(path)}${where}`;
        return fromFile(folder, named, (file) => moved(named, method, effect, file), hidden(effect));
      }
    }
  const effect =
    named === undefined ? `calls ${words(method, 64).text}` : `calls ${words(method, 64).text} on ${pathText(path)}`;
  return E.when(undefined, () => nothing(effect)) as Promise<Preview>;
}

/** A file as it is: `text` where it is one and not too large. */
interface File {
  readonly stat: Stat | undefined;
  readonly text: string | undefined;
}

function fromFile(
  folder: Folder,
  path: string,
  shows: (file: File) => Preview,
  hidden: (error: Error) => Preview,
  tries = 3,
): Promise<Preview> {
  const statNow = (): Promise<Stat | undefined> =>
    E.when(
      E(folder).stat(path) as unknown as Promise<Stat>,
      (stat) => stat,
      (error) => {
        if (codeOf(error) === 'NOT_FOUND') return undefined;
        throw error;
      },
    ) as Promise<Stat | undefined>;
  const shown = (stat: Stat | undefined, text?: string): Promise<Preview> =>
    E.when(text, () => shows({ stat, text })) as Promise<Preview>;
  const look = (left: number): Promise<Preview> =>
    E.when(statNow(), (before): Promise<Preview> => {
      if (before === undefined || before.kind !== 'file' || before.size > largest) return shown(before);
      const read = E.when(
        E(folder).readText(path) as unknown as Promise<string>,
        (text) => text,
        () => undefined,
      ) as Promise<string | undefined>;
      return E.when(read, (text) =>
        // It is of that version only if that is still there after it was read.
        E.when(
          statNow(),
          (after): Promise<Preview> =>
            text === undefined || after?.version === before.version || left === 0
              ? shown(before, text)
              : look(left - 1),
        ),
      ) as unknown as Promise<Preview>;
    }) as unknown as Promise<Preview>;
  return E.when(look(tries), (preview) => preview, hidden) as Promise<Preview>;
}

function written(path: string, data: unknown, options: unknown, { stat, text }: File, adds: boolean): Preview {
  const size = typeof data === 'string' ? `${data.length} characters` : data instanceof Uint8Array ? `${data.length} bytes` : 'nothing'; // biome-ignore format: one line
  const seen: readonly Seen[] = [[path, stat?.version]];
  const effect =
    stat === undefined
      ? `makes the file ${pathText(path)}, with ${size}`
      : adds
        ? `adds ${size} to the end of the file ${pathText(path)}`
        : `replaces the file ${pathText(path)} by ${size}`;
  const bare: Preview = {
    effect,
    seen,
    odd: [data],
    rows: stat === undefined ? [] : [['it is now', `a ${stat.kind} of ${stat.size} bytes`]],
    // What can be replaced by the same call only in the version that was shown.
    ...(adds ? {} : pin([path, data], options, stat === undefined ? { create: 'new' } : { version: stat.version })),
  };
  const before = stat === undefined ? '' : text;
  if (typeof data !== 'string' || before === undefined)
    return { ...bare, rows: [...bare.rows, ['what it would change', 'cannot be shown: it is not text, or too long']] };
  return { ...bare, diff: diffText(unifiedDiff(before, adds ? before + data : data, words(path, 200).text)) };
}

function moved(path: string, method: string, effect: string, { stat, text }: File): Preview {
  const rows = stat === undefined ? 'there is nothing of that name' : `a ${stat.kind} of ${stat.size} bytes`;
  const preview: Preview = { effect, seen: [[path, stat?.version]], rows: [['it is now', rows]], odd: [] };
  if (method !== 'remove' || text === undefined) return preview;
  return { ...preview, diff: diffText(unifiedDiff(text, '', words(path, 200).text)) };
}

/** The same arguments with the version in them. A caller who named one, or said how the file may be made, has pinned it already. */
function pin(args: readonly unknown[], options: unknown, to: object): { readonly pinned?: readonly unknown[] } {
  if (options !== undefined && (typeof options !== 'object' || options === null)) return {};
  const own = (options ?? {}) as { readonly version?: unknown; readonly create?: unknown };
  if (own.version !== undefined || ('create' in to && own.create !== undefined && own.create !== 'any')) return {};
  return { pinned: [...args, { ...own, ...to }] };
}

/** In a turn: whether the files are still as they were seen. */
export function unchanged(of: object, seen: readonly Seen[]): Promise<boolean> {
  const [first, ...rest] = seen;
  if (first === undefined) return E.when(true, (yes) => yes) as Promise<boolean>;
  const [path, version] = first;
  const still = E.when(
    E(of as Folder).stat(path) as unknown as Promise<Stat>,
    (stat) => stat.version === version,
    (error) => {
      if (codeOf(error) === 'NOT_FOUND') return version === undefined;
      throw error;
    },
  ) as Promise<boolean>;
  return E.when(still, (yes) => (yes ? unchanged(of, rest) : false)) as unknown as Promise<boolean>;
}
