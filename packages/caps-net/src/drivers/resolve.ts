/** The names and the addresses of this machine, as its system knows them. It decides nothing. */
import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';

/** Where addresses come from. Tests pass their own. */
export interface Resolver {
  /** All addresses of a name, in the order of the system. */
  resolve(name: string): Promise<readonly string[]>;
  /** The addresses of this machine's interfaces now. */
  own(): readonly string[];
}

export const systemResolver: Resolver = Object.freeze({
  resolve: async (name: string) => (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address),
  own: () => Object.values(networkInterfaces()).flatMap((some) => (some ?? []).map(({ address }) => address)),
});
