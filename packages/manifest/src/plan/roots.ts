/** The roots of a manifest: where they are, and that no manifest lies in one of them. */
import type { Manifest } from '../file/types.ts';
import type { Finding } from '../text/mistakes.ts';
import { quoted } from '../text/mistakes.ts';
import type { Plan } from './plan.ts';

/** Facts about the machine from the caller. The package itself looks at no disk. */
export interface Machine {
  /** Whether a folder is there. Without it no root is looked for. */
  readonly exists?: (path: string) => boolean;
  /** Whether the folder is, or contains, the place of the file. Compare devices and inodes, not texts. */
  readonly holds?: (folder: string, file: string) => boolean;
  /** Where `~/` leads. Without it, such a root is a mistake. */
  readonly home?: string;
}

/** The file that a manifest came from. */
export interface Origin {
  readonly file: string;
  /** The absolute path of its folder: relative roots begin there. Without it they stay as they are written. */
  readonly folder?: string;
}

/** The roots of the layers above, and those that this manifest adds. */
export function rootsOf(
  manifest: Manifest,
  above: Plan['roots'],
  machine: Machine,
  origin: Origin,
): { readonly roots: Plan['roots']; readonly findings: readonly Finding[] } {
  const roots: Record<string, string | undefined> = { ...above };
  const findings: Finding[] = [];
  for (const [name, root] of Object.entries(manifest.roots ?? {})) {
    const path = ['roots', name];
    const written = typeof root === 'string' ? root : undefined;
    const place = written === undefined ? undefined : placeOf(written, origin.folder, machine.home);
    if (written !== undefined && place === undefined)
      findings.push({
        path,
        wrong: `${quoted(written)} is not a place`,
        write: 'write a path like ./work or /srv/data',
      });
    if (Object.hasOwn(above, name) && above[name] !== place) {
      findings.push({
        severity: 'warning',
        path,
        wrong: 'a layer above has this root at another place',
        write: 'leave it out, or choose another name',
      });
      continue;
    }
    roots[name] = place;
    if (written === undefined || place === undefined) continue;
    if (machine.exists?.(place) === false)
      findings.push({
        path,
        wrong: `there is no folder ${quoted(written)}`,
        write: 'make it, or write the path of one that is there',
      });
    else if (machine.holds?.(place, origin.file) === true)
      findings.push({
        path,
        wrong: 'this root holds the manifest itself, so a session could change what it may hold',
        write: 'move the manifest out of the folder, or choose a folder within it as the root',
      });
  }
  for (const [name, place] of Object.entries(above))
    if (place !== undefined && machine.holds?.(place, origin.file) === true)
      findings.push({
        path: [],
        wrong: `this file lies in the root ${name}, so a session could change it`,
        write: 'move it out of the root, or give it as a wish list',
      });
  return { roots, findings };
}

/** The path with the folder before it. `..` stays: a link may stand before it, and only the system knows where it leads. */
export function placeOf(written: string, folder: string | undefined, home: string | undefined): string | undefined {
  if (/[\0\n\r]/.test(written)) return undefined;
  const inHome = /^~(?:\/|$)/.test(written);
  if (inHome && home === undefined) return undefined;
  const base = inHome ? home : written.startsWith('/') ? '' : folder;
  if (base === undefined) return written;
  const rest = inHome ? written.slice(1) : written;
  const names = rest.split('/').filter((name) => name !== '' && name !== '.');
  return [base.replace(/\/$/, ''), ...names].join('/') || '/';
}
