/** The shape of a preview, and the texts that all of them share. */
import { unifiedDiff } from '@hob/caps-fs';
import type { FileVersion } from '../state/records.ts';
import { quoted, safeText } from '../text/safe-text.ts';
import { diffText } from './display.ts';
import type { Directory, FileNow, Stat } from './file-now.ts';

export interface Preview {
  readonly effect: string;
  readonly diff?: string;
  readonly files: readonly FileVersion[];
  readonly rows: readonly (readonly [name: string, value: string])[];
  /**
   * The arguments with the version that was shown, so the directory refuses the call if the file has
   * changed. Absent where the method cannot name a version.
   */
  readonly pinned?: readonly unknown[];
  /** Texts whose odd characters are flagged: what is removed or added. */
  readonly suspicious: readonly unknown[];
}

/** Looks at one call. `effect` is shown if the look fails. */
export type Looks = (
  folder: Directory,
  path: string,
  args: readonly unknown[],
) => { readonly effect: string; preview(): Promise<Preview> };

export const effectOnly = (effect: string): Preview => ({ effect, files: [], rows: [], suspicious: [] });

export const pathText = (path: unknown): string => (typeof path === 'string' ? quoted(path, 200) : 'no path');

/** Describes in words the entry that has a name now. */
export const nowText = (stat: Stat | undefined): string =>
  stat === undefined ? 'there is nothing of that name' : `a ${stat.kind} of ${stat.size} bytes`;

/** An option of a record that somebody else sent. */
export function isSet(options: unknown, name: string): boolean {
  return typeof options === 'object' && options !== null && (options as Record<string, unknown>)[name] === true;
}

/** The diff of a change, or the reason that there is none. `undefined` stands for what is not text. */
export function withDiff(preview: Preview, path: string, { stat, text }: FileNow, after: string | undefined): Preview {
  const before = stat === undefined ? '' : text;
  if (before === undefined || after === undefined)
    return {
      ...preview,
      rows: [...preview.rows, ['what it would change', 'cannot be shown: it is not text, or too long']],
    };
  return { ...preview, diff: diffText(unifiedDiff(before, after, safeText(path, 200).text)) };
}
