/** The parts of a granter that a chat uses. `Granter` of `@hob/host` has them. */

/** The terms of a grant. Times are in ms. */
export interface Terms {
  readonly uses?: number;
  readonly for?: number;
  readonly until?: number;
  readonly scope?: string;
}

/** A request that waits. Its texts are safe to show: the host has made odd characters visible. */
export interface Asked {
  readonly id: string;
  readonly kind: 'grant' | 'call';
  readonly asker: readonly string[];
  readonly effect: string;
  readonly table: readonly (readonly [name: string, value: string])[];
  readonly diff?: string;
  readonly permits: readonly string[];
  readonly flags: readonly string[];
  /** The words of the agent, marked as such. Empty: it gave none. */
  readonly why: string;
  readonly terms?: Terms;
  readonly digest: string;
  readonly leftMs: number;
  readonly needs?: 'passkey';
  readonly personOnly?: true;
}

/** An answer, for the request as it was shown. */
export type Said =
  | { readonly digest: string; readonly grant: { readonly uses?: number; readonly for?: number } }
  | { readonly digest: string; readonly refuse: string };

/** A granter, as a chat uses it. Errors of `answer`: those of `Granter` of `@hob/host`. */
export interface ChatGranter {
  inbox(after?: string): Promise<readonly Asked[]>;
  changed(since?: number): Promise<number>;
  answer(request: string, said: Said): Promise<void> | undefined;
}
