/** A kind of actor: the record that `define` keeps of a definition. */
import type { DefineOptions } from './types.ts';

export type Constructor = (bcom: never, ...args: never[]) => unknown;

export class Kind {
  readonly label: string;
  readonly procedure: boolean;
  readonly construct: (bcom: unknown, ...args: readonly unknown[]) => unknown;
  readonly options: DefineOptions<readonly unknown[]>;
  /**
   * Set when a portrait of this kind holds bytes. Bytes cannot be frozen, so each behaviour gets its own
   * copy.
   */
  holdsBytes = false;
  /** Makes references to actors that began as this kind. Set when the first reference is made. */
  reference: ((target: never) => object) | undefined;
  /** The same for actors that a store holds. */
  stored: ((target: never) => object) | undefined;

  constructor(label: string, procedure: boolean, construct: Constructor, options: DefineOptions<readonly unknown[]>) {
    this.label = label;
    this.procedure = procedure;
    this.construct = construct as unknown as Kind['construct'];
    this.options = options;
  }
}
