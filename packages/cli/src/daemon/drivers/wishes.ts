/** Looks again and again whether an accepted wish list has changed. */
import { createHash } from 'node:crypto';

/** The time between two looks. */
const LOOK_MS = 1000;

/** SHA-256 as hexadecimal digits, as `sha256sum` prints it. */
export const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** Calls `look` again and again, one call at a time, until `end` is aborted or the process ends. */
export function lookAgainAndAgain(look: () => Promise<void>, end: AbortSignal): void {
  const next = (): void => {
    if (end.aborted) return;
    // A look that fails, as on a full disk, is tried again.
    const again = (): void => void setTimeout(next, LOOK_MS).unref();
    look().then(again, again);
  };
  next();
}
