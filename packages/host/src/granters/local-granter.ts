/**
 * A granter for the people who may open a Unix socket: `hob` reaches it without a secret.
 *
 * Promise: its acts are recorded with the name of that surface, so the ledger tells them from acts of a program and
 * from acts with a secret.
 */
import { CapError, type Definition, define, driverOf, spawn } from '@hob/vat';
import type { OptionNames } from '@hob/vat/forwarder';
import { driverTagOf, type HostState } from '../state/host-state.ts';
import { granterNamed } from '../state/lookups.ts';
import type { HostTables } from '../state/records.ts';
import { type Granter, GranterActor } from './granter.ts';

/** The bootstrap of a connection over a granter's socket. */
export interface LocalGranter {
  granter(): Granter;
  /** Returns an object that the program that runs the host offers beside it. Errors: `no-such-object`. */
  daemon(): object;
}

export const LocalGranterActor: Definition<LocalGranter, [granter: Granter, daemon: object | undefined]> = define(
  'host.localGranter',
  (_bcom, granter, daemon) => ({
    granter: () => granter,
    daemon() {
      if (daemon === undefined)
        throw new CapError(
          'no-such-object',
          'the host of this state is a program of its own, and serves no manifest: only hob serve does this',
        );
      return daemon;
    },
  }),
);

/** Where a granter is served without a secret. */
export interface LocalOptions {
  /**
   * The path of a Unix socket, in a folder that only its user may open. Without it, it is the place in the state where
   * the command `hob` looks.
   */
  readonly path?: string;
  /** The name of the granter. */
  readonly granter: string;
  /** How the ledger calls this way to the granter; `socket` if nothing else is said. */
  readonly surface?: string;
  /** An object with async methods that connections reach beside the granter. */
  readonly daemon?: object;
}

export const localOptions: OptionNames<LocalOptions> = { path: true, granter: true, surface: true, daemon: true };

type InTurn = <R>(body: (tables: HostTables) => R) => Promise<unknown>;

/** Outside turns. Errors: `no-such-object` (there is no such granter). */
export async function openLocalGranter(
  turn: InTurn,
  hostState: HostState,
  { granter, surface = 'socket', daemon }: LocalOptions,
): Promise<object> {
  const tag = (await turn((tables) => {
    granterNamed(tables, granter);
    return driverTagOf(tables);
  })) as string;
  // The store keeps the actor, and names the object that it leads to.
  const lasting = `hob-local:${tag}:${surface}`;
  const beside = daemon === undefined ? undefined : driverOf(daemon, { name: lasting });
  return (await turn(() => {
    const face = spawn(GranterActor(granter, surface, hostState));
    return spawn(LocalGranterActor(face, beside));
  })) as object;
}
