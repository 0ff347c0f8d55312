/** Previews of calls that change names, modes and times. */
import { E } from '@hob/vat';
import { countBeneath, type Directory, type FileNow, fileNow, type Stat, statNow } from './file-now.ts';
import { isSet, type Looks, nowText, type Preview, pathText, withDiff } from './preview-text.ts';

type Row = Preview['rows'][number];

export const previewRemove: Looks = (folder, path, [, options]) => {
  const whole = isSet(options, 'recursive');
  const effect = `removes ${pathText(path)}${whole ? ' with everything beneath it' : ''}`;
  return {
    effect,
    preview: () =>
      E.when(fileNow(folder, path), (file) => {
        const shown: Preview = { effect, files: [[path, file.stat?.version]], rows: [isNow(file)], suspicious: [] };
        if (file.text !== undefined) return withDiff(shown, path, file, '');
        return whole ? withCount(folder, path, file, shown) : shown;
      }) as unknown as Promise<Preview>,
  };
};

export const previewRename: Looks = (folder, path, [, to, options]) => {
  const replace = isSet(options, 'replace');
  const effect = `moves ${pathText(path)} to ${pathText(to)}`;
  return {
    effect: replace ? `${effect}, and replaces what is there` : effect,
    preview: () =>
      E.when(fileNow(folder, path), (file) => {
        const shown: Preview = { effect, files: [[path, file.stat?.version]], rows: [isNow(file)], suspicious: [] };
        if (!replace || typeof to !== 'string') return shown;
        return E.when(fileNow(folder, to), (there) => replacing(shown, file, to, there));
      }) as unknown as Promise<Preview>,
  };
};

/** The content that is lost at the new name, beside the one that takes its place. */
function replacing(shown: Preview, file: FileNow, to: string, there: FileNow): Preview {
  const { stat } = there;
  const files = [...shown.files, [to, stat?.version] as const];
  const rows: Row[] = [...shown.rows, [`at ${pathText(to)} is now`, nowText(stat)]];
  if (stat === undefined) return { ...shown, files, rows };
  const effect = `${shown.effect}, and replaces the ${stat.kind} that is there`;
  const preview = { ...shown, effect, files, rows, suspicious: [file.text, there.text] };
  return stat.kind === 'file' ? withDiff(preview, to, there, file.text) : preview;
}

export const previewCopy: Looks = (folder, path, [, to, options]) => {
  const whole = isSet(options, 'recursive');
  const effect = `copies ${pathText(path)} to ${pathText(to)}${whole ? ' with everything beneath it' : ''}`;
  return {
    effect,
    preview: () =>
      E.when(statNow(folder, path), (stat) => {
        const file: FileNow = { stat, text: undefined };
        const shown: Preview = { effect, files: [[path, stat?.version]], rows: [isNow(file)], suspicious: [] };
        return whole ? withCount(folder, path, file, shown) : shown;
      }) as unknown as Promise<Preview>,
  };
};

export const previewChmod: Looks = (folder, path, [, mode]) => {
  const effect = `sets the permissions of ${pathText(path)} to ${modeText(mode)}`;
  return {
    effect,
    preview: () =>
      E.when(statNow(folder, path, { mode: true }), (stat) => {
        const rows: Row[] = [['it is now', nowText(stat)]];
        if (stat?.mode !== undefined) rows.push(['permissions now', modeText(stat.mode)]);
        return { effect, files: [[path, stat?.version]], rows, suspicious: [] };
      }) as Promise<Preview>,
  };
};

export const previewSetTimes: Looks = (folder, path, [, times]) => {
  const effect = `sets the times of ${pathText(path)}`;
  const given = (typeof times === 'object' && times !== null ? times : {}) as Record<string, unknown>;
  const set = [
    ['mtime', 'last change'],
    ['atime', 'last access'],
  ] as const;
  const rows = set.flatMap(([name, says]): Row[] =>
    Object.hasOwn(given, name) ? [[says, dateText(given[name])]] : [],
  );
  return {
    effect,
    preview: () =>
      E.when(statNow(folder, path), (stat) => ({
        effect,
        files: [[path, stat?.version]] as const,
        rows: [['it is now', nowText(stat)] as const, ...rows],
        suspicious: [],
      })) as Promise<Preview>,
  };
};

/** The text of the link is its first argument. */
export const previewSymlink: Looks = (folder, text, [, path]) => {
  const effect = `makes the link ${pathText(path)} that leads to ${pathText(text)}`;
  const shown = (stat?: Stat): Preview => ({
    effect,
    files: typeof path === 'string' ? [[path, stat?.version]] : [],
    rows: typeof path === 'string' ? [[`at ${pathText(path)} is now`, nowText(stat)]] : [],
    suspicious: [text],
  });
  return {
    effect,
    preview: () =>
      E.when(typeof path === 'string' ? statNow(folder, path) : undefined, shown) as unknown as Promise<Preview>,
  };
};

const isNow = ({ stat }: FileNow): Row => ['it is now', nowText(stat)];

function withCount(folder: Directory, path: string, { stat }: FileNow, shown: Preview): Preview | Promise<Preview> {
  if (stat?.kind !== 'dir') return shown;
  const counted = (beneath: string): Preview => ({ ...shown, rows: [...shown.rows, ['beneath it', beneath]] });
  return E.when(countBeneath(folder, path), counted) as Promise<Preview>;
}

const bits = ['x', 'w', 'r'] as const;

/** `rwxr-xr-x (0o755)`. */
function modeText(mode: unknown): string {
  if (mode === '+x') return '“+x”: everybody who may read it may run it';
  if (mode === '-x') return '“-x”: nobody may run it';
  if (typeof mode !== 'number' || !Number.isInteger(mode) || mode < 0 || mode > 0o777) return 'no mode';
  const letters = Array.from({ length: 9 }, (_, i) => ((mode >> (8 - i)) & 1 ? bits[(8 - i) % 3] : '-'));
  return `${letters.join('')} (0o${mode.toString(8).padStart(3, '0')})`;
}

// Only a format: it reads no clock. Swedish dates are written year first.
const dates = new Intl.DateTimeFormat('sv', { timeZone: 'UTC', dateStyle: 'short', timeStyle: 'medium' });

function dateText(ms: unknown): string {
  return typeof ms === 'number' && Math.abs(ms) <= 8.64e15 ? `${dates.format(ms)} UTC` : 'no time';
}
