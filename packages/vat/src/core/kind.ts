/** A kind of actor: the record that `define` keeps of a definition. */
import type { DefineOptions } from './types.ts';

export type Constructor = (bcom: never, ...args: never[]) => unknown;

/** From the arguments of one version to those of a later one. */
type Migration = (...old: readonly unknown[]) => unknown;

interface ActorKindParts {
  readonly label: string;
  /** Whether a behaviour is one procedure that receives every call. */
  readonly procedure: boolean;
  readonly construct: Constructor;
  readonly options: DefineOptions<readonly unknown[]>;
}

export class ActorKind {
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

  constructor({ label, procedure, construct, options }: ActorKindParts) {
    this.label = label;
    this.procedure = procedure;
    this.construct = construct as unknown as ActorKind['construct'];
    this.options = options;
  }

  /** The way of stored arguments from `version` to today's, in steps; undefined if there is none. */
  stepsFrom(version: number): readonly Migration[] | undefined {
    const { upgrade, migrations, version: today = 0 } = this.options;
    const steps: Migration[] = [];
    for (let at = version; at !== today; at += 1) {
      const straight = upgrade?.[at] as Migration | undefined;
      const step = straight ?? (at < today ? (migrations?.[at + 1] as Migration | undefined) : undefined);
      if (step === undefined) return undefined;
      steps.push(step);
      if (straight !== undefined) break;
    }
    return steps;
  }
}
