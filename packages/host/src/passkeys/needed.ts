/** Whether a yes needs a passkey. */
import { CapError } from '@hob/vat';
import type { Initiator } from '../state/c-list.ts';
import type { HostTables, RequestRecord } from '../state/records.ts';

/** In a turn: the offer that is asked for, or one that the call goes through, says so. */
export function needsPasskey(
  tables: HostTables,
  { offered, under }: Pick<RequestRecord, 'offered' | 'under'>,
): boolean {
  const through = under.map((id) => tables.grants.get(id)?.offered);
  return [offered, ...through].some((name) => name !== undefined && tables.offerInfo.get(name)?.needs === 'passkey');
}

/**
 * In a turn: refuses a grant without a request. The program of the host grants what its manifest says.
 * Errors: `denied`.
 */
export function refuseByHand(tables: HostTables, offered: string, { surface }: Initiator): void {
  if (surface !== 'program' && tables.offerInfo.get(offered)?.needs === 'passkey')
    throw new CapError('denied', 'this needs a passkey: the session asks for it, and you say yes on the page that hob console opens'); // biome-ignore format: one line
}
