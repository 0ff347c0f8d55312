/**
 * The part `ledger` of a manifest, for a host that is served: a copy of the lines, and how long they are kept.
 *
 * Promise: a line is dropped only if it is older than `keep` and, where there is a copy, on the disk in the copy. A
 * failure stops nothing and is tried again.
 */
import type { Host } from '@hob/host';

/** The part `ledger` of the manifest, with the powers for it. */
interface Keeping {
  readonly host: Pick<Host, 'retain'>;
  readonly keepMs?: number | undefined;
  readonly copy?: { catchUp(): Promise<void> } | undefined;
  /** Now, in ms since 1970. */
  readonly now: () => number;
  /** Writes a line of the log. */
  readonly log: (line: string) => void;
}

/** Old lines are looked for so often. */
const DROP_EACH_MS = 3_600_000;

/** Returns a function to call again and again, one call after the other. It never rejects. */
export function ledgerKeeper({ host, keepMs, copy, now, log }: Keeping): () => Promise<void> {
  let said = '';
  let dropAt = 0;
  const tell = (text: string): void => {
    if (text !== said && text !== '') log(text);
    said = text;
  };
  return async () => {
    const at = now();
    let doing = 'the ledger is not copied';
    try {
      await copy?.catchUp();
      doing = 'old lines of the ledger are not dropped';
      if (keepMs === undefined || at < dropAt) return tell('');
      dropAt = at + DROP_EACH_MS;
      const dropped = await host.retain({ before: at - keepMs, by: 'hob.yaml' });
      tell(dropped === 0 ? '' : `${dropped} lines of the ledger were older than it is kept, and were dropped`);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      tell(`${doing}: ${code === undefined ? message : `${code}: ${message}`}. It is tried again`);
    }
  };
}
