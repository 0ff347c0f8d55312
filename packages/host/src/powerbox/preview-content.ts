/** Previews of calls that change the content of one file. */
import { E } from '@hob/vat';
import { diffText } from './display.ts';
import { type FileNow, fileNow } from './file-now.ts';
import { effectOnly, isSet, type Looks, nowText, type Preview, pathText, withDiff } from './preview-text.ts';

/** Longer results are not computed. */
const longest = 1 << 20;

export const previewWrite: Looks = (folder, path, [, data, options]) => {
  const parents = isSet(options, 'parents') ? ', and the directories above it that are missing' : '';
  const preview = (file: FileNow): Preview => {
    const { stat } = file;
    const effect =
      stat === undefined
        ? `makes the file ${pathText(path)}${parents}, with ${sizeText(data)}`
        : `replaces the file ${pathText(path)} by ${sizeText(data)}`;
    const bare = changing(effect, path, file, data);
    // The call may name the version, so that it replaces only the text that was shown.
    const to = stat === undefined ? { create: 'new' } : { version: stat.version };
    return withDiff({ ...bare, ...pinVersion([path, data], options, to) }, path, file, asText(data));
  };
  return {
    effect: `writes the file ${pathText(path)}`,
    preview: () => E.when(fileNow(folder, path), preview) as Promise<Preview>,
  };
};

export const previewAppend: Looks = (folder, path, [, data]) => ({
  effect: `adds to the end of the file ${pathText(path)}`,
  preview: () =>
    E.when(fileNow(folder, path), (file) => {
      const effect =
        file.stat === undefined
          ? `makes the file ${pathText(path)}, with ${sizeText(data)}`
          : `adds ${sizeText(data)} to the end of the file ${pathText(path)}`;
      const added = asText(data);
      const after = added === undefined ? undefined : `${file.text ?? ''}${added}`;
      return withDiff(changing(effect, path, file, data), path, file, after);
    }) as Promise<Preview>,
});

export const previewEdit: Looks = (folder, path, [, edits, options]) => {
  const effect = `changes text in the file ${pathText(path)}`;
  const tried = (): Promise<{ diff: string; version: string }> =>
    E(folder).edit(path, edits as never, { dryRun: true }) as never;
  return {
    effect,
    preview: () =>
      E.when(tried(), ({ diff, version }) => ({
        ...effectOnly(effect),
        diff: diffText(diff),
        files: [[path, version]] as const,
        suspicious: [diff],
        ...pinVersion([path, edits], options, { version }),
      })) as Promise<Preview>,
  };
};

export const previewWriteAt: Looks = (folder, path, [, offset, data]) => {
  const effect = `writes ${sizeText(data)} at byte ${numberText(offset)} into the file ${pathText(path)}`;
  return {
    effect,
    preview: () =>
      E.when(fileNow(folder, path), (file) =>
        withDiff(changing(effect, path, file, data), path, file, spliced(file, offset, data)),
      ) as Promise<Preview>,
  };
};

export const previewTruncate: Looks = (folder, path, [, size]) => ({
  effect: `sets the size of the file ${pathText(path)} to ${numberText(size)} bytes`,
  preview: () =>
    E.when(fileNow(folder, path), (file) => {
      const now = file.stat?.size ?? 0;
      const longer = typeof size === 'number' && size > now;
      const how = longer ? 'makes longer, with zeros,' : 'cuts';
      const effect = `${how} the file ${pathText(path)} from ${now} to ${numberText(size)} bytes`;
      return withDiff(changing(effect, path, file, ''), path, file, resized(file, size));
    }) as Promise<Preview>,
});

function changing(effect: string, path: string, { stat }: FileNow, data: unknown): Preview {
  const rows: Preview['rows'] = stat === undefined ? [] : [['it is now', nowText(stat)]];
  return { effect, files: [[path, stat?.version]], suspicious: [data], rows };
}

const sizeText = (data: unknown): string =>
  typeof data === 'string'
    ? `${data.length} characters`
    : data instanceof Uint8Array
      ? `${data.length} bytes`
      : 'nothing';

const numberText = (given: unknown): string => (typeof given === 'number' ? `${given}` : 'no number');

const asText = (data: unknown): string | undefined => (typeof data === 'string' ? data : undefined);

/** The text with the data at that byte. `undefined` if the result is not text. */
function spliced({ text }: FileNow, offset: unknown, data: unknown): string | undefined {
  const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
  if (text === undefined || !isCount(offset) || !(bytes instanceof Uint8Array)) return undefined;
  const before = new TextEncoder().encode(text);
  const end = offset + bytes.length;
  if (end > longest) return undefined;
  const after = new Uint8Array(Math.max(before.length, end));
  after.set(before);
  after.set(bytes, offset);
  return decoded(after);
}

function resized({ text }: FileNow, size: unknown): string | undefined {
  if (text === undefined || !isCount(size) || size > longest) return undefined;
  const after = new Uint8Array(size);
  after.set(new TextEncoder().encode(text).subarray(0, size));
  return decoded(after);
}

const isCount = (given: unknown): given is number => Number.isSafeInteger(given) && (given as number) >= 0;

function decoded(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Returns the arguments with the version in them. A caller who named a version, or how to create the file,
 * has pinned it already.
 */
function pinVersion(args: readonly unknown[], options: unknown, to: object): { readonly pinned?: readonly unknown[] } {
  if (options !== undefined && (typeof options !== 'object' || options === null)) return {};
  const own = (options ?? {}) as { readonly version?: unknown; readonly create?: unknown };
  if (own.version !== undefined || ('create' in to && own.create !== undefined && own.create !== 'any')) return {};
  return { pinned: [...args, { ...own, ...to }] };
}
