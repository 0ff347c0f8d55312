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
  // Undefined at first, so the first look reads the file: it may have changed since the machine started.
  let seen: string | undefined;
  lookAgainAndAgain(async () => {
    const now = stateOf(taken.files);
    if (now === seen) return;
    seen = now;
    try {
      const next = readCluster(first.file);
      if (JSON.stringify(next) === JSON.stringify(taken)) return;
      take(next, taken);
      taken = next;
      write('the file of the machine was read again');
      if (atStart(next) !== atStart(first))
        write(
          'name, store, state, link (except peers) and the place of door take effect at the next start of hob cluster serve',
        );
    } catch (error) {
      write(`the file of the machine was changed, and is not taken: ${(error as Error).message}`);
    }
  }, end);
}

/** Returns a text that is another one after a file was changed, replaced or removed. */
const stateOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stat = statSync(file, { bigint: true, throwIfNoEntry: false });
      return stat === undefined ? '' : [stat.dev, stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(' ');
    })
    .join('\n');

/** Returns the settings that a machine takes only at its start, as a text to compare. */
function atStart({ name, database, state, door, link }: ClusterFile): string {
  const { tls: _tls, ...place } = door;
  const { peers: _peers, ...way } = link;
  return JSON.stringify([name, database, state, place, way]);
}
