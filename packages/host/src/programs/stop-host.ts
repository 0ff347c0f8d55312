/** `hob stop`: revokes everything and ends the host of a state, also one that hangs. */
import { CapError } from '@hob/vat';
import { endProcess, holderOf } from '../drivers/life.ts';
import { isState, orderStop, readStopOrder, removeAddress } from '../drivers/state-dir.ts';

/**
 * Writes the order to the disk before it signals the process, so every grant ends whatever happens then. It
 * succeeds only if no process has the store any more.
 */
export async function stopHost(state: string, ms: number, out: (line: string) => void): Promise<number> {
  if (!(ms >= 0 && ms <= 3_600_000)) throw new CapError('invalid', '--wait takes a number of seconds');
  if (!isState(state))
    throw new CapError('unavailable', 'that folder is not the state of a host: name another with --state');
  orderStop(state, 'hob stop');
  const later = 'every grant is revoked before anything else happens when a host is started on this state again';
  const holder = holderOf(state);
  if (holder === 'nobody') {
    out(`no host is running on this state: ${later}`);
    return 0;
  }
  const { pid } = holder;
  if (pid === undefined)
    throw new CapError(
      'unavailable',
      'a process that cannot be seen from here has this state open and keeps running: stop it as its user, as root, or in its container',
    );
  const how = await endProcess(pid, state, ms);
  removeAddress(state);
  if (readStopOrder(state) === undefined) out('stopped: every grant is revoked');
  else out(`${how === 'killed' ? 'the host did not answer and was killed' : 'the host has ended'}: ${later}`);
  return 0;
}
