/** The part of a session that the verbs use. `SessionFace` of `@hob/host` has it. */

/** A cap that the session holds. */
export interface Held {
  readonly petname: string;
  readonly state: string;
  readonly methods?: readonly string[];
  readonly usesLeft?: number;
  readonly leftMs: number;
  readonly waits?: true | readonly string[];
  readonly drafts?: readonly string[];
  readonly asks?: true;
}

/** The result of `call` with `noted`: how the call ended, and the warnings of the host. */
export type Noted = { readonly warnings: readonly string[] } & (
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly error: Error }
);

/** The bootstrap object of a session's connection. */
export interface HeldSession {
  holdings(): readonly Held[];
  call(call: {
    readonly call: string;
    readonly cap: string;
    readonly method: string;
    readonly args: readonly unknown[];
    readonly noted: true;
  }): Promise<unknown>;
  cancel(call: string): Promise<void>;
  ask(ask: {
    readonly asks: string;
    readonly terms: { readonly uses?: number; readonly for?: number };
    readonly why: string;
    readonly call?: string;
  }): { readonly request: string; readonly outcome: Promise<{ readonly petname: string }> };
}
