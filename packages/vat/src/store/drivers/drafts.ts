/**
 * Files that a process writes and removes before it ends, and what a killed process left of them.
 *
 * Promise: a file is taken for left behind only if its name has the mark of a process that has ended, on this boot of
 * this machine and in this container, and only if it belongs to this user. A process that lives keeps its files.
 */
import { createHash } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

/** `PID-START-PLACE`. */
const MARK = '\\d{1,10}-\\d{1,20}-[0-9a-f]{8}';

/** The mark of this process: no other process of this machine has had it since the boot. */
export const processMark = (): string => `${process.pid}-${startOf(process.pid) ?? 0}-${place()}`;

/** A name for the draft of a file, which only this process uses. */
export const draftOf = (file: string): string => `${file}.${processMark()}.part`;

/** Removes the drafts of a file that killed processes left. */
export const removeDrafts = (file: string): void =>
  removeLeft(dirname(resolve(file)), { before: `${basename(file)}.`, after: '\\.part' });

/**
 * Removes what killed processes left in a folder: entries whose names are `before`, a mark, and `after`, which is a
 * pattern. Nothing happens if the folder cannot be read.
 */
export function removeLeft(
  folder: string,
  { before, after }: { readonly before: string; readonly after: string },
): void {
  const rest = new RegExp(`^(${MARK})${after}$`);
  for (const name of namesIn(folder)) {
    const mark = name.startsWith(before) ? rest.exec(name.slice(before.length))?.[1] : undefined;
    if (mark !== undefined && hasEnded(mark) && isOurs(join(folder, name)))
      rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Another user may write a name with any mark into a folder for all. */
function isOurs(path: string): boolean {
  try {
    return lstatSync(path).uid === process.getuid?.();
  } catch {
    return false;
  }
}

/** Whether the process of this mark has ended. False if that cannot be told from here. */
function hasEnded(mark: string): boolean {
  const [pid = '', start, where] = mark.split('-');
  if (where !== place() || Number(pid) === process.pid) return false;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  const now = startOf(Number(pid));
  return now !== undefined && String(now) !== start;
}

/** When a process began, in ticks since the boot. Undefined where the system does not tell, or it has ended. */
function startOf(pid: number): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, a name in brackets, may hold spaces and brackets. The start is the field 22.
    const [state, ...fields] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // A process that was killed and not waited for yet has ended.
    return state === 'Z' ? 'ended' : fields[18];
  } catch {
    return undefined;
  }
}

/** This boot and this space of process ids: elsewhere a pid means another process. */
function place(): string {
  const parts = [
    () => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'),
    () => readlinkSync('/proc/self/ns/pid'),
  ];
  const known = parts.map((part) => {
    try {
      return part();
    } catch {
      return '';
    }
  });
  return createHash('sha256').update(known.join('\n')).digest('hex').slice(0, 8);
}
