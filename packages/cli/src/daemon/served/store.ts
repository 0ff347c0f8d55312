/** The store of a served host: in the folder of its state, or in a database that several hosts may use. */
import type { HostOptions } from '@hob/host';
import type { StoreHosts } from '@hob/store-postgres';
import { CapError } from '@hob/vat';
import type { NamedStore } from '../../drivers/store-file.ts';
import { lossText, type StoreNow } from '../../line/store-lines.ts';

/** A store, as a host opens it. */
export interface ServedStore {
  readonly options: Pick<HostOptions, 'store' | 'sentinel'>;
  /** Returns which hosts use it now, or why that is not known. Undefined if it is in a folder. */
  readonly hosts: () => Promise<StoreNow | undefined>;
}

interface Opening {
  /** The folder of the sentinel. */
  readonly sentinel: string | undefined;
  readonly standby: boolean;
}

/** Asks a database which hosts use it. Returns the message of a `CapError` as `wrong`. */
export async function storeNow(ask: () => Promise<StoreHosts>): Promise<StoreNow> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof CapError)) throw error;
    return { wrong: error.message };
  }
}

/** Opens the store `named`. Writes a warning to the log if the database may lose commits. Errors: those of `open`. */
export async function servedStore(
  named: NamedStore | undefined,
  { sentinel, standby }: Opening,
  log: (line: string) => void,
): Promise<ServedStore> {
  if (named === undefined) return { options: sentinel === undefined ? {} : { sentinel }, hosts: async () => undefined };
  const store = await named.open({ sentinel, standby });
  const hosts = (): Promise<StoreNow> => storeNow(() => named.hosts(store));
  const now = await hosts();
  const loss = 'wrong' in now ? undefined : lossText(now.replication);
  if (loss !== undefined) log(loss);
  return { options: { store }, hosts };
}
