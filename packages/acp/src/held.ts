/**
 * The part of a session, and of a granter, that the wrapper uses. `SessionFace` and `Granter` of `@hob/host`
 * have it.
 */
import type { Far } from '@hob/vat/peer';

/** A cap that the session holds. */
export interface Held {
  readonly petname: string;
  readonly state: string;
  readonly methods?: readonly string[];
}

/** The bootstrap object of a session's connection. */
export interface HeldSession {
  holdings(): readonly Held[];
  cap<T extends object>(petname: string): T;
}

/** A directory, as far as an editor's methods use it. */
export interface Directory {
  readText(path: string, window?: { readonly line?: number; readonly lines?: number }): Promise<string>;
  write(path: string, text: string): Promise<unknown>;
}

/** A shell, as far as an editor's methods use it. */
export interface Shell {
  spawn(text: string): Promise<Job>;
}

/** A job behind a reference. */
export interface Job {
  stdout(): Promise<Source>;
  stderr(): Promise<Source>;
  signal(name: 'KILL'): Promise<void>;
  wait(): Promise<{ readonly status: number; readonly ended: string }>;
}

export interface Source {
  next(max?: number): Promise<Uint8Array | undefined>;
}

/** Terms of a grant, as they are asked for and given. Times are in ms. */
export interface Terms {
  readonly uses?: number;
  readonly for?: number;
  readonly until?: number;
  readonly scope?: 'once' | 'session' | 'permanent';
}

/** A request that waits, as its granter sees it. */
export interface Asked {
  readonly id: string;
  readonly kind: 'grant' | 'call';
  readonly session: string;
  readonly asker: readonly string[];
  /** The petname of the cap, or the name of an offer. */
  readonly asks: string;
  readonly effect: string;
  readonly table: readonly (readonly [name: string, value: string])[];
  readonly diff?: string;
  readonly permits: readonly string[];
  readonly flags: readonly string[];
  readonly why: string;
  readonly terms?: Terms;
  readonly digest: string;
  /** An editor cannot sign. */
  readonly needs?: 'passkey';
}

/** The answer to a request. */
export type Said = { readonly digest: string } & (
  | { readonly grant: Terms }
  | { readonly refuse: string; readonly lasting?: boolean }
);

/** The granter who sits at the editor. */
export interface EditorGranter {
  inbox(after?: string): Promise<readonly Asked[]>;
  requestedCall(request: string): { readonly method: string; readonly args?: readonly unknown[] };
  changed(since?: number): Promise<number>;
  answer(request: string, answer: Said): Promise<void>;
}

/** The session, over a connection that is made when it is first used. */
export type Reach = () => Promise<Far<HeldSession>>;
