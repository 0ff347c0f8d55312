/** Which effect a call has. Modes act on effects; the README of each cap kind has its row of this table. */
import type { FsRight, Method } from '../file/types.ts';
import { type Directory, type Effect, isWithin, type PlannedCap, type PlannedCommand } from './plan.ts';

export type { Effect } from './plan.ts';

/** The methods of a directory that each right gives. `edit` shows old text, so it needs both rights that name it. */
const FS_METHODS: Readonly<Record<FsRight, readonly string[]>> = {
  read: ['read', 'readText', 'readMany', 'readlink', 'openRead', 'stat', 'edit'],
  list: ['list', 'entries', 'tree', 'glob', 'stat'],
  search: ['search', 'searchReport'],
  write: [
    ...['write', 'append', 'edit', 'writeAt', 'truncate', 'mkdir', 'rename', 'copy', 'openWrite', 'chmod'],
    ...['setTimes', 'symlink'],
  ],
  remove: ['remove'],
};
/** They only take away, and need no right. A session does not close what other sessions hold, too. */
const NARROWING = ['subdir', 'readOnly', 'only', 'except', 'withQuota'];

/** The methods of a directory cap that these rights give. */
export function methodsOf(rights: readonly FsRight[]): readonly string[] {
  const given = new Set([...rights.flatMap((right) => FS_METHODS[right]), ...NARROWING]);
  if (!rights.includes('read') || !rights.includes('write')) given.delete('edit');
  return [...given];
}

/** The rights that name a method of a directory. None for a method that only takes away. */
export function rightsNaming(method: string): readonly FsRight[] {
  return (Object.keys(FS_METHODS) as FsRight[]).filter((right) => FS_METHODS[right].includes(method));
}

/** The effect of a method of a directory. */
export function effectOfFs(method: string): Effect {
  if (FS_METHODS.remove.includes(method)) return 'external';
  return FS_METHODS.write.includes(method) ? 'write' : 'read';
}

/**
 * Whether a call that changes a directory can be kept as a draft, to be made later. A stream that is opened for writing
 * cannot: what it will write is not known yet.
 */
export const canBeDraft = (method: string): boolean => effectOfFs(method) === 'write' && method !== 'openWrite';

/** The effect of a request. */
export const effectOfHttp = (method: Method | string): Effect =>
  method === 'GET' || method === 'HEAD' ? 'read' : 'external';

const SCHEDULE_EFFECTS: Readonly<Record<string, Effect>> = { every: 'external', at: 'external', cancel: 'write', list: 'read' }; // biome-ignore format: one line
/** The methods of a schedule cap. */
export const scheduleMethods: readonly string[] = Object.keys(SCHEDULE_EFFECTS);
/** The effect of a method of a schedule cap. Its runs act later, when nobody is asked about the schedule any more. */
export const effectOfSchedule = (method: string): Effect => SCHEDULE_EFFECTS[method] ?? 'external';

/** The last name of a program's path. */
export const programOf = (command: string): string => command.slice(command.lastIndexOf('/') + 1);

/** Whether a program that sees the directory of this cap may change it. It may remove there too. */
export const isWritable = (cap: PlannedCap | undefined): boolean => cap?.kind === 'fs' && cap.can.includes('write');

/** The cap of the mounts whose directory holds `cwd`, the innermost one. Its rights hold there. */
export function covering(
  caps: Readonly<Record<string, PlannedCap>>,
  mounts: readonly string[],
  cwd: Directory,
): PlannedCap | undefined {
  return mounts
    .map((name) => caps[name])
    .filter((cap) => cap?.kind === 'fs' && isWithin(cwd, cap.directory))
    .sort((a, b) => (b?.kind === 'fs' && a?.kind === 'fs' ? b.directory.path.length - a.directory.path.length : 0))[0];
}

/**
 * The effect of a program. Without a network it changes only what it sees. `cwd` is a directory
 * that the manifest gives to the program and not to the agent.
 */
export function effectOfProgram(
  caps: Readonly<Record<string, PlannedCap>>,
  { cwd, mounts, reads, net = [] }: Pick<PlannedCommand, 'cwd' | 'mounts' | 'reads' | 'net'>,
): Effect {
  if (net.length > 0) return 'external';
  if (reads === true) return 'read';
  const writesCwd = cwd !== undefined && covering(caps, mounts, cwd) === undefined;
  return writesCwd || mounts.some((name) => isWritable(caps[name])) ? 'write' : 'read';
}
