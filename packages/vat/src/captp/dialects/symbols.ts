/**
 * Registered symbols by their names, as a peer writes them.
 *
 * Promise: a peer cannot fill the engine's registry, which is of the whole process and never lets go of a name: a connection may
 * bring a few new ones, and all of them together so many.
 */
import { CapError } from '../../errors.ts';

const ofConnection = 64;
const ofProcess = 65_536;

/** Names that came over some wire. */
const known = new Set<string>();

export class Symbols {
  #brought = 0;

  named(name: string): symbol {
    if (!known.has(name)) {
      if (this.#brought >= ofConnection || known.size >= ofProcess)
        throw new CapError('limit', 'too many symbols with new names came by this connection: send strings');
      this.#brought += 1;
      known.add(name);
    }
    return Symbol.for(name);
  }
}
