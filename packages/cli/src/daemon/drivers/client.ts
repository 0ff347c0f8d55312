/** The way from a verb of `hob` to the host that serves a state: its granter's socket. */
import { existsSync } from 'node:fs';
import type { Granter, LocalGranter } from '@hob/host';
import { askSecret, checkPrivateFolder, granterSocket, holderOf, readAddress } from '@hob/host/client';
import { connect, E, type Far } from '@hob/vat';
import { stateOf } from '../../drivers/places.ts';
import { Mistake } from '../../line/mistake.ts';
import { type Given, textOf } from '../../line/verb.ts';
import type { Daemon } from '../daemon.ts';

/** The granter of a host, as a verb calls it. */
export interface Reached {
  readonly granter: Far<Granter>;
}

/** Besides, the daemon. Only `hob serve` has one, and only its socket leads to it. */
interface ReachedDaemon extends Reached {
  readonly daemon: Far<Daemon>;
}

/** Whether the verb works on a state of this machine, and not on an address. */
export const isHere = (given: Given): boolean => textOf(given, 'url') === undefined;

/**
 * Connects to the granter, calls `act`, and closes the connection. A host that has never had a socket, such as that of
 * `npm start`, is reached at its address, with the secret of its granter. Errors: `Mistake` (no host serves the state),
 * those of `act`. `instead` is the end of the text of that `Mistake`. It says what works without a host.
 */
export async function withHost<R>(
  given: Given,
  act: (reached: Reached) => Promise<R>,
  instead: string = '',
): Promise<R> {
  const url = textOf(given, 'url');
  if (url !== undefined) return await withSecret(url, act);
  const state = stateOf(given);
  const note = holderOf(state) === 'nobody' || existsSync(granterSocket(state).folder) ? undefined : readAddress(state);
  return note === undefined ? await withDaemon(given, act, instead) : await withSecret(note.url, act);
}

/** The same by the socket alone, and with the daemon. */
export async function withDaemon<R>(
  given: Given,
  act: (reached: ReachedDaemon) => Promise<R>,
  instead: string = '',
): Promise<R> {
  const state = stateOf(given);
  const { folder, path } = granterSocket(state);
  const holder = holderOf(state);
  if (holder === 'nobody')
    throw new Mistake(`no host serves this state: start one with hob serve, or name its state with --state${instead}`);
  if (!existsSync(path))
    throw new Mistake(
      `process ${holder.pid ?? '?'} has this state, and no socket of a granter: wait for hob serve (of a standby, hob status --store FILE tells more); a program of yours makes one with host.serveGranter; a host without one is reached with --url`,
    );
  // A socket in a folder of others could be anybody's.
  checkPrivateFolder(folder);
  const { bootstrap, close, closed } = await connect<LocalGranter>(`ws+unix:${path}:/`, { secret: 'none' });
  try {
    const granter = E(bootstrap).granter() as unknown as Promise<Far<Granter>>;
    // A verb may call the daemon first, and that breaks with the same reason.
    granter.catch(() => {});
    return await act({
      granter: granter as unknown as Far<Granter>,
      // Asked for by the verbs that need it: a host that is not `hob serve` has none.
      get daemon() {
        const daemon = E(bootstrap).daemon() as unknown as Promise<Far<Daemon>>;
        // The call that a verb makes on it breaks with the same reason.
        daemon.catch(() => {});
        return daemon as unknown as Far<Daemon>;
      },
    });
  } finally {
    close();
    await closed;
  }
}

/** With the secret of a granter, at an address. */
async function withSecret<R>(url: string, act: (reached: Reached) => Promise<R>): Promise<R> {
  if (!/^(?:wss?|ws\+unix):$/.test(URL.parse(url)?.protocol ?? ''))
    throw new Mistake('--url takes the address that the host prints: ws://127.0.0.1:PORT', 2);
  const secret = await askSecret('Granter’s secret: ');
  if (secret === '') throw new Mistake('no secret was given: type it, or pipe it in as the first line');
  const { bootstrap, close, closed } = await connect<Granter>(url, { secret });
  try {
    return await act({ granter: bootstrap });
  } catch (error) {
    // A session and a sturdyref are let in, too, and have none of a granter's methods.
    if ((error as { readonly code?: unknown }).code !== 'no-such-method') throw error;
    throw new Mistake('this is the secret of a session or a sturdyref, and not a granter’s');
  } finally {
    close();
    await closed;
  }
}
