/**
 * Reads the file of a machine again while the machine serves.
 *
 * Promise: a file with a mistake changes nothing, and the log says so once. A peer that is taken out is trusted no more
 * within seconds.
 */
import { statSync } from 'node:fs';
import { lookAgainAndAgain } from '../../daemon/drivers/wishes.ts';
import { type ClusterFile, readCluster } from './file.ts';

interface Rereading {
  /** Takes the parts that may change while the machine serves. If it throws, nothing has changed. */
  readonly take: (next: ClusterFile, before: ClusterFile) => void;
  /** Writes a line of the log. */
  readonly write: (line: string) => void;
}

/** Looks for changes each second until `end` is aborted. `first` is the file with which the machine started. */
export function rereadCluster(first: ClusterFile, { take, write }: Rereading, end: AbortSignal): void {
  let taken = first;
  // The files to watch: also those that a refused file names, because one of them may have the mistake.
  let { files } = first;
  // Undefined at first, so the first look reads the file: it may have changed since the machine started.
  let seen: string | undefined;
  let said: string | undefined;
  lookAgainAndAgain(async () => {
    const now = stateOf(files);
    if (now === seen) return;
    try {
      // While the file cannot be read, each look tries again: a file that it names may be written later.
      seen = undefined;
      const next = readCluster(first.file);
      [seen, files] = [now, next.files];
      if (JSON.stringify(next) === JSON.stringify(taken)) return;
      take(next, taken);
      [taken, said] = [next, undefined];
      write('the file of the machine was read again');
      if (atStart(next) !== atStart(first))
        write(
          'name, store, state, link (except peers) and door (except its certificate) take effect at the next start of hob cluster serve',
        );
    } catch (error) {
      const why = `the file of the machine was changed, and is not taken: ${(error as Error).message}`;
      const fault = `${stateOf([first.file])} ${why}`;
      if (fault !== said) write(why);
      said = fault;
    }
  }, end);
}

/** Returns a text that changes when one of the files is changed, replaced or removed. */
const stateOf = (files: readonly string[]): string => files.map(stampOf).join('\n');

function stampOf(file: string): string {
  try {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(file, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(' ');
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  }
}

/** Returns the settings that a machine takes only at its start, as a text to compare. */
function atStart({ name, database, state, door, link }: ClusterFile): string {
  const { tls, ...place } = door;
  const { peers: _peers, ...way } = link;
  return JSON.stringify([name, database, state, place, tls === undefined, way]);
}
