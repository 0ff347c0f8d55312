/** The directories that a manifest names, and those that a program of the session may see. */
import type { Finding, Path } from '../text/mistakes.ts';
import { nearest, quoted } from '../text/mistakes.ts';
import { MOST_MISTAKES } from '../text/read.ts';
import { type Directory, isWithin, type Plan, type PlannedCap, readDirectory } from './plan.ts';

/** Reads `ROOT/folder`. Pushes a finding and returns undefined if there is no such directory. */
export function directoryOf(
  text: string,
  path: Path,
  roots: Plan['roots'],
  findings: Finding[],
): Directory | undefined {
  const directory = readDirectory(text);
  if (directory === undefined)
    findings.push({
      path,
      wrong: `${quoted(text)} is not a directory of a root`,
      write: 'write ROOT or ROOT/folder, without . and ..',
    });
  else if (!Object.hasOwn(roots, directory.root)) {
    const known = Object.keys(roots);
    findings.push({
      path,
      wrong: `there is no root ${quoted(directory.root)}`,
      write: findings.length < MOST_MISTAKES ? orNearest(directory.root, known) : 'declare it first',
    });
    return undefined;
  }
  return directory;
}

/** The remedy for a name that is not known. */
export function orNearest(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  if (meant !== undefined) return `did you mean ${meant}?`;
  return known.length === 0 ? 'declare it first' : `write one of ${known.slice(0, 8).join(', ')}`;
}

/**
 * Why a program cannot see the directory of a cap; undefined if it can. A sandbox shows a directory as a whole: it can
 * hide no name in it, count no call and ask nobody.
 */
export function notMountable(cap: PlannedCap): { readonly wrong: string; readonly write: string } | undefined {
  if (cap.kind !== 'fs') return undefined;
  const { name, terms } = cap;
  if (!cap.can.includes('read') || !cap.can.includes('list'))
    return { wrong: `a program that sees ${name} reads and lists it`, write: `add read and list to can of ${name}` };
  if (cap.except.length > 0)
    return {
      wrong: `a program that sees ${name} also sees what except hides`,
      write: 'use a cap of a smaller directory, without except',
    };
  if (terms.uses !== undefined)
    return { wrong: `the calls of a program to ${name} cannot be counted`, write: `use a cap without uses` };
  if (terms.needs !== undefined || terms.alwaysHuman === true)
    return { wrong: `each call to ${name} waits for a person, and a program does not`, write: 'use another cap' };
  return undefined;
}

/** Whether `cwd` lies in the directory of one of the mounts. */
export const isMounted = (caps: Plan['caps'], mounts: readonly string[], cwd: Directory): boolean =>
  mounts.some((name) => {
    const cap = caps[name];
    return cap?.kind === 'fs' && isWithin(cwd, cap.directory);
  });
