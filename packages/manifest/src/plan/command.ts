/** Compiles a command cap: its rows, what they deny, its flag sets, and the directories that its program sees. */
import type { CommandCap } from '../file/types.ts';
import type { Finding, Path } from '../text/mistakes.ts';
import { quoted } from '../text/mistakes.ts';
import { isReadingRow, readRow } from '../words/row.ts';
import { type Row, without } from './deny.ts';
import { notMountable } from './directories.ts';
import { effectOfProgram, programOf } from './effects.ts';
import type { Directory, Plan, PlannedCap, PlannedCommand } from './plan.ts';
import { netOf } from './program-net.ts';

export type Base = Pick<PlannedCap, 'name' | 'how' | 'terms' | 'offer'>;

interface Around {
  readonly path: Path;
  /** The caps of `mounts`. */
  readonly mounts: readonly string[];
  readonly cwd: Directory | undefined;
  readonly known: {
    readonly flags: Readonly<Record<string, readonly string[]>>;
    readonly directories: ReadonlySet<string>;
    readonly caps: Plan['caps'];
  };
  readonly findings: Finding[];
}

/** More rows than this are left of no deny that a person wrote. */
const MOST_ROWS = 2000;

/** Returns the planned cap, also if there were findings. */
export function commandOf(cap: CommandCap, base: Base, around: Around): PlannedCommand {
  const { path, cwd, known, findings } = around;
  const rows = denied(cap, rowsOf(cap, around), path, findings);
  const words = rows.flat();
  const sets = new Set(words.flatMap((word) => (word.kind === 'flags' ? [word.set] : [])));
  const paths = new Set(words.flatMap((word) => (word.kind === 'path' ? [word.cap] : [])));
  const mounts = [...new Set([...around.mounts, ...paths])].sort();
  const isReading = rows.length > 0 && rows.every((row) => isReadingRow(programOf(cap.command), row));
  const net = netOf(cap.net, path, known.caps, findings);
  // Rows that are known to read are about directories.
  const reads = cap.reads === true || isReading ? { reads: true as const } : {};
  return {
    ...base,
    kind: 'command',
    command: cap.command,
    ...(cwd && { cwd }),
    ...reads,
    effect: effectOfProgram(known.caps, { mounts, ...(cwd && { cwd }), ...reads, ...net }),
    rows,
    flags: Object.fromEntries([...sets].map((set) => [set, known.flags[set] ?? []])),
    mounts,
    ...net,
  };
}

function rowsOf(cap: CommandCap, { path, cwd, known, findings }: Around): readonly Row[] {
  const names = { flags: new Set(Object.keys(known.flags)), caps: known.directories };
  const rows = new Map<string, Row>();
  for (const [n, row] of cap.argv.entries()) {
    const read = readRow(row, names);
    const at = [...path, 'argv', n];
    if ('wrong' in read) {
      findings.push({
        path: [...at, read.word],
        wrong: `${quoted(row[read.word] ?? '')}: ${read.wrong}`,
        write: read.write,
      });
      continue;
    }
    // A row that stands twice allows nothing more.
    rows.set(JSON.stringify(read.words), read.words);
    for (const [word, one] of read.words.entries()) {
      const place = one.kind === 'path' ? known.caps[one.cap] : undefined;
      if (place?.kind !== 'fs') continue;
      const why = cwd === undefined ? NO_CWD : cwd.root === place.directory.root ? notMountable(place) : OTHER_ROOT;
      if (why !== undefined) findings.push({ path: [...at, word], ...why });
    }
  }
  return [...rows.values()];
}

const NO_CWD = {
  wrong: 'a path is meant from cwd, and this command has none',
  write: 'write cwd: ROOT, where the program runs',
};
const OTHER_ROOT = {
  wrong: 'this directory lies in another root than cwd, so no path leads there',
  write: 'write a cwd of the same root, or a cap of the root of cwd',
};

function denied(cap: CommandCap, all: readonly Row[], path: Path, findings: Finding[]): readonly Row[] {
  let rows = all;
  for (const [n, deny] of (cap.deny ?? []).entries()) {
    const left = without(rows, deny, MOST_ROWS);
    const at = [...path, 'deny', n];
    if (left === undefined)
      findings.push({
        path: at,
        wrong: 'the rows without this cannot be listed',
        write: 'list in argv what is allowed, without text, ref, path, flags or rest at this place',
      });
    else if (left.length === rows.length && left.every((row, index) => row === rows[index]))
      findings.push({
        severity: 'warning',
        path: at,
        wrong: 'this denies nothing that argv allows',
        write: 'remove it',
      });
    else if (left.length === 0)
      findings.push({
        severity: 'warning',
        path: at,
        wrong: 'nothing of argv is left without this',
        write: 'remove the cap, or the deny',
      });
    if (left !== undefined) rows = left;
  }
  return rows;
}
