/** The way from a verb of `hob` to the host that serves a state: its granter's socket. */
import { existsSync } from 'node:fs';
import type { Granter, LocalGranter } from '@hob/host';
import { checkPrivateFolder, holderOf } from '@hob/host/programs';
import { connect, E, type Far } from '@hob/vat';
import { socketFolder, socketPath, stateOf } from '../../drivers/places.ts';
import { Mistake } from '../../line/mistake.ts';
import type { Given } from '../../line/verb.ts';
import type { Daemon } from '../daemon.ts';

/** The objects of a host that a verb calls. */
export interface Reached {
  readonly granter: Far<Granter>;
  readonly daemon: Far<Daemon>;
}

/** Connects, calls `act`, and closes the connection. Errors: `Mistake` (no host serves the state), those of `act`. */
export async function withHost<R>(given: Given, act: (reached: Reached) => Promise<R>): Promise<R> {
  const state = stateOf(given);
  const path = socketPath(state);
  const holder = holderOf(state);
  if (holder === 'nobody')
    throw new Mistake('no host serves this state: start one with hob serve, or name its state with --state');
  if (!existsSync(path))
    throw new Mistake(
      `process ${holder.pid ?? '?'} has this state, and hob serve has not made its socket: wait for it, or end that process`,
    );
  // A socket in a folder of others could be anybody's.
  checkPrivateFolder(socketFolder(state));
  const { bootstrap, close, closed } = await connect<LocalGranter>(`ws+unix:${path}:/`, { secret: 'none' });
  try {
    return await act({
      granter: E(bootstrap).granter() as unknown as Far<Granter>,
      daemon: E(bootstrap).daemon() as unknown as Far<Daemon>,
    });
  } finally {
    close();
    await closed;
  }
}
