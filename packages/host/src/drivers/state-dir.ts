/** The folder where all that lasts is kept, and the note in it that tells the command line where the host listens. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CapError } from '@hob/vat';

/**
 * Makes it where it is missing; readable by its owner only, also where it was there before. A folder that holds other things
 * is refused: `--state /tmp` would lock everybody else out of it.
 */
export function openStateDir(path: string): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const found = readdirSync(path);
  if (found.length > 0 && !found.includes('store.db'))
    throw new CapError(
      'invalid',
      'the folder for the state holds other things: give an empty or a new one with --state',
    );
  chmodSync(path, 0o700);
}

/** Where a host is reached. No secret: those are entered by the person. */
export interface Whereabouts {
  readonly url: string;
  readonly pid: number;
}

const note = (stateDir: string): string => join(stateDir, 'host.json');

export function leaveNote(stateDir: string, whereabouts: Whereabouts): void {
  const draft = `${note(stateDir)}.${whereabouts.pid}`;
  writeFileSync(draft, `${JSON.stringify(whereabouts)}\n`, { mode: 0o600 });
  renameSync(draft, note(stateDir));
}

export function removeNote(stateDir: string): void {
  rmSync(note(stateDir), { force: true });
}

export function readNote(stateDir: string): Whereabouts | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(note(stateDir), 'utf8'));
    const { url, pid } = found as Partial<Whereabouts>;
    return typeof url === 'string' && typeof pid === 'number' ? { url, pid } : undefined;
  } catch {
    return undefined;
  }
}
